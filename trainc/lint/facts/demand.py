"""The accelerators that a container asks for."""

from __future__ import annotations

from trainc.lint.facts.amounts import ONE, amount
from trainc.lint.facts.values import UNKNOWN, Unknown
from trainc.lint.tables.devices import device_kind
from trainc.model.inference import MAX_DEVICES
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

STANDARD = ("cpu", "memory", "ephemeral-storage")  # resources without a vendor, beside huge pages
MANY = MAX_DEVICES * ONE


def devices(limits: dict[str, Tree], requests: dict[str, Tree]) -> dict[str, int | Unknown]:
    """The accelerators by resource, unknown where the amount is not a number of devices; a limit wins over a request."""
    counts: dict[str, int | Unknown] = {}
    for side in (requests, limits):
        for resource, leaf in side.items():
            value = leaf.value if type(leaf) is Sourced else None
            if "/" not in resource or not value or not device_kind(resource):
                continue
            number = amount(value)
            if number is None or number >= MANY or (number > 0 and number % ONE):
                counts[resource] = UNKNOWN
            elif number > 0:
                counts[resource] = number // ONE
    return counts
