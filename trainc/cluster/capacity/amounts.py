"""Whole amounts as schedulers count them: cpu in thousandths, everything else in units, both rounded up."""

from __future__ import annotations

from functools import cache

from trainc.apiserver.pods.requests import Amount, amounts
from trainc.text.quantity import BINARY, NANO, Quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.tree import Tree

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
    """The amounts of a map of quantities, by resource name."""
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
    """The quota as Kueue prints it."""
    return "<unlimited>" if amount == UNLIMITED else spelled(name, amount)


def plus(first: int, second: int) -> int:
    """The sum of two quotas; unlimited stays unlimited, and nothing leaves 64 bits."""
    if UNLIMITED in (first, second):
        return UNLIMITED
    return max(SMALLEST, min(LARGEST, first + second))


def minus(first: int, second: int) -> int:
    """The difference of two quotas; unlimited less anything bounded stays unlimited."""
    if first == UNLIMITED:
        return 0 if second == UNLIMITED else UNLIMITED
    return SMALLEST if second == UNLIMITED else max(SMALLEST, first - second)


def times(one: Mapping[str, int], count: int) -> Units:
    """The amounts of so many equal pods."""
    return {name: max(SMALLEST, min(LARGEST, amount * count)) for name, amount in one.items()}


def added(first: Mapping[str, int], second: Mapping[str, int]) -> Units:
    """The sum of two lists of amounts."""
    total = dict(first)
    for name, amount in second.items():
        total[name] = max(SMALLEST, min(LARGEST, total.get(name, 0) + amount))
    return total


def taken(first: Mapping[str, int], second: Mapping[str, int]) -> Units:
    """The first amounts less the second."""
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
        count = max(0, min(capacity.get(name, 0) // amount, 2**31 - 1)) if amount else 2**31 - 1
        if fewest < 0 or count < fewest or (count == fewest and name < limit):
            fewest, limit = count, name
    return max(fewest, 0), limit
