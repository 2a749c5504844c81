"""What is wrong with where pods may run: tolerations, affinities, spread."""

from typing import Any

from trainc.apiserver.names import label, label_value, qualified, subdomain
from trainc.apiserver.pods.complaints import Field, fields, items, maps
from trainc.text.numbers import has_int_syntax, parsed_int

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_OPERATOR = "not a valid selector operator"
_NO_SELECTOR = "must not be specified when labelSelector is not set"
_OPERATORS = ("Equal", "Exists")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def tolerations(listed: Field) -> None:
    """What taints of nodes the pod stands."""
    for one in listed.maps():
        operator, effect = one.text("operator"), one.text("effect")
        if one.text("key"):
            one["key"].fits(qualified)
        elif operator != "Exists":
            why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            one["operator"].reading(operator).invalid(why, at=one)
        if one.get("tolerationSeconds") is not None and effect != "NoExecute":
            why = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            one["effect"].reading(effect).invalid(why, at=one)
        _operator_of(one["operator"].default(""), one["value"], one.text("value"))
        if effect:
            one["effect"].one_of(_EFFECTS)


def _operator_of(operator: Field, at: Field, value: str) -> None:
    """How a taint's value is compared; the server names the operator where the value is wrong."""
    if operator.value in ("", "Equal"):
        if reasons := label_value(value):
            operator.reading(value).invalid(";".join(reasons), at=at)
    elif operator.value == "Exists":
        if value:
            operator.reading(value).invalid("value must be empty when `operator` is 'Exists'", at=at)
    elif operator.value not in ("Lt", "Gt"):
        operator.one_of(_OPERATORS)
    elif not operator.log.features.has("TaintTolerationComparisonOperators"):
        # The server names the very operators that it does not take.
        listed = ", ".join(f'"{word}"' for word in (*_OPERATORS, "Lt", "Gt"))
        operator.add(f'Unsupported value: "{operator.value}": supported values: {listed}', operator.value)
    elif not _is_decimal(value):
        wrong = "must be a valid decimal integer in canonical form" if value else "must be non-empty"
        # Go reads signs and leading zeros.
        more = () if has_int_syntax(value) else (f'strconv.ParseInt: parsing "{value}": invalid syntax',)
        at.default("").invalid(wrong, *more)
    elif parsed_int(value) is None:
        at.invalid(f'strconv.ParseInt: parsing "{value}": value out of range')


def _is_decimal(value: str) -> bool:
    digits = value.removeprefix("-")
    return digits.isascii() and digits.isdigit() and (digits[0] != "0" or value == "0")


def affinity(held: Field) -> None:
    """Affinities to nodes and to other pods."""
    nodes = held["nodeAffinity"]
    if nodes.get(REQUIRED) is not None:
        terms = nodes[REQUIRED]["nodeSelectorTerms"]
        if not items(terms.value):
            terms.required("must have at least one node selector term")
        for term in terms.maps():
            _node_term(term, values=True)
    for weighted in nodes[PREFERRED].maps():
        _weight(weighted)
        _node_term(weighted["preference"], values=False)
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in held[kind][REQUIRED].maps():
            _pod_term(term)
        for weighted in held[kind][PREFERRED].maps():
            _weight(weighted)
            _pod_term(weighted["podAffinityTerm"])


def _weight(weighted: Field) -> None:
    weight = weighted["weight"].default(0)
    if type(weight.value) is int and not 1 <= weight.value <= 100:
        weight.invalid("must be in the range 1-100")


