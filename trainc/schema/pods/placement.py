"""What is wrong with where pods may run: tolerations, affinities, spread."""

from __future__ import annotations

from trainc.schema.names import label_value
from trainc.schema.pods.said import fields, items, maps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.schema.pods.said import Said

_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_NEEDED = "must be specified when `operator` is 'In' or 'NotIn'"
_UNWANTED = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_NO_OPERATOR = "not a valid selector operator"
_NO_SELECTOR = "must not be specified when labelSelector is not set"
_POLICIES = ("Honor", "Ignore")


def tolerations(tree: Any, path: Path, said: Said) -> None:
    """Tolerations, aside from unknown words."""
    for index, toleration in maps(tree):
        at: Path = (*path, index)
        key, operator, effect = (str(toleration.get(name) or "") for name in ("key", "operator", "effect"))
        if key:
            said.key((*at, "key"), key)
        elif operator != "Exists":
            text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            said.invalid((*at, "operator"), operator, text, at=at)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            said.invalid((*at, "effect"), effect, text, at=at)
        value = str(toleration.get("value") or "")
        reasons = label_value(value) if operator in ("", "Equal") else ()
        if reasons:
            said.invalid((*at, "operator"), value, ";".join(reasons), at=(*at, "value"))


def affinity(tree: Any, path: Path, said: Said) -> None:
    """Affinities to nodes and to other pods."""
    held = fields(tree)
    if held.get("nodeAffinity") is not None:
        _nodes(fields(held["nodeAffinity"]), (*path, "nodeAffinity"), said)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = fields(held.get(kind))
        for index, term in maps(terms.get(_REQUIRED)):
            _pods(term, (*path, kind, _REQUIRED, index), said)
        for index, weighted in maps(terms.get(_PREFERRED)):
            at: Path = (*path, kind, _PREFERRED, index)
            _weight(weighted, at, said)
            _pods(fields(weighted.get("podAffinityTerm")), (*at, "podAffinityTerm"), said)


def _nodes(held: dict[str, Any], path: Path, said: Said) -> None:
    if held.get(_REQUIRED) is not None:
        at: Path = (*path, _REQUIRED, "nodeSelectorTerms")
        terms = fields(held[_REQUIRED]).get("nodeSelectorTerms")
        if not items(terms):
            said.required(at, "must have at least one node selector term")
        for index, term in maps(terms):
            _term(term, (*at, index), said, values=True)
    for index, weighted in maps(held.get(_PREFERRED)):
        _weight(weighted, (*path, _PREFERRED, index), said)
        _term(fields(weighted.get("preference")), (*path, _PREFERRED, index, "preference"), said, values=False)


def _weight(weighted: dict[str, Any], path: Path, said: Said) -> None:
    weight = weighted.get("weight", 0)
    if type(weight) is int and not 1 <= weight <= 100:
        said.invalid((*path, "weight"), weight, "must be in the range 1-100")


