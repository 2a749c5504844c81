"""What somebody wants a new job to be."""

from __future__ import annotations

from trainc.authoring.new.hardware import HARDWARE
from trainc.authoring.new.starts import STARTS
from trainc.text.object_keys import GPU_RESOURCE
from trainc.text.quantity import NANO, Quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.authoring.new.hardware import Hardware
    from trainc.model.patches import Start


class Request:
    """The answers from which a job and its runtime are written; empty texts and zeros stand for "not asked for"."""

    __slots__ = (
        "checkpoints",
        "command",
        "cpu",
        "framework",
        "gpus",
        "image",
        "kubernetes",
        "memory",
        "name",
        "namespace",
        "nodes",
        "on",
        "queue",
        "restarts",
        "runtime",
        "scheduler",
        "values",
        "variant",
    )

    def __init__(self, name: str) -> None:
        self.name = name
        self.framework = "torch"
        self.nodes = 0
        self.gpus = 0
        self.cpu = ""
        self.memory = ""
        self.image = ""
        self.command: tuple[str, ...] = ()
        self.namespace = "training"
        self.checkpoints = ""  # the claim that keeps them
        self.restarts = False  # whether the job says how often it starts again from them
        self.on = ""  # a name of HARDWARE
        self.values: Mapping[str, str] = {}  # values for the parameters of its components
        self.scheduler = ""
        self.kubernetes = ""  # the cluster's version
        self.queue = ""
        self.runtime = ""  # of the project, used as it is
        self.variant = ""  # what the runtime's name ends in, beside one of the project with other values

    @property
    def start(self) -> Start:
        """Where the framework starts from."""
        return STARTS[self.framework]

    @property
    def hardware(self) -> Hardware | None:
        """The machines, None where none are named."""
        return HARDWARE.get(self.on)

    @property
    def accelerators(self) -> int:
        """How many accelerators a pod has that a framework starts a process for."""
        return self.hardware.count if self.hardware else self.gpus

    @property
    def runtime_name(self) -> str:
        """The runtime that the job refers to."""
        usual = self.start.runtime if self.start.is_named else ""
        machines = f"{self.on or ('gpu' if self.gpus else 'cpu')}{self.variant}"
        return self.runtime or usual or f"{self.framework}-{machines}"

    def words(self) -> tuple[str, ...]:
        """The command of the job: the one given, else the usual one of the framework."""
        processes = str(max(self.nodes, 1) * max(self.accelerators, 1))
        return self.command or tuple(word.format(processes=processes) for word in self.start.words)

    def settings(self) -> dict[str, str]:
        """What is said of the machines' own component: values of its parameters, and sizes where they are parameters."""
        is_sized = self.hardware is not None and self.hardware.is_sized_by_component
        sizes = {"cpu": self.cpu, "memory": self.memory} if is_sized else {}
        return {**{key: size for key, size in sizes.items() if size}, **self.values}

    def uses(self) -> dict[str, dict[str, str]]:
        """The components that the runtime switches on, each with the values of its parameters, in this order."""
        components = {name: dict(given) for name, given in (self.hardware.uses if self.hardware else {}).items()}
        if self.framework == "flux":
            components.pop("shm", None)  # Flux mounts a /dev/shm of its own
        if self.gpus and not self.start.has_shared_memory and "shm" not in components:
            components = {"shm": {}, **components}
        memory = self.memory or self.resources().get("memory")
        if "shm" in components and memory:
            components["shm"] = _shared(memory, components["shm"])
        if self.hardware:
            main = next(reversed(self.hardware.uses))
            components[main] |= self.settings()
        return components

    def resources(self) -> dict[str, str]:
        """What each node asks for beyond what the components of its machine say; a share of the machine for GPUs."""
        usual = (self.hardware.cpu, self.hardware.memory) if self.hardware else _share(self.gpus)
        given = {"cpu": self.cpu or usual[0], "memory": self.memory or usual[1]}
        if self.hardware and self.hardware.is_sized_by_component:
            return {}
        if self.gpus and not self.hardware:
            given[GPU_RESOURCE] = str(self.gpus)
        return {name: amount for name, amount in given.items() if amount}


def _share(gpus: int) -> tuple[str, str]:
    """Cores and memory for so many GPUs: less than any machine of the clouds has for each."""
    return (str(8 * gpus), f"{64 * gpus}Gi") if gpus else ("", "")


def _shared(memory: str, given: dict[str, str]) -> dict[str, str]:
    """The parameters of `shm` for pods of that much memory: a quarter of it where the usual size would not fit."""
    wanted = Quantity.parse(given.get("size", "64Gi")).nanos
    most = Quantity.parse(memory).nanos
    if wanted * 2 <= most:
        return given
    return {**given, "size": f"{max(most // 4 // NANO >> 20, 1)}Mi"}
