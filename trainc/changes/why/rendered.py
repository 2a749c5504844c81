"""A line of a rendered file: who set the fields that stand there, as its job compiles now."""

from __future__ import annotations

from trainc.changes.why import Layers, label, of_leaf
from trainc.changes.why.landing import on_line
from trainc.model.paths import keyed, shown
from trainc.model.tree import leaves, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from trainc.changes.why import Why
    from trainc.model.bundle import Bundle
    from trainc.model.document import Document


def rendered_line(documents: Iterable[Document], line: int, bundles: Sequence[Bundle]) -> tuple[list[Why], bool]:
    """The fields on a line, or below a key that stands there, explained; and whether the file still says what they are.

    A run keeps its rendering when a runtime changes: a field is looked up by its object and path, never by its line.
    """
    answers: list[Why] = []
    current = True
    for document in documents:
        tree = document.tree
        written = {shown(keyed(tree, path)): value(tree, *path) for path in on_line(document, line)}
        of_object = list(_of_object(bundles, label(tree), written)) if written else []
        current = current and written == {answer.path: answer.value for answer in of_object}
        answers.extend(of_object)
    return answers, current


def _of_object(bundles: Sequence[Bundle], name: str, paths: Mapping[str, Any]) -> Iterator[Why]:
    for bundle in bundles:
        layers = Layers(bundle)
        for tree in bundle.objects:
            if label(tree) == name:
                for path, leaf in leaves(tree):
                    steps = keyed(tree, path)
                    if shown(steps) in paths:
                        yield of_leaf(layers, name, steps, leaf)
