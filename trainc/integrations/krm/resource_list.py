"""Reading and writing a ResourceList (functions-spec of kustomize and kpt): each item with its text and its place."""

from __future__ import annotations

from trainc.integrations.krm.annotations import own_text, path_of
from trainc.integrations.krm.slices import slices
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.settings import STDIN
from trainc.model.tree import get, stamp
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read
from trainc.yaml.writer import dump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple

    from trainc.model.document import Document
    from trainc.model.tree import Tree
else:
    from trainc.text.record import NamedTuple

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
