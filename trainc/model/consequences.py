"""Findings that follow from another one: the edit that settles the cause settles them as well."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.finding import Finding
    from trainc.model.sourced import Span

    Findings = dict[tuple[object, ...], Finding]

_AMBIGUOUS = "ambiguous-scalar"
# By the rule of a cause, the rules of what follows from it at the same place.
_FOLLOWS = {
    "component-required": frozenset(("disruption-not-handled",)),
    "mixed-accelerators": frozenset(("several-gpu-resources",)),
    "more-accelerators-than-machine": frozenset(("processes-mismatch", "slots-gpus-mismatch")),
    "processes-mismatch": frozenset(("slots-gpus-mismatch",)),
}


def told_once(findings: Findings) -> Findings:
    """Findings without those that follow from another one, at one of its places."""
    explained: dict[str, set[Span]] = {}
    for finding in findings.values():
        if finding.refusal is not None:
            explained.setdefault(_AMBIGUOUS, set()).add(finding.span)
        for rule in _FOLLOWS.get(finding.rule.name, ()):
            explained.setdefault(rule, set()).update(label.span for label in finding.labels)
    if not explained:
        return findings
    return {identity: finding for identity, finding in findings.items() if not _is_explained(finding, explained)}


def _is_explained(finding: Finding, explained: dict[str, set[Span]]) -> bool:
    places = explained.get(finding.rule.name)
    if places is None:
        return False
    return finding.span in places or (
        finding.rule.name != _AMBIGUOUS and any(one.span in places for one in finding.labels)
    )
