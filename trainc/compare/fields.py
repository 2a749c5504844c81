"""The fields in which two objects differ, keyed as people name them."""

from __future__ import annotations

from json import dumps

from trainc.model.paths import keyed, keyed_leaves, located, shown
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from trainc.model.bundle import Bundle
    from trainc.model.paths import Steps
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

_LONGEST = 60  # characters of a value that are shown


class Field:
    """One field with its values before and after; None stands for none."""

    __slots__ = ("_steps", "_tree", "new", "old")

    def __init__(self, tree: Tree, steps: Steps, old: Any, new: Any) -> None:
        self._tree = tree
        self._steps = steps
        self.old = old
        self.new = new

    def place(self, bundle: Bundle) -> Span:
        """Where the value, or what is left around it, is written in the user's files."""
        return bundle.span(self._tree, _nearest(self._tree, self._steps))

    def cause(self, bundle: Bundle) -> str:
        """The file that says what the field is now, empty where trainc alone decides."""
        leaf = get(self._tree, *path) if (path := located(self._tree, self._steps)) is not None else None
        if leaf is None:
            return self.place(bundle).file
        spans = [span for span in leaf.origin.spans() if span.file != bundle.document.file]
        return spans[0].file if spans else ""

    def __str__(self) -> str:
        return f"{shown(self._steps)}: {_text(self.old)} -> {_text(self.new)}"


def differing(new: Tree, old: Tree, path: Path = ()) -> Iterator[Field]:
    """Every leaf below `path` that is not the same in both, in the order of the new object, removed ones last."""
    above: Steps = keyed(new, path) if get(new, *path) is not None else path
    field = next((step for step in reversed(path) if type(step) is str), "")
    after = {steps: leaf.value for steps, leaf in keyed_leaves(get(new, *path), above, field) if leaf is not None}
    was = get(old, *path)
    before = {steps: leaf.value for steps, leaf in keyed_leaves(was, above, field) if leaf is not None}
    for steps, value in after.items():
        if steps not in before or before[steps] != value:
            yield Field(new, steps, before.get(steps), value)
    for steps, value in before.items():
        if steps not in after:
            yield Field(new, steps, value, None)


def _nearest(tree: Tree, steps: Steps) -> Path:
    for length in range(len(steps), 0, -1):
        path = located(tree, steps[:length])
        if path is not None:
            return path
    return ()


def _text(value: Any) -> str:
    if value is None:
        return "none"
    text = dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
