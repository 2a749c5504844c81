"""Quantities in billionths, and how the API server would spell them."""

from trainc.lint.facts.values import UNKNOWN, Unknown
from trainc.lint.tables.machines import device_kind
from trainc.model.inference import MAX_DEVICES
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.text.quantity import NANO, Quantity, QuantityError

ONE = NANO
STANDARD = ("cpu", "memory", "ephemeral-storage")  # resources without a vendor, beside huge pages
MANY = MAX_DEVICES * ONE


def amount(written: object) -> int | None:
    """The quantity in billionths; None for what is not a quantity."""
    try:
        return Quantity.parse(written).nanos
    except QuantityError:
        return None


def canonical(written: object) -> str:
    """A quantity as the API server spells it."""
    return str(Quantity.parse(written))


def devices(limits: dict[str, Tree], requests: dict[str, Tree]) -> dict[str, int | Unknown]:
    """The accelerators by resource, unknown where the amount is not a number of devices; a limit wins over a request."""
    counts: dict[str, int | Unknown] = {}
    for side in (requests, limits):
        for resource, leaf in side.items():
            value = leaf.value if type(leaf) is Sourced else None
            if "/" not in resource or not value or not device_kind(resource):
                continue
            if (number := amount(value)) is None or number >= MANY or (number > 0 and number % ONE):
                counts[resource] = UNKNOWN
            elif number > 0:
                counts[resource] = number // ONE
    return counts
