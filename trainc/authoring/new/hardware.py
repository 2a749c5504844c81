"""The machines that `trainc new --on` knows: which components each of them needs, and what a pod gets of it."""

from __future__ import annotations

from trainc.authoring.new.starts import suiting
from trainc.model import patches as start


class Hardware:
    """A machine type: components with the values of their parameters, and the accelerators of one pod.

    `count` is 0 where the component's topology decides it, which then decides the number of nodes as well. `cpu` and
    `memory` are what a job asks for that says nothing else: most of the machine on EKS, about half elsewhere. `sorts`
    are words of `trainc/model/patches.py`: a framework says there which of them it runs on.
    """

    __slots__ = ("about", "count", "cpu", "is_sized_by_component", "memory", "sorts", "uses")

    def __init__(
        self,
        about: str,
        uses: dict[str, dict[str, str]],
        count: int = 8,
        sorts: tuple[str, ...] = (start.GPU,),
        *,
        cpu: str = "64",
        memory: str = "512Gi",
        is_sized_by_component: bool = False,
    ) -> None:
        self.is_sized_by_component = is_sized_by_component  # cores and memory are parameters: the job asks for nothing
        self.cpu = cpu
        self.memory = memory
        self.about = about
        self.uses = uses
        self.count = count
        self.sorts = sorts

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks that run on these machines."""
        return suiting(self.sorts)


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
