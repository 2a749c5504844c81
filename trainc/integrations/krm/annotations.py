"""Annotations that kustomize and kpt put on objects while functions run; they are no part of a manifest."""

from __future__ import annotations

from trainc.integrations.krm.slices import says
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, value
from trainc.text.numbers import whole_number
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.tree import Tree

PATH, INDEX = "internal.config.kubernetes.io/path", "internal.config.kubernetes.io/index"
_INTERNAL = "internal.config.kubernetes.io/"
_FORMER = {  # as older versions of both spell them
    "config.kubernetes.io/path": PATH,
    "config.kubernetes.io/index": INDEX,
    "config.k8s.io/id": "",
    "kustomize.config.k8s.io/id": "",
}
_ORIGIN = Origin(by="the ResourceList")


def path_of(tree: Tree) -> tuple[str, int]:
    """The file of the package that an object is from, and which of its documents; empty and 0 where nothing says so."""
    notes = get(tree, "metadata", "annotations")
    annotations = {_FORMER.get(key, key): str(value(notes, key)) for key in notes} if type(notes) is dict else {}
    return annotations.get(PATH, ""), whole_number(annotations.get(INDEX, "")) or 0


def is_note(key: str) -> bool:
    """Whether an annotation is a note that a tool took for itself."""
    return key.startswith(_INTERNAL) or key in _FORMER


def own_text(tree: Tree, text: str) -> str:
    """An object's text without the notes of tools; with its comments, where every note has a line of its own."""
    notes = get(tree, "metadata", "annotations")
    if type(notes) is not dict or not any(map(is_note, notes)):
        return text
    own = _without(tree, notes)
    cut = _cut(text)
    return cut if says(cut, own) else dump(own)


def _without(tree: Tree, notes: dict[str, Tree]) -> Tree:
    kept = {key: leaf for key, leaf in notes.items() if not is_note(key)}
    metadata = {key: node for key, node in tree["metadata"].items() if key != "annotations"}
    return {**tree, "metadata": {**metadata, "annotations": kept} if kept else metadata}


def _cut(text: str) -> str:
    """A text without the lines of its notes, and without `annotations:` where nothing else is below it."""
    document = next(read(text, "", Report(), duplicates="ignore"))
    notes = get(document.tree, "metadata", "annotations")
    starts = sorted((document.span(("metadata", "annotations", key), key=True).line, key) for key in notes)
    lines = text.splitlines(keepends=True)
    drop: set[int] = set()
    for line, key in starts:
        if is_note(key):
            drop.update(range(line, _end(document, key) + 1))
    if all(map(is_note, notes)):
        drop.add(document.span(("metadata", "annotations"), key=True).line)
    return "".join([line for number, line in enumerate(lines, 1) if number not in drop])


def _end(document: Document, key: str) -> int:
    """The last line of an annotation's text."""
    span = document.span(("metadata", "annotations", key))
    return span.end_line - 1 if span.end_column == 1 else span.end_line


def placed(tree: Tree, path: str, index: int) -> Tree:
    """An object with the file of the package that it belongs in."""
    metadata = tree["metadata"]
    written = metadata.get("annotations")
    notes = {PATH: Sourced(path, _ORIGIN), INDEX: Sourced(str(index), _ORIGIN)}
    return {**tree, "metadata": {**metadata, "annotations": {**(written or {}), **notes}}}


def with_notes(tree: Tree, source: Tree) -> Tree:
    """An object with the notes that tools took on the item that it replaces."""
    notes = get(source, "metadata", "annotations")
    theirs = {key: leaf for key, leaf in notes.items() if is_note(key)} if type(notes) is dict else {}
    if not theirs:
        return tree
    metadata = tree["metadata"]
    return {**tree, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **theirs}}}
