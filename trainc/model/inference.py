"""Process counts inferred from resources, as the Trainer controller (v2.3.0) infers them."""

from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Tree, get
from trainc.text.quantity import Quantity, QuantityError

PORT = 29500  # where rank 0 of every framework listens
MAX_DEVICES = 1_000  # accelerators that no machine has: such a number is an amount of bytes, or another slip
PARTS = ("requests", "limits")
_NO_GPU: Sourced[int] = Sourced(0, Origin(by="no GPU in the resources"))
_NO_CPU: Sourced[int] = Sourced(0, Origin(by="no CPU in the resources"))
PER_CPU = "one process for each CPU"


class Inferred:
    """The numbers that follow from the resources of one pod."""

    __slots__ = ("counted", "gpu_names", "gpus", "part", "resources")

    def __init__(self, resources: Tree) -> None:
        self.resources = resources
        self.gpu_names: list[str] = []  # that stand for GPUs, where requests or limits have several
        self.part = ""  # where those names stand
        self.counted: list[Tree] = []  # all amounts that count
        count: Sourced[int] | None = None
        for part in PARTS:
            if not (listed := get(resources, part)):
                continue
            if "cpu" in listed:
                self.counted.append(listed["cpu"])
            names = gpu_names(listed)
            if names and (count is None or count.value == 0):
                count = derive("GPUs per node", whole, listed[names[0]])
            self.counted += [listed[name] for name in names]
            if len(names) > 1 and not self.part:
                self.gpu_names, self.part = names, part
        # What has `gpu` in its resource name: the requests decide, then the limits; a fraction counts as a whole one.
        # Where several names have it the controller takes any; here the first in alphabetical order counts.
        self.gpus: Sourced[int] = _NO_GPU if count is None or count.value == 0 else count

    @property
    def cpus(self) -> Sourced[int]:
        """CPUs of one pod, rounded up: the request, or the limit where there is no request."""
        for part in PARTS:
            if (amount := get(self.resources, part, "cpu")) is not None:
                count = derive("CPUs per node", whole, amount)
                if count.value != 0:
                    return count
        return _NO_CPU


def processes(inferred: Inferred) -> Sourced[int | str]:
    """How many processes torchrun starts on a node: `auto` where there are GPUs, else one for each CPU, at least one."""
    if inferred.gpus.value > 0:
        return derive("torchrun counts the GPUs", lambda _: "auto", inferred.gpus)
    return derive(PER_CPU, lambda n: max(1, n), inferred.cpus)


def gpu_names(amounts: Tree) -> list[str]:
    """The names among some requests or limits that stand for GPUs, in alphabetical order."""
    names = [name for name in amounts or () if "gpu" in name or "gpu" in name.lower()]
    return sorted(names) if len(names) > 1 else names


def whole(amount: object) -> int:
    """A Kubernetes quantity rounded up to an integer; 0 for what is filled in later."""
    if type(amount) is int:
        return amount
    try:
        return Quantity.parse(amount).ceil()
    except QuantityError:
        # Admission lets nothing else through than amounts and placeholders.
        return 0
