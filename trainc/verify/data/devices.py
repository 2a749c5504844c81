"""Extended resources that are accelerators or network cards, by kind.

Sources: device plugin documentation of NVIDIA, AMD, Intel, Google Cloud, AWS Neuron, Habana, Huawei (read 2026-08).
"""

from __future__ import annotations

GPU, TPU, NEURON, MIG, GAUDI, NPU = "GPU", "TPU", "Neuron", "MIG slice", "Gaudi", "NPU"

DEVICES = {
    "nvidia.com/gpu": GPU,
    "nvidia.com/gpu.shared": MIG,
    "amd.com/gpu": GPU,
    "gpu.intel.com/i915": GPU,
    "gpu.intel.com/xe": GPU,
    "google.com/tpu": TPU,
    "aws.amazon.com/neuron": NEURON,
    "aws.amazon.com/neuroncore": NEURON,
    "aws.amazon.com/neurondevice": NEURON,
    "habana.ai/gaudi": GAUDI,
    "huawei.com/Ascend910": NPU,
    "huawei.com/ascend-1980": NPU,
}

NETWORK_PREFIXES = (
    "vpc.amazonaws.com/efa",
    "rdma/",
    "nvidia.com/rdma",
    "nvidia.com/mlnxnics",
    "nvidia.com/hostdev",
    "networking.gke.io.networks/",
)


def device_kind(resource: str) -> str:
    """What kind of accelerator a resource counts, empty for other resources."""
    kind = DEVICES.get(resource)
    if kind is None and resource.startswith("nvidia.com/mig-"):
        return MIG
    return kind or ""


def is_network(resource: str) -> bool:
    """Whether a resource counts RDMA-capable network cards."""
    return resource.startswith(NETWORK_PREFIXES)
