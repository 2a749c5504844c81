"""A new job as somebody wants it, and the frameworks and machines to choose from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainc.frameworks import FRAMEWORKS, framework
from trainc.model import patches as start
from trainc.model.patches import Start
from trainc.text.object_keys import GPU_RESOURCE
from trainc.text.quantity import NANO, Quantity


@dataclass(slots=True, eq=False)
class Request:
    """The answers from which a job and its runtime are written; empty texts and zeros stand for "not asked for"."""

    name: str
    framework: str = "torch"
    nodes: int = 0
    gpus: int = 0
    cpu: str = ""
    memory: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    namespace: str = "training"
    checkpoints: str = ""  # the claim that keeps them
    restarts: bool = False  # whether the job says how often it starts again from them
    on: str = ""  # a name of HARDWARE
    values: Mapping[str, str] = field(default_factory=dict)  # values for the parameters of its components
    scheduler: str = ""
    kubernetes: str = ""  # the cluster's version
    queue: str = ""
    runtime: str = ""  # of the project, used as it is
    variant: str = ""  # what the runtime's name ends in, beside one of the project with other values

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
        # For GPUs cores and memory, less than any machine of the clouds has for each.
        usual = (str(8 * self.gpus), f"{64 * self.gpus}Gi") if self.gpus else ("", "")
        if self.hardware:
            usual = (self.hardware.cpu, self.hardware.memory)
        given = {"cpu": self.cpu or usual[0], "memory": self.memory or usual[1]}
        if self.hardware and self.hardware.is_sized_by_component:
            return {}
        if self.gpus and not self.hardware:
            given[GPU_RESOURCE] = str(self.gpus)
        return {name: amount for name, amount in given.items() if amount}


def _shared(memory: str, given: dict[str, str]) -> dict[str, str]:
    """The parameters of `shm` for pods of that much memory: a quarter of it where the usual size would not fit."""
    wanted = Quantity.parse(given.get("size", "64Gi")).nanos
    most = Quantity.parse(memory).nanos
    if wanted * 2 <= most:
        return given
    return {**given, "size": f"{max(most // 4 // NANO >> 20, 1)}Mi"}


STARTS = {name: one for each in map(framework, FRAMEWORKS) if each is not None for name, one in each.starts.items()}


@dataclass(slots=True, eq=False)
class Hardware:
    """A machine type: components with the values of their parameters, and the accelerators of one pod.

    `count` is 0 where the component's topology decides it, which then decides the number of nodes as well. `cpu` and
    `memory` are what a job asks for that says nothing else: most of the machine on EKS, about half elsewhere. `sorts`
    are words of `trainc/model/patches.py`: a framework says there which of them it runs on.
    """

    about: str
    uses: dict[str, dict[str, str]]
    count: int = 8
    sorts: tuple[str, ...] = (start.GPU,)
    cpu: str = "64"
    memory: str = "512Gi"
    is_sized_by_component: bool = False  # cores and memory are parameters: the job asks for nothing

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks that run on these machines."""
        return tuple(name for name, start in STARTS.items() if set(start.machines) & set(self.sorts))


def _slice(name: str, memory: str) -> Hardware:
    """One slice of a TPU generation; the memory is half of a host's (axlearn, system_characteristics.py)."""
    return Hardware(f"GKE TPU {name}, one slice", {f"tpu-{name}": {}}, 0, (start.TPU,), cpu="32", memory=memory)


def _gib(machine: str, about: str, label: str) -> Hardware:
    uses = {"shm": {"size": "250Gi"}, "gke-gib": {"machine": label}}
    return Hardware(f"GKE {machine}, {about} with RDMA", uses)


def _nd(machine: str, about: str) -> Hardware:
    uses = {"shm": {"size": "64Gi"}, "aks-infiniband": {"machine": machine}}
    return Hardware(f"AKS {machine}, {about} with InfiniBand", uses)


def _oci(shape: str, about: str) -> Hardware:
    return Hardware(f"OCI {shape}, {about} with RDMA", {"shm": {"size": "32Gi"}, "oci-rdma": {"shape": shape}})


def _most(cores: int, gib: int) -> tuple[str, str]:
    """The cores and the memory that a job takes of a machine with so many cores and GiB, which it has alone.

    The rest is for the kubelet, DaemonSets and, on machines with EFA, 10 GiB of huge pages.
    """
    return str(cores * 15 // 16), f"{gib * 7 // 8}Gi"


def _neuron(instance: str) -> Hardware:
    about = f"EKS {instance}, Trainium with EFA; a process for each of 32 cores"
    cpu, memory = _most(128, 512)
    return Hardware(about, {"aws-neuron": {"instance": instance}}, 32, (start.NEURON,), cpu=cpu, memory=memory)


def _efa(instance: str, about: str, cores: int = 192, gib: int = 2048) -> Hardware:
    """An instance of so many cores and GiB (torchx, named_resources_aws.py, which takes them from Amazon's pages)."""
    uses = {"shm": {}, "aws-efa": {"instance": instance}}
    cpu, memory = _most(cores, gib)
    return Hardware(f"EKS {instance}, {about} with EFA", uses, sorts=(start.GPU, start.EFA), cpu=cpu, memory=memory)


HARDWARE = {
    "gke-a3-mega": Hardware("GKE a3-megagpu-8g, H100 with TCPXO", {"shm": {"size": "128Gi"}, "gke-tcpxo": {}}),
    "gke-a3-high": Hardware("GKE a3-highgpu-8g, H100 with TCPX", {"shm": {"size": "128Gi"}, "gke-tcpx": {}}),
    "gke-a3-ultra": _gib("a3-ultragpu-8g", "H200", "nvidia-h200-141gb"),
    "gke-a4": _gib("a4-highgpu-8g", "B200", "nvidia-b200"),
    "gke-a4x": Hardware(
        "GKE a4x-highgpu-4g, GB200 in one NVLink domain",
        {"shm": {"size": "250Gi"}, "gke-a4x": {}},
        4,
        is_sized_by_component=True,
    ),
    "aks-nd-a100": _nd("Standard_ND96asr_v4", "A100"),
    "aks-nd-a100-80gb": _nd("Standard_ND96amsr_A100_v4", "A100 of 80 GB"),
    "aks-nd-h100": _nd("Standard_ND96isr_H100_v5", "H100"),
    "aks-nd-h200": _nd("Standard_ND96isr_H200_v5", "H200"),
    "oci-h100": _oci("BM.GPU.H100.8", "H100"),
    "oci-h200": _oci("BM.GPU.H200.8", "H200"),
    "oci-b200": _oci("BM.GPU.B200.8", "B200"),
    "eks-trn1": _neuron("trn1.32xlarge"),
    "eks-trn1n": _neuron("trn1n.32xlarge"),
    "eks-p4d": _efa("p4d.24xlarge", "A100", 96, 1152),
    "eks-p4de": _efa("p4de.24xlarge", "A100", 96, 1152),
    "eks-p5": _efa("p5.48xlarge", "H100"),
    "eks-p5e": _efa("p5e.48xlarge", "H200"),
    "eks-p5en": _efa("p5en.48xlarge", "H200"),
    "eks-p6-b200": _efa("p6-b200.48xlarge", "B200"),
    "eks-p6-b300": _efa("p6-b300.48xlarge", "B300", gib=4096),
    "tpu-v4": _slice("v4", "200Gi"),
    "tpu-v5e": _slice("v5e", "96Gi"),
    "tpu-v5p": _slice("v5p", "220Gi"),
    "tpu-v6e": _slice("v6e", "360Gi"),
    "tpu-7x": _slice("7x", "480Gi"),
}
