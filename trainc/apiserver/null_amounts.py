"""Amounts of resources that say nothing: the server drops them, and nobody notices."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

NULL_AMOUNT = Rule(
    "null-resource",
    ERROR,
    "a resource has no amount",
    "A null is an absent field to the API server: the container gets none of the resource, and nothing says so.",
)
# In kinds that inherit, and in patches, a null takes away what is below.
_KINDS = frozenset(("TrainJob", "JobSet", "TrainingRuntime", "ClusterTrainingRuntime"))
_PATCHES = "runtimePatches"
_SIDES = ("limits", "requests")


def check_amounts(document: Document, report: Report) -> None:
    """A finding for each resource of a job or a plain runtime that has no amount."""
    if document.kind not in _KINDS or document.composed:
        return
    for path in _nulls(document.tree.get("spec"), ("spec",)) if _has_nulls(document.tree.get("spec")) else ():
        report.add(
            NULL_AMOUNT.at(
                document.span(path, key=True),
                f"`{path[-1]}` has no amount in `{path[-2]}`",
                effect="the server drops it, and the container gets none",
                help="write the amount, or remove the line",
            )
        )


def _has_nulls(node: Tree) -> bool:
    """Whether anything at all is null, which hardly any document says."""
    todo = [node]
    while todo:
        inner = todo.pop()
        if type(inner) is Sourced:
            if inner.value is None:
                return True
        elif type(inner) is dict:
            todo += inner.values()
        elif type(inner) is list:
            todo += inner
        elif inner is None:
            return True
    return False


def _nulls(node: Tree, path: Path) -> Iterator[Path]:
    """The places of all amounts of resources that are null."""
    if type(node) is dict:
        for key, inner in node.items():
            if key in _SIDES and type(inner) is dict:
                yield from [(*path, key, name) for name, amount in inner.items() if _is_null(amount)]
            elif key != _PATCHES:
                yield from _nulls(inner, (*path, key))
    elif type(node) is list:
        for index, item in enumerate(node):
            yield from _nulls(item, (*path, index))


def _is_null(node: Tree) -> bool:
    return node is None or (type(node) is Sourced and node.value is None)
