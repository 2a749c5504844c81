"""Reading and writing a ResourceList (functions-spec of kustomize and kpt): each item with its text and its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from trainc.model.document import Document
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.settings import STDIN
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, stamp, value
from trainc.text.numbers import whole_number
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

_KIND = "ResourceList"


class Item(NamedTuple):
    """One object of the list.

    `text` is what was given, comments included; `own` is the same without what kustomize and kpt note on it while a
    function runs. `path` and `position` say which file of the package it is from, and which document there; they are
    empty and 0 where nothing does.
    """

    tree: Tree
    text: str
    own: str
    path: str
    position: int


class ResourceList(NamedTuple):
    """What a function is given: items in order, and the object that configures it (None where there is none)."""

    api_version: str
    items: tuple[Item, ...]
    config: Document | None
    config_text: str


def read_list(data: bytes) -> ResourceList:
    """The ResourceList that a text holds.

    Raises:
        Trouble: where the text is not one ResourceList.
    """
    report = Report()
    documents = list(read(data, STDIN, report, duplicates="ignore"))
    broken = next((finding for finding in report.findings if finding.level == ERROR), None)
    if broken is not None:
        raise Trouble(f"{broken.span}: {broken.message}")
    if len(documents) != 1 or documents[0].kind != _KIND:
        raise Trouble(
            "standard input is not a ResourceList; kustomize and kpt write one, `trainc build -` takes manifests"
        )
    document = documents[0]
    items = _objects(document.tree.get("items"), "items")
    config = get(document.tree, "functionConfig")
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    texts = slices(text.splitlines(), document, items)
    return ResourceList(
        document.api_version,
        tuple([_item(tree, written) for tree, written in zip(items, texts, strict=True)]),
        document.part(config) if type(config) is dict else None,
        dump(config) if type(config) is dict else "",
    )


def _objects(items: Tree, where: str) -> list[Tree]:
    """The objects of a list.

    Raises:
        Trouble: for what is neither a list nor absent, or holds something else than objects.
    """
    if items is None:
        return []
    if type(items) is not list or any(type(item) is not dict for item in items):
        raise Trouble(f"`{where}` is not a list of objects")
    return items


def resources(tree: Tree) -> list[Item]:
    """The objects that the function's configuration brings along.

    Raises:
        Trouble: for what is not a list of objects.
    """
    return [_item(item, dump(item)) for item in _objects(tree, "functionConfig: spec.resources")]


def _item(tree: Tree, text: str) -> Item:
    return Item(tree, text, own_text(tree, text), *path_of(tree))


def write_list(given: ResourceList, texts: Iterable[str], results: list[dict[str, Any]]) -> str:
    """The answer of a function: items in order, its configuration, and its results."""
    parts = [f"apiVersion: {given.api_version}\nkind: {_KIND}\n"]
    items = [_indented(text, "- ") for text in texts]
    parts.append("items:\n" + "".join(items) if items else "items: []\n")
    if given.config_text:
        parts.append("functionConfig:\n" + _indented(given.config_text, "  "))
    if results:
        parts.append("results:\n" + dump(stamp(results, "report")))
    return "".join(parts)


def _indented(text: str, head: str) -> str:
    """Lines behind a head of two characters, and below it."""
    first, *rest = text.removesuffix("\n").split("\n")
    return "\n".join([head + first, *[f"  {line}" if line else line for line in rest]]) + "\n"


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
    kept = {key: leaf for key, leaf in notes.items() if not is_note(key)}
    metadata = {key: node for key, node in tree["metadata"].items() if key != "annotations"}
    own = {**tree, "metadata": {**metadata, "annotations": kept} if kept else metadata}
    cut = _cut(text)
    return cut if says(cut, own) else dump(own)


def _cut(text: str) -> str:
    """A text without the lines of its notes, and without `annotations:` where nothing else is below it."""
    document = next(read(text, "", Report(), duplicates="ignore"))
    notes = get(document.tree, "metadata", "annotations")
    lines = text.splitlines(keepends=True)
    drop: set[int] = set()
    for key in filter(is_note, notes):
        start, span = (document.span(("metadata", "annotations", key), key=is_key) for is_key in (True, False))
        drop.update(range(start.line, span.end_line + (span.end_column > 1)))
    if all(map(is_note, notes)):
        drop.add(document.span(("metadata", "annotations"), key=True).line)
    return "".join([line for number, line in enumerate(lines, 1) if number not in drop])


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


_DASH = 2  # columns of `- ` in front of an item


def slices(lines: Sequence[str], document: Document, items: Sequence[Tree]) -> list[str]:
    """The text of each item: what is written where that reads as the item, or the item in trainc's own spelling.

    JSON, and items that stand on one line with others, have no lines of their own.
    """
    texts = []
    for item in items:
        mark = document.marks.get(id(item))
        text = _block(lines, mark[0] - 1, mark[1] - 1) if mark is not None else ""
        texts.append(text if says(text, item) else dump(item))
    return texts


def says(text: str, tree: Tree) -> bool:
    """Whether a text is one document that reads as a tree."""
    report = Report()
    documents = list(read(text, "", report, duplicates="ignore")) if text else []
    return len(documents) == 1 and not report.failed and dump(documents[0].tree) == dump(tree)


def _block(lines: Sequence[str], first: int, column: int) -> str:
    """The lines of the block whose first key stands on a line (from 0), at a column; empty where it is no such block."""
    head = column - _DASH
    dash = first
    while dash > 0 and head >= 0 and lines[dash][: head + 1] != " " * head + "-":
        dash -= 1
    if head < 0 or lines[dash][:column].strip() != "-":
        return ""
    end = dash + 1
    margin = " " * column
    while end < len(lines) and (lines[end].startswith(margin) or not lines[end].strip()):
        end += 1
    return "".join([f"{line[column:]}\n" for line in lines[dash:end]])