def _term(term: dict[str, Any], path: Path, said: Said, *, values: bool) -> None:
    for index, rule in maps(term.get("matchExpressions")):
        at: Path = (*path, "matchExpressions", index)
        operator, listed = str(rule.get("operator") or ""), items(rule.get("values"))
        if operator in ("Gt", "Lt"):
            if len(listed) != 1:
                said.required((*at, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
        else:
            _operator(operator, listed, at, said)
        said.key((*at, "key"), rule.get("key", ""))
        for number, value in enumerate(listed if values else ()):
            said.value((*at, "values", number), value)
    for index, rule in maps(term.get("matchFields")):
        _match_field(rule, (*path, "matchFields", index), said)


def _operator(operator: str, values: list[Any], path: Path, said: Said) -> None:
    if operator in ("In", "NotIn"):
        if not values:
            said.required((*path, "values"), _NEEDED)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            said.forbidden((*path, "values"), _UNWANTED)
    else:
        said.invalid((*path, "operator"), operator, _NO_OPERATOR)


def _match_field(rule: dict[str, Any], path: Path, said: Said) -> None:
    operator, values = str(rule.get("operator") or ""), items(rule.get("values"))
    if operator not in ("In", "NotIn"):
        said.invalid((*path, "operator"), operator, _NO_OPERATOR)
    elif len(values) != 1:
        text = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        said.required((*path, "values"), text)
    if rule.get("key") != "metadata.name":
        said.invalid((*path, "key"), rule.get("key", ""), "not a valid field selector key")
    else:
        for index, value in enumerate(values):
            said.name((*path, "values", index), value)


def _pods(term: dict[str, Any], path: Path, said: Said) -> None:
    selector(term.get("labelSelector"), (*path, "labelSelector"), said)
    selector(term.get("namespaceSelector"), (*path, "namespaceSelector"), said)
    for index, name in enumerate(items(term.get("namespaces"))):
        at: Path = (*path, "namespaces", index)
        for reason in _label(name):
            said.invalid((*path, "namespace"), name, reason, at=at)
    if term.get("topologyKey"):
        said.key((*path, "topologyKey"), term["topologyKey"])
    _label_keys(term, path, said)


def _label(name: Any) -> tuple[str, ...]:
    from trainc.schema.names import label  # noqa: PLC0415 (few terms name namespaces)

    return label(name) if type(name) is str else ()


def _label_keys(holder: dict[str, Any], path: Path, said: Said) -> None:
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = items(holder.get(name))
        if keys and holder.get("labelSelector") is None:
            said.forbidden((*path, name), _NO_SELECTOR)
            continue
        for index, key in enumerate(keys):
            said.key((*path, name, index), key)
    keys, others = items(holder.get("matchLabelKeys")), items(holder.get("mismatchLabelKeys"))
    for index, key in enumerate(keys):
        if key in others:
            said.invalid((*path, "matchLabelKeys", index), key, "exists in both matchLabelKeys and mismatchLabelKeys")
    asked = fields(holder.get("labelSelector"))
    before: list[object] = [*fields(asked.get("matchLabels"))]
    for _, rule in maps(asked.get("matchExpressions")):
        key = rule.get("key", "")
        if key in keys and key in before:
            last = len(keys) - 1 - keys[::-1].index(key)
            said.invalid(
                (*path, last),
                key,
                "exists in both matchLabelKeys and labelSelector",
                at=(*path, "matchLabelKeys", last),
            )
        before.append(key)


def selector(tree: Any, path: Path, said: Said) -> None:
    """A selector of pods by their labels."""
    held = fields(tree)
    for key, value in fields(held.get("matchLabels")).items():
        said.key((*path, "matchLabels"), key)
        said.value((*path, "matchLabels"), value)
    for index, rule in maps(held.get("matchExpressions")):
        at: Path = (*path, "matchExpressions", index)
        values = items(rule.get("values"))
        _operator(str(rule.get("operator") or ""), values, at, said)
        said.key((*at, "key"), rule.get("key", ""))
        for number, value in enumerate(values):
            said.value((*at, "values", number), value)


def spread(tree: Any, path: Path, said: Said) -> None:
    """How pods are spread over the nodes."""
    for index, rule in maps(tree):
        at: Path = (*path, index)
        skew, least, when = rule.get("maxSkew", 0), rule.get("minDomains"), rule.get("whenUnsatisfiable") or ""
        if type(skew) is int and skew <= 0:
            said.invalid((*at, "maxSkew"), skew, "must be greater than zero")
        if not rule.get("topologyKey"):
            said.required((*at, "topologyKey"), "can not be empty")
        said.one_of((*at, "whenUnsatisfiable"), when, ("DoNotSchedule", "ScheduleAnyway"))
        if type(least) is int:
            if least <= 0:
                said.invalid((*at, "minDomains"), least, "must be greater than zero")
            if when != "DoNotSchedule":
                text = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
                said.invalid((*at, "minDomains"), least, text)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if rule.get(name) is not None:
                said.one_of((*at, name), rule[name], _POLICIES)
        _label_keys(rule, at, said)
        selector(rule.get("labelSelector"), (*at, "labelSelector"), said)
