"""Process counts inferred from resources, as the Trainer controller (v2.3.0) infers them."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

PORT = 29500  # where rank 0 of every framework listens

_POWERS = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


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


def whole(quantity: object) -> int:
    """A Kubernetes quantity rounded up to an integer."""
    text = str(quantity)
    digits = text.rstrip("KMGTPEinumk")
    suffix = text[len(digits) :]
    mantissa, power = digits, _POWERS.get(suffix, 0)
    for mark in ("e", "E"):
        if mark in digits:
            mantissa, _, exponent = digits.partition(mark)
            power = int(exponent)
    units, _, fraction = mantissa.partition(".")
    number: int = int((units + fraction) or "0")
    power = max(-40, min(power, 40)) - len(fraction)
    number *= 1024 ** _BINARY.get(suffix, 0)
    scale: int = 10 ** abs(power)
    return number * scale if power >= 0 else -(-number // scale)
