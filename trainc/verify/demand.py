"""What a container asks for: its accelerators, its memory, and what is worth a look in the amounts."""

from __future__ import annotations

from trainc.model.remembered import Remembered
from trainc.verify.amounts import ONE, amount
from trainc.verify.data.devices import GAUDI, GPU, NEURON, NPU, TPU, device_kind
from trainc.verify.values import UNKNOWN, Unknown, content, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

    Written = tuple[tuple[str, ...], tuple[object, ...]]  # resources, and what is said of each

STANDARD = ("cpu", "memory", "ephemeral-storage")  # resources without a vendor, beside huge pages
MANY = 1_000 * ONE  # accelerators that no machine has
_SHARING = (GPU, GAUDI, NPU)
_READ_BY = (GPU, TPU, NEURON)


class Demand:
    """Limits and requests as they are written: the `devices` by resource, and the `memory` limit in billionths.

    `gpus` are 0 where they are not one process each, `sharing` the accelerators whose processes share memory,
    `kind` that of all devices, empty where there are several or nobody reads variables of its own.
    """

    __slots__ = ("devices", "gpus", "kind", "memory", "sharing", "traits")

    def __init__(self, asked: tuple[Written, Written]) -> None:
        limits, requests = _amounts(asked[0]), _amounts(asked[1])
        traits = {*limits, *requests}
        self.devices = _devices(traits, (requests, limits))
        counts = [(device_kind(resource), number) for resource, number in self.devices.items()]
        gpus = [number for kind, number in counts if kind == GPU]
        self.gpus = gpus[0] if len(gpus) == 1 and type(gpus[0]) is int else 0
        self.sharing = sum([number for kind, number in counts if kind in _SHARING and type(number) is int])
        kinds = {kind for kind, _ in counts}
        self.kind = kinds.pop() if len(kinds) == 1 and kinds <= {*_READ_BY} else ""
        self.memory = amount(limits["memory"]) if limits.get("memory") is not None else None
        if self.devices and "memory" not in limits and "memory" not in requests:
            traits.add("devices without memory")
        if len(self.devices) > 1:
            traits.add("several devices")
        if any(resource.startswith(("rdma/", "nvidia.com/rdma")) for resource in limits):
            traits.add("rdma")
        self.traits = frozenset(traits)


def _devices(traits: set[str], sides: tuple[dict[str, object], ...]) -> dict[str, int | Unknown]:
    found: dict[str, int | Unknown] = {}
    for side in sides:
        for resource, asked in side.items():
            number = 1 if asked and "/" not in resource else amount(asked)
            if not asked or number is None or number < 0 or str(asked)[0] == "-":
                traits.add("odd amount")
            elif "/" in resource:
                if number % ONE or number >= MANY:
                    traits.add("odd amount")
                if device_kind(resource) and number:
                    found[resource] = UNKNOWN if number % ONE else number // ONE
            if number is None and asked and device_kind(resource):
                found[resource] = UNKNOWN
    return found


def _amounts(asked: Written) -> dict[str, object]:
    return {resource: content(amount) for resource, amount in zip(*asked, strict=True)}


_DEMANDS = Remembered(Demand)


def demand(limits: dict[str, Tree], requests: dict[str, Tree]) -> Demand:
    """What is asked for; the same for equal amounts, however many containers write them."""
    return _DEMANDS[(tuple(limits), written(limits)), (tuple(requests), written(requests))]
