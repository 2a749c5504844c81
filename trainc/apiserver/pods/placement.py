"""What is wrong with where pods may run: tolerations, affinities, spread."""

from __future__ import annotations

from trainc.apiserver.names import label_value
from trainc.apiserver.pods.complaints import Complaints, fields, items, maps, text
from trainc.model.tree import Path
from trainc.text.numbers import has_int_syntax, parsed_int
from trainc.text.record import Any

_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_NEEDED = "must be specified when `operator` is 'In' or 'NotIn'"
_UNWANTED = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
_NO_OPERATOR = "not a valid selector operator"
_NO_SELECTOR = "must not be specified when labelSelector is not set"
_POLICIES = ("Honor", "Ignore")
_OPERATORS = ("Equal", "Exists")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_DECIMAL = "must be a valid decimal integer in canonical form"


def tolerations(tree: Any, path: Path, log: Complaints) -> None:
    """What taints of nodes the pod stands."""
    for index, toleration in maps(tree):
        at: Path = (*path, index)
        key, operator, effect = (text(toleration, name) for name in ("key", "operator", "effect"))
        if key:
            log.key((*at, "key"), key)
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            log.invalid((*at, "operator"), operator, why, at=at)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            log.invalid((*at, "effect"), effect, why, at=at)
        _operator_of(operator, text(toleration, "value"), at, log)
        if effect:
            log.one_of((*at, "effect"), effect, _EFFECTS)


def _operator_of(operator: str, value: str, path: Path, log: Complaints) -> None:
    """How a taint's value is compared; the server names the operator where the value is wrong."""
    at, place = (*path, "operator"), (*path, "value")
    if operator in ("", "Equal"):
        if reasons := label_value(value):
            log.invalid(at, value, ";".join(reasons), at=place)
    elif operator == "Exists":
        if value:
            log.invalid(at, value, "value must be empty when `operator` is 'Exists'", at=place)
    elif operator not in ("Lt", "Gt"):
        log.one_of(at, operator, _OPERATORS)
    elif not log.features.has("TaintTolerationComparisonOperators"):
        # The server names the very operators that it does not take.
        listed = ", ".join(f'"{word}"' for word in (*_OPERATORS, "Lt", "Gt"))
        log.add(at, f'Unsupported value: "{operator}": supported values: {listed}', operator)
    elif not _is_decimal(value):
        log.invalid(place, value, _DECIMAL if value else "must be non-empty", *_parse_error(value))
    elif parsed_int(value) is None:
        log.invalid(place, value, f'strconv.ParseInt: parsing "{value}": value out of range')


def _is_decimal(value: str) -> bool:
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits[0] != "0" or value == "0")


def _parse_error(value: str) -> tuple[str, ...]:
    """What Go says of a text that it cannot read as a number; it reads signs and leading zeros."""
    return () if has_int_syntax(value) else (f'strconv.ParseInt: parsing "{value}": invalid syntax',)


def affinity(tree: Any, path: Path, log: Complaints) -> None:
    """Affinities to nodes and to other pods."""
    held = fields(tree)
    if held.get("nodeAffinity") is not None:
        _nodes(fields(held["nodeAffinity"]), (*path, "nodeAffinity"), log)
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = fields(held.get(kind))
        for index, term in maps(terms.get(_REQUIRED)):
            _pods(term, (*path, kind, _REQUIRED, index), log)
        for index, weighted in maps(terms.get(_PREFERRED)):
            at: Path = (*path, kind, _PREFERRED, index)
            _weight(weighted, at, log)
            _pods(fields(weighted.get("podAffinityTerm")), (*at, "podAffinityTerm"), log)


def _nodes(held: dict[str, Any], path: Path, log: Complaints) -> None:
    if held.get(_REQUIRED) is not None:
        at: Path = (*path, _REQUIRED, "nodeSelectorTerms")
        terms = fields(held[_REQUIRED]).get("nodeSelectorTerms")
        if not items(terms):
            log.required(at, "must have at least one node selector term")
        for index, term in maps(terms):
            _term(term, (*at, index), log, values=True)
    for index, weighted in maps(held.get(_PREFERRED)):
        _weight(weighted, (*path, _PREFERRED, index), log)
        _term(fields(weighted.get("preference")), (*path, _PREFERRED, index, "preference"), log, values=False)


def _weight(weighted: dict[str, Any], path: Path, log: Complaints) -> None:
    weight = weighted.get("weight", 0)
    if type(weight) is int and not 1 <= weight <= 100:
        log.invalid((*path, "weight"), weight, "must be in the range 1-100")