def _node_term(term: Field, *, values: bool) -> None:
    for rule in term["matchExpressions"].maps():
        if rule.get("operator") not in ("Gt", "Lt"):
            _operator(rule)
        elif len(items(rule.get("values"))) != 1:
            rule["values"].required("must be specified single value when `operator` is 'Lt' or 'Gt'")
        rule["key"].default("").fits(qualified)
        for value in rule["values"].items() if values else ():
            value.fits(label_value)
    for rule in term["matchFields"].maps():
        if rule.get("operator") not in ("In", "NotIn"):
            rule["operator"].fallback("").invalid(_NO_OPERATOR)
        elif len(items(rule.get("values"))) != 1:
            why = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
            rule["values"].required(why)
        if rule.get("key") != "metadata.name":
            rule["key"].default("").invalid("not a valid field selector key")
        else:
            for value in rule["values"].items():
                value.fits(subdomain)


def _operator(rule: Field) -> None:
    operator, values = rule["operator"].fallback(""), rule["values"]
    if operator.value in ("In", "NotIn"):
        if not items(values.value):
            values.required("must be specified when `operator` is 'In' or 'NotIn'")
    elif operator.value in ("Exists", "DoesNotExist"):
        if items(values.value):
            values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        operator.invalid(_NO_OPERATOR)


def _pod_term(term: Field) -> None:
    selector(term["labelSelector"])
    selector(term["namespaceSelector"])
    for name in term["namespaces"].items():
        name.printed((*term.path, "namespace")).fits(label)
    _label_keys(term)
    term["topologyKey"].need("can not be empty")
    term["topologyKey"].default("").fits(qualified)


def _label_keys(holder: Field) -> None:
    for listed in holder.filled("matchLabelKeys", "mismatchLabelKeys"):
        if holder.get("labelSelector") is None:
            listed.forbidden(_NO_SELECTOR)
        else:
            for key in listed.items():
                key.fits(qualified)
    keys, others = holder["matchLabelKeys"], items(holder.get("mismatchLabelKeys"))
    for key in keys.items():
        if key.value in others:
            key.invalid("exists in both matchLabelKeys and mismatchLabelKeys")
    selected = selected_keys(holder.get("labelSelector"))
    for number, name in enumerate(selected):
        if name in items(keys.value) and name in selected[:number]:
            last = max(index for index, key in enumerate(keys.value) if key == name)
            keys[last].printed((*holder.path, last)).invalid("exists in both matchLabelKeys and labelSelector")


def selected_keys(selector: Any) -> list[Any]:
    """The keys of labels that a selector asks for."""
    held = fields(selector)
    return [*fields(held.get("matchLabels")), *(rule.get("key", "") for _, rule in maps(held.get("matchExpressions")))]


def selector(held: Field) -> None:
    """A selector of pods by their labels."""
    held["matchLabels"].labels()
    for rule in held["matchExpressions"].maps():
        _operator(rule)
        rule["key"].default("").fits(qualified)
        for value in rule["values"].items():
            value.fits(label_value)


def spread(listed: Field) -> None:
    """How pods are spread over the nodes."""
    for rule in listed.maps():
        skew, least, when = rule["maxSkew"].default(0), rule["minDomains"], rule.get("whenUnsatisfiable") or ""
        if type(skew.value) is int and skew.value <= 0:
            skew.invalid("must be greater than zero")
        rule["topologyKey"].need("can not be empty")
        rule["whenUnsatisfiable"].default("").one_of(("DoNotSchedule", "ScheduleAnyway"))
        if type(least.value) is int and least.value <= 0:
            least.invalid("must be greater than zero")
        if type(least.value) is int and when != "DoNotSchedule":
            least.invalid(f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {when}")
        for policy in rule.given("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy.one_of(("Honor", "Ignore"))
        if rule.log.features.has("MatchLabelKeysInPodTopologySpreadSelectorMerge"):
            _label_keys(rule)
        else:  # an older server does not write the keys into the selector
            keys, selected = rule["matchLabelKeys"], selected_keys(rule.get("labelSelector"))
            if items(keys.value) and rule.get("labelSelector") is None:
                keys.forbidden(_NO_SELECTOR)
            for key in keys.items():
                key.fits(qualified)
                if key.value in selected:
                    key.invalid("exists in both matchLabelKeys and labelSelector")
        selector(rule["labelSelector"])
