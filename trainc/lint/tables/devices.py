"""Extended resources that are accelerators or network cards, by kind.

Sources: device plugin documentation of NVIDIA, AMD, Intel, Google Cloud, AWS Neuron, Habana, Huawei (read 2026-08).
"""

from __future__ import annotations

from trainc.text.object_keys import GPU_RESOURCE, NEURON_RESOURCE, TPU_RESOURCE
from trainc.text.spelling import intended

GPU, TPU, NEURON, MIG, GAUDI, NPU = "GPU", "TPU", "Neuron", "MIG slice", "Gaudi", "NPU"

DEVICES = {
    GPU_RESOURCE: GPU,
    "nvidia.com/gpu.shared": MIG,
    "amd.com/gpu": GPU,
    "gpu.intel.com/i915": GPU,
    "gpu.intel.com/xe": GPU,
    TPU_RESOURCE: TPU,
    NEURON_RESOURCE: NEURON,
    "aws.amazon.com/neuroncore": NEURON,
    "aws.amazon.com/neurondevice": NEURON,
    "habana.ai/gaudi": GAUDI,
    "huawei.com/Ascend910": NPU,
    "huawei.com/ascend-1980": NPU,
}

EFA = "vpc.amazonaws.com/efa"
NETWORK_PREFIXES = (
    EFA,
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


def meant_device(resource: str) -> str:
    """The accelerator or card that a resource misspells, empty for every other resource.

    Only slips that no device plugin has for a name: a plural, capitals, letters exchanged, a vendor's domain that is
    misspelt or without its ending. `nvidia.com/gpu-h100` or `nvidia.com/vgpu` are names of their own.
    """
    domain, _, name = resource.partition("/")
    if not name or device_kind(resource) or resource == EFA:
        return ""
    for device in (*DEVICES, EFA):
        own_domain, _, own_name = device.partition("/")
        lower = name.lower()
        is_name = lower in (own_name, f"{own_name}s")
        if domain == own_domain and (is_name or sorted(lower) == sorted(own_name)):
            return device
        if is_name and _is_same_vendor(domain, own_domain):
            return device
    return ""


_SHORT = 8  # letters of a domain in which one wrong letter may give another vendor's


def _is_same_vendor(domain: str, own: str) -> bool:
    """Whether a domain is a known one without its ending, with another ending, or with a letter wrong."""
    vendor, _, _ = own.rpartition(".")
    if vendor in (domain, domain.rpartition(".")[0]):
        return True
    return len(own) > _SHORT and own in intended(domain, (own,))


def is_network(resource: str) -> bool:
    """Whether a resource counts RDMA-capable network cards."""
    return resource.startswith(NETWORK_PREFIXES)
