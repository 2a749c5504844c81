"""Whole amounts as schedulers count them: cpu in thousandths, everything else in units, both rounded up.

Which nodes a pod may use, by taints, node selectors and node affinity, on plain data: k8s.io/component-helpers.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, reduce
from typing import Any

from trainc.apiserver.pods.requests import Amount, amounts
from trainc.model.tree import Tree
from trainc.text.numbers import parsed_int
from trainc.text.quantity import BINARY, NANO, Quantity

LARGEST = 2**63 - 1
UNLIMITED = LARGEST  # a quota that no request exceeds
SMALLEST = -(2**63)
MILLI = NANO // 1000
Units = dict[str, int]
_BYTES = frozenset({"memory", "ephemeral-storage"})


def units(name: str, quantity: Quantity) -> int:
    """The amount of one resource as a whole number, rounded away from zero and kept within 64 bits."""
    step = MILLI if name == "cpu" else NANO
    whole = -(-abs(quantity.nanos) // step)
    return max(SMALLEST, min(LARGEST, whole if quantity.nanos >= 0 else -whole))


def all_units(amounts: Mapping[str, Amount]) -> Units:
    return {name: units(name, amount.quantity) for name, amount in amounts.items()}


def units_of(tree: Tree) -> Units:
    """The amounts of a resource list in a manifest; what is not a quantity is left out."""
    return all_units(amounts(tree))


def quota_units(name: str, quantity: Quantity) -> int:
    """The amount of a quota: unlimited where 64 bits do not hold it."""
    largest = (LARGEST // 1000 if name == "cpu" else LARGEST) * NANO
    return UNLIMITED if quantity.nanos >= largest else units(name, quantity)


def spelled(name: str, amount: int) -> str:
    """The amount as Kueue prints it: `1500m`, `5Gi`, `8`."""
    if name == "cpu":
        return str(Quantity(amount * MILLI))
    if name in _BYTES or name.startswith("hugepages-"):
        return str(Quantity.parse(str(Quantity(amount * NANO, BINARY))))
    return str(Quantity(amount * NANO))


def spelled_quota(name: str, amount: int) -> str:
    return "<unlimited>" if amount == UNLIMITED else spelled(name, amount)


def plus(first: int, second: int) -> int:
    """The sum of two quotas; unlimited stays unlimited, and nothing leaves 64 bits."""
    return UNLIMITED if UNLIMITED in (first, second) else max(SMALLEST, min(LARGEST, first + second))


def minus(first: int, second: int) -> int:
    """The difference of two quotas; unlimited less anything bounded stays unlimited."""
    if first == UNLIMITED:
        return 0 if second == UNLIMITED else UNLIMITED
    return SMALLEST if second == UNLIMITED else max(SMALLEST, first - second)


def times(one: Mapping[str, int], count: int) -> Units:
    return {name: max(SMALLEST, min(LARGEST, amount * count)) for name, amount in one.items()}


def added(first: Mapping[str, int], second: Mapping[str, int]) -> Units:
    total = dict(first)
    for name, amount in second.items():
        total[name] = max(SMALLEST, min(LARGEST, total.get(name, 0) + amount))
    return total


def summed(parts: Iterable[Mapping[str, int]]) -> Units:
    return reduce(added, parts, {})


def subtracted(first: Mapping[str, int], second: Mapping[str, int]) -> Units:
    return added(first, {name: -amount for name, amount in second.items()})


@cache
def rank(name: str) -> tuple[int, str]:
    """Where a resource stands in Kueue's lists: they are sorted by the FNV-1a hash of the name."""
    code = 0xCBF29CE484222325
    for byte in name.encode():
        code = ((code ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return code, name


def in_order(amounts: Mapping[str, int]) -> list[str]:
    """The resource names in the order in which Kueue looks at them."""
    return sorted(amounts, key=rank)


def pods_in(capacity: Mapping[str, int], one: Mapping[str, int]) -> tuple[int, str]:
    """How many equal pods a capacity holds, and the resource that allows no more (the first by name)."""
    fewest, limit = -1, ""
    for name, amount in one.items():
        count = max(0, min(capacity.get(name, 0) // amount, 2**31 - 1)) if amount > 0 else 2**31 - 1
        if fewest < 0 or count < fewest or (count == fewest and name < limit):
            fewest, limit = count, name
    return max(fewest, 0), limit


def untolerated(
    taints: Iterable[Mapping[str, Any]], tolerations: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """The first taint that keeps a pod with these tolerations away, None where none does."""
    repelling = (taint for taint in taints if taint.get("effect") in ("NoSchedule", "NoExecute"))
    return next((taint for taint in repelling if not any(_tolerates(one, taint) for one in tolerations)), None)


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if any((toleration.get(part) or taint.get(part)) != taint.get(part) for part in ("effect", "key")):
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
    held = [*((one, labels) for one in expressions), *((one, {"metadata.name": name}) for one in fields)]
    return bool(held) and all(_holds(one, known) for one, known in held)


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, operator, values = expression.get("key", ""), expression.get("operator"), expression.get("values") or []
    label = labels.get(key)
    if operator in ("In", "NotIn"):
        return (label in values) is (operator == "In")
    if operator in ("Exists", "DoesNotExist"):
        return (label is not None) is (operator == "Exists")
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
    terms = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or []
    holding = (term for term in terms if _term_holds(term.get("preference") or {}, labels, name))
    return sum(int(term.get("weight") or 0) for term in holding)
