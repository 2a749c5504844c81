"""Findings as results of a KRM function, which kustomize and kpt read."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from trainc.model.finding import ERROR, NOTE, WARNING, Finding
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, dotted, value
from trainc.report.details import details
from trainc.report.lines import visible

_SEVERITIES = {ERROR: "error", WARNING: "warning", NOTE: "info"}


class ItemPlace(NamedTuple):
    """Where a finding is in a ResourceList: the object, the file and document it is from, the field and its value."""

    tree: Tree
    path: str
    position: int
    field: Path
    node: Tree


def results(findings: Iterable[tuple[Finding, ItemPlace | None]]) -> list[dict[str, Any]]:
    return [_result(*found) for found in findings]


def message_of(finding: Finding) -> str:
    """What is wrong, what would happen and what to do, in one line."""
    return "; ".join([visible(text) for text in (finding.message, *details(finding))])


def _result(finding: Finding, place: ItemPlace | None) -> dict[str, Any]:
    out: dict[str, Any] = {"message": message_of(finding), "severity": _SEVERITIES[finding.level]}
    if place is not None:
        names = {key: value(place.tree, "metadata", key) for key in ("name", "namespace")}
        reference = {key: value(place.tree, key) for key in ("apiVersion", "kind")} | names
        out["resourceRef"] = {key: str(text) for key, text in reference.items() if text is not None}
        if place.field:
            out["field"] = {"path": dotted(place.field)}
            if type(place.node) is Sourced:
                out["field"]["currentValue"] = place.node.value
        if place.path:
            out["file"] = {"path": place.path, "index": place.position}
    return out | {"tags": {"rule": finding.rule.name}}
