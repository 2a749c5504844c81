"""Which nodes a pod may use: taints, node selectors and node affinity, on plain data (k8s.io/component-helpers)."""

from __future__ import annotations

from trainc.text.numbers import parsed_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

Labels = "Mapping[str, str]"
_REPELLING = frozenset({"NoSchedule", "NoExecute"})


def untolerated(
    taints: Iterable[Mapping[str, Any]], tolerations: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """The first taint that keeps a pod with these tolerations away, None where none does."""
    for taint in taints:
        if taint.get("effect") in _REPELLING and not any(_tolerates(one, taint) for one in tolerations):
            return taint
    return None


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if (toleration.get("effect") or taint.get("effect")) != taint.get("effect"):
        return False
    if (toleration.get("key") or taint.get("key")) != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    wanted, value = toleration.get("value") or "", taint.get("value") or ""
    if operator == "Equal":
        return bool(wanted == value)
    if operator in ("Lt", "Gt"):
        bound, number = parsed_int(wanted), parsed_int(value)
        return bound is not None and number is not None and (number < bound if operator == "Lt" else number > bound)
    return bool(operator == "Exists")


def taint_text(taint: Mapping[str, Any]) -> str:
    """The taint as kubectl writes it: `key=value:Effect`."""
    value = f"={taint['value']}" if taint.get("value") else ""
    effect = f":{taint['effect']}" if taint.get("effect") else ""
    return f"{taint.get('key', '')}{value}{effect}"


def in_labels(wanted: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether all the pairs of a node selector are among the labels."""
    for key, value in (wanted or {}).items():  # noqa: SIM110 (asked for every pod and node: a generator costs double)
        if labels.get(key) != value:
            return False
    return True


def matches_selector(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector takes these labels: an absent one takes nothing, an empty one everything."""
    if selector is None:
        return False
    expressions = selector.get("matchExpressions") or []
    return in_labels(selector.get("matchLabels"), labels) and all(_holds(one, labels) for one in expressions)


def matches_terms(terms: Sequence[Mapping[str, Any]] | None, labels: Mapping[str, str], name: str = "") -> bool:
    """Whether one of the terms of a node affinity takes a node; a term without any condition takes none."""
    return any(_term_holds(term, labels, name) for term in terms or [])


def _term_holds(term: Mapping[str, Any], labels: Mapping[str, str], name: str) -> bool:
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    return all(_holds(one, labels) for one in expressions) and all(
        _holds(one, {"metadata.name": name}) for one in fields
    )


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator, values = expression.get("key", ""), expression.get("operator"), expression.get("values") or []
    label = labels.get(key)
    if operator == "In":
        return label in values
    if operator == "NotIn":
        return label not in values
    if operator == "Exists":
        return label is not None
    if operator == "DoesNotExist":
        return label is None
    number = parsed_int(label)
    bound = parsed_int(values[0]) if len(values) == 1 else None
    if number is None or bound is None:
        return False
    return number > bound if operator == "Gt" else number < bound if operator == "Lt" else False


def required_terms(pod: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The terms of the pod's required node affinity, None where it has none."""
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return (required.get("nodeSelectorTerms") or []) if isinstance(required, dict) else None


def preference(pod: Mapping[str, Any], labels: Mapping[str, str], name: str) -> int:
    """The weights of the pod's preferred node affinity terms that take a node, summed."""
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    total = 0
    for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []:
        inner = term.get("preference") or {}
        empty = not inner.get("matchExpressions") and not inner.get("matchFields")
        if empty or _term_holds(inner, labels, name):
            total += 0 if empty else int(term.get("weight") or 0)
    return total
