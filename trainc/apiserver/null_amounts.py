"""Amounts of resources that say nothing: the server drops them, and nobody notices."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    nulls: list[Path] = []
    _find_nulls(document.tree.get("spec"), ("spec",), nulls)
    for path in nulls:
        report.add(
            NULL_AMOUNT.at(
                document.span(path, key=True),
                f"`{path[-1]}` has no amount in `{path[-2]}`",
                effect="the server drops it, and the container gets none",
                help="write the amount, or remove the line",
            )
        )


def _find_nulls(node: Tree, path: Path, nulls: list[Path]) -> None:
    """Add the places of all amounts of resources that are null."""
    if type(node) is dict:
        for key, inner in node.items():
            if type(inner) is Sourced or key == _PATCHES:
                continue
            if key in _SIDES and type(inner) is dict:
                nulls += [(*path, key, name) for name, amount in inner.items() if _is_null(amount)]
            else:
                _find_nulls(inner, (*path, key), nulls)
    elif type(node) is list:
        for index, item in enumerate(node):
            _find_nulls(item, (*path, index), nulls)


def _is_null(node: Tree) -> bool:
    return node is None or (type(node) is Sourced and node.value is None)
