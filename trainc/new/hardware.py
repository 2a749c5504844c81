"""The machines that `trainc new --on` knows: which components each of them needs, and what a pod gets of it."""

from __future__ import annotations

GPU = "nvidia.com/gpu"
_GPU_FRAMEWORKS = (
    "torch",
    "jax",
    "tensorflow",
    "paddle",
    "xgboost",
    "lightgbm",
    "deepspeed",
    "mlx",
    "mpi",
    "plain",
)
_TPU_FRAMEWORKS = ("jax", "plain")


class Hardware:
    """A machine type: components with the values of their parameters, and the accelerators of one pod.

    `count` is 0 where the component's topology decides it, which then decides the number of nodes as well. `cpu` and
    `memory` are what a job asks for that says nothing else: about half of the machine.
    """

    __slots__ = ("about", "count", "cpu", "frameworks", "memory", "uses")

    def __init__(
        self,
        about: str,
        uses: dict[str, dict[str, str]],
        count: int = 8,
        frameworks: tuple[str, ...] = _GPU_FRAMEWORKS,
        *,
        cpu: str = "64",
        memory: str = "512Gi",
    ) -> None:
        self.cpu = cpu
        self.memory = memory
        self.about = about
        self.uses = uses
        self.count = count
        self.frameworks = frameworks


def _slice(name: str, memory: str) -> Hardware:
    """One slice of a TPU generation; the memory is half of a host's (axlearn, system_characteristics.py)."""
    return Hardware(f"GKE TPU {name}, one slice", {f"tpu-{name}": {}}, 0, _TPU_FRAMEWORKS, cpu="32", memory=memory)


def _efa(instance: str, about: str) -> Hardware:
    uses = {"shm": {}, "aws-efa": {"instance": instance}}
    return Hardware(f"EKS {instance}, {about} with EFA", uses, frameworks=(*_GPU_FRAMEWORKS, "flux"))


HARDWARE = {
    "gke-a3-mega": Hardware("GKE a3-megagpu-8g, H100 with TCPXO", {"shm": {"size": "128Gi"}, "gke-tcpxo": {}}),
    "eks-p4d": _efa("p4d.24xlarge", "A100"),
    "eks-p4de": _efa("p4de.24xlarge", "A100"),
    "eks-p5": _efa("p5.48xlarge", "H100"),
    "eks-p5e": _efa("p5e.48xlarge", "H200"),
    "eks-p5en": _efa("p5en.48xlarge", "H200"),
    "eks-p6-b200": _efa("p6-b200.48xlarge", "B200"),
    "eks-p6-b300": _efa("p6-b300.48xlarge", "B300"),
    "tpu-v4": _slice("v4", "200Gi"),
    "tpu-v5e": _slice("v5e", "96Gi"),
    "tpu-v5p": _slice("v5p", "220Gi"),
    "tpu-v6e": _slice("v6e", "360Gi"),
    "tpu-7x": _slice("7x", "480Gi"),
}
