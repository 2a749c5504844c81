"""Process counts inferred from resources, as the Trainer controller (v2.3.0) infers them."""

from __future__ import annotations

from trainc.model.quantity import Quantity, QuantityError
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

PORT = 29500  # where rank 0 of every framework listens


def gpus(resources: Tree) -> Sourced[int]:
    """GPUs of one pod: the requests decide, then the limits; a fraction counts as a whole one.

    A GPU is what has `gpu` in its resource name. Where several names have it the controller takes any; here the
    first in alphabetical order counts.
    """
    for part in ("requests", "limits"):
        names = gpu_names(get(resources, part))
        if names:
            found = derive("GPUs per node", whole, resources[part][names[0]])
            if found.value != 0:
                return found
    return Sourced(0, Origin(by="no GPU in the resources"))


def gpu_names(amounts: Tree) -> list[str]:
    """The names among some requests or limits that stand for GPUs, in alphabetical order."""
    return sorted(name for name in amounts or {} if "gpu" in name.lower())


def cpus(resources: Tree) -> Sourced[int]:
    """CPUs of one pod, rounded up: the request, or the limit where there is no request."""
    for part in ("requests", "limits"):
        amount = get(resources, part, "cpu")
        if amount is not None:
            found = derive("CPUs per node", whole, amount)
            if found.value != 0:
                return found
    return Sourced(0, Origin(by="no CPU in the resources"))


def whole(amount: object) -> int:
    """A Kubernetes quantity rounded up to an integer; 0 for what is filled in later."""
    try:
        return Quantity.parse(amount).ceil()
    except QuantityError:
        # Admission lets nothing else through than amounts and placeholders.
        return 0