def _term(term: dict[str, Any], path: Path, log: Complaints, *, values: bool) -> None:
    for index, rule in maps(term.get("matchExpressions")):
        at: Path = (*path, "matchExpressions", index)
        operator, listed = str(rule.get("operator") or ""), items(rule.get("values"))
        if operator in ("Gt", "Lt"):
            if len(listed) != 1:
                log.required((*at, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'")
        else:
            _operator(operator, listed, at, log)
        log.key((*at, "key"), rule.get("key", ""))
        for number, value in enumerate(listed if values else ()):
            log.value((*at, "values", number), value)
    for index, rule in maps(term.get("matchFields")):
        _match_field(rule, (*path, "matchFields", index), log)


def _operator(operator: str, values: list[Any], path: Path, log: Complaints) -> None:
    if operator in ("In", "NotIn"):
        if not values:
            log.required((*path, "values"), _NEEDED)
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            log.forbidden((*path, "values"), _UNWANTED)
    else:
        log.invalid((*path, "operator"), operator, _NO_OPERATOR)


def _match_field(rule: dict[str, Any], path: Path, log: Complaints) -> None:
    operator, values = str(rule.get("operator") or ""), items(rule.get("values"))
    if operator not in ("In", "NotIn"):
        log.invalid((*path, "operator"), operator, _NO_OPERATOR)
    elif len(values) != 1:
        why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        log.required((*path, "values"), why)
    if rule.get("key") != "metadata.name":
        log.invalid((*path, "key"), rule.get("key", ""), "not a valid field selector key")
    else:
        for index, value in enumerate(values):
            log.name((*path, "values", index), value)


def _pods(term: dict[str, Any], path: Path, log: Complaints) -> None:
    selector(term.get("labelSelector"), (*path, "labelSelector"), log)
    selector(term.get("namespaceSelector"), (*path, "namespaceSelector"), log)
    for index, name in enumerate(items(term.get("namespaces"))):
        at: Path = (*path, "namespaces", index)
        for reason in _label(name):
            log.invalid((*path, "namespace"), name, reason, at=at)
    _label_keys(term, path, log)
    topology = text(term, "topologyKey")
    if not topology:
        log.required((*path, "topologyKey"), "can not be empty")
    log.key((*path, "topologyKey"), topology)


def _label(name: Any) -> tuple[str, ...]:
    from trainc.apiserver.names import label  # noqa: PLC0415 (few terms name namespaces)

    return label(name) if type(name) is str else ()


def _label_keys(holder: dict[str, Any], path: Path, log: Complaints) -> None:
    for name in ("matchLabelKeys", "mismatchLabelKeys"):
        keys = items(holder.get(name))
        if keys and holder.get("labelSelector") is None:
            log.forbidden((*path, name), _NO_SELECTOR)
            continue
        for index, key in enumerate(keys):
            log.key((*path, name, index), key)
    keys, others = items(holder.get("matchLabelKeys")), items(holder.get("mismatchLabelKeys"))
    for index, key in enumerate(keys):
        if key in others:
            log.invalid((*path, "matchLabelKeys", index), key, "exists in both matchLabelKeys and mismatchLabelKeys")
    selector = fields(holder.get("labelSelector"))
    before: list[object] = [*fields(selector.get("matchLabels"))]
    for _, rule in maps(selector.get("matchExpressions")):
        key = rule.get("key", "")
        if key in keys and key in before:
            last = len(keys) - 1 - keys[::-1].index(key)
            log.invalid(
                (*path, last),
                key,
                "exists in both matchLabelKeys and labelSelector",
                at=(*path, "matchLabelKeys", last),
            )
        before.append(key)


def _unmerged_keys(rule: dict[str, Any], path: Path, log: Complaints) -> None:
    """Keys of labels that an older server does not write into the selector."""
    keys, selector = items(rule.get("matchLabelKeys")), fields(rule.get("labelSelector"))
    if keys and rule.get("labelSelector") is None:
        log.forbidden(path, _NO_SELECTOR)
    selector_keys = {
        *fields(selector.get("matchLabels")),
        *(each.get("key") for _, each in maps(selector.get("matchExpressions"))),
    }
    for index, key in enumerate(keys):
        log.key((*path, index), key)
        if key in selector_keys:
            log.invalid((*path, index), key, "exists in both matchLabelKeys and labelSelector")


def selector(tree: Any, path: Path, log: Complaints) -> None:
    """A selector of pods by their labels."""
    held = fields(tree)
    log.labels((*path, "matchLabels"), held.get("matchLabels"))
    for index, rule in maps(held.get("matchExpressions")):
        at: Path = (*path, "matchExpressions", index)
        values = items(rule.get("values"))
        _operator(str(rule.get("operator") or ""), values, at, log)
        log.key((*at, "key"), rule.get("key", ""))
        for number, value in enumerate(values):
            log.value((*at, "values", number), value)


def spread(tree: Any, path: Path, log: Complaints) -> None:
    """How pods are spread over the nodes."""
    for index, rule in maps(tree):
        at: Path = (*path, index)
        skew, least, when = rule.get("maxSkew", 0), rule.get("minDomains"), rule.get("whenUnsatisfiable") or ""
        if type(skew) is int and skew <= 0:
            log.invalid((*at, "maxSkew"), skew, "must be greater than zero")
        if not rule.get("topologyKey"):
            log.required((*at, "topologyKey"), "can not be empty")
        log.one_of((*at, "whenUnsatisfiable"), when, ("DoNotSchedule", "ScheduleAnyway"))
        if type(least) is int:
            if least <= 0:
                log.invalid((*at, "minDomains"), least, "must be greater than zero")
            if when != "DoNotSchedule":
                why = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}"
                log.invalid((*at, "minDomains"), least, why)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if rule.get(name) is not None:
                log.one_of((*at, name), rule[name], _POLICIES)
        if log.features.has("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
            _label_keys(rule, at, log)
        else:
            _unmerged_keys(rule, (*at, "matchLabelKeys"), log)
        selector(rule.get("labelSelector"), (*at, "labelSelector"), log)
