"""Machines that cloud providers rent out: accelerators, network cards, what their nodes are labelled.

Read 2026-08 from the providers' machine pages, from torchx's `named_resources_aws.py` (EFA cards), and from the
launchers xpk and axlearn (TPU tables). Where sources disagree a number is left out: p6e-gb200 has 16 EFA interfaces per
torchx and 4 per the awsome-distributed-training recipes. CPUs are threads, two for an OCPU; a provider's GB count as GiB.
"""

from typing import NamedTuple

from trainc.text.object_keys import GPU_RESOURCE, NEURON_RESOURCE, TPU_RESOURCE
from trainc.text.spelling import intended

MOST_CPUS = 4096  # above the largest machines that clouds offer
INSTANCE_LABELS = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
    "cloud.google.com/machine-family",
)
# GKE's accelerator label, where it names one machine (cloud.google.com/gke-accelerator).
ACCELERATOR = "cloud.google.com/gke-accelerator"
ACCELERATORS = {
    "nvidia-h100-mega-80gb": "a3-megagpu-8g",
    "nvidia-h200-141gb": "a3-ultragpu-8g",
    "nvidia-b200": "a4-highgpu-8g",
    "nvidia-gb200": "a4x-highgpu-4g",
}
_SMALL = frozenset(((1, 1, 1), (1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (2, 2, 4), (2, 4, 4)))
_FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
# Labels of cloud.google.com/gke-tpu-accelerator (axlearn, xpk; shapes from xpk's generate_tpu_topologies).
# An annotation by which GKE cuts a slice out of a larger node pool, or puts one together from several.
SLICE = "cloud.google.com/gke-tpu-slice-topology"
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
    EFA, "rdma/", "nvidia.com/rdma", "nvidia.com/mlnxnics", "nvidia.com/hostdev", "networking.gke.io.networks/",
)  # fmt: skip
_SHORT = 8  # letters of a domain in which one wrong letter may give another vendor's


class Machine(NamedTuple):
    """How many accelerators of `resource` one machine has, and how many RDMA network cards, CPUs and GiB (0: not known)."""

    name: str
    resource: str
    devices: int
    cards: int = 0
    cpus: int = 0
    gib: int = 0


MACHINES = {
    m.name: m
    for m in (
        Machine("p3.16xlarge", GPU_RESOURCE, 8, cpus=64, gib=488),
        Machine("p3dn.24xlarge", GPU_RESOURCE, 8, 1, cpus=96, gib=768),
        Machine("p4d.24xlarge", GPU_RESOURCE, 8, 4, cpus=96, gib=1152),
        Machine("p4de.24xlarge", GPU_RESOURCE, 8, 4, cpus=96, gib=1152),
        Machine("p5.48xlarge", GPU_RESOURCE, 8, 32, cpus=192, gib=2048),
        Machine("p5e.48xlarge", GPU_RESOURCE, 8, 32, cpus=192, gib=2048),
        Machine("p5en.48xlarge", GPU_RESOURCE, 8, 16, cpus=192, gib=2048),
        Machine("p6-b200.48xlarge", GPU_RESOURCE, 8, 8, cpus=192, gib=2048),
        Machine("p6-b300.48xlarge", GPU_RESOURCE, 8, 16, cpus=192, gib=4096),
        Machine("p6e-gb200.36xlarge", GPU_RESOURCE, 4, cpus=144, gib=960),
        Machine("g5.12xlarge", GPU_RESOURCE, 4, 1, cpus=48, gib=192),
        Machine("g5.24xlarge", GPU_RESOURCE, 4, 1, cpus=96, gib=384),
        Machine("g5.48xlarge", GPU_RESOURCE, 8, 1, cpus=192, gib=768),
        Machine("g5.xlarge", GPU_RESOURCE, 1, cpus=4, gib=16),
        Machine("g5.2xlarge", GPU_RESOURCE, 1, cpus=8, gib=32),
        Machine("g5.4xlarge", GPU_RESOURCE, 1, cpus=16, gib=64),
        Machine("g5.8xlarge", GPU_RESOURCE, 1, 1, cpus=32, gib=128),
        Machine("g5.16xlarge", GPU_RESOURCE, 1, 1, cpus=64, gib=256),
        Machine("g6.12xlarge", GPU_RESOURCE, 4, 1, cpus=48, gib=192),
        Machine("g6.48xlarge", GPU_RESOURCE, 8, 1, cpus=192, gib=768),
        Machine("g6e.12xlarge", GPU_RESOURCE, 4, 1, cpus=48, gib=384),
        Machine("g6e.48xlarge", GPU_RESOURCE, 8, 4, cpus=192, gib=1536),
        Machine("trn1.32xlarge", NEURON_RESOURCE, 16, 8, cpus=128, gib=512),
        Machine("trn1n.32xlarge", NEURON_RESOURCE, 16, 16, cpus=128, gib=512),
        Machine("a2-highgpu-8g", GPU_RESOURCE, 8, cpus=96, gib=680),
        Machine("a2-ultragpu-8g", GPU_RESOURCE, 8, cpus=96, gib=1360),
        Machine("a2-megagpu-16g", GPU_RESOURCE, 16, cpus=96, gib=1360),
        Machine("a3-highgpu-8g", GPU_RESOURCE, 8, cpus=208, gib=1872),
        Machine("a3-megagpu-8g", GPU_RESOURCE, 8, cpus=208, gib=1872),
        Machine("a3-ultragpu-8g", GPU_RESOURCE, 8, cpus=224, gib=2952),
        Machine("a4-highgpu-8g", GPU_RESOURCE, 8, cpus=224, gib=3968),
        Machine("a4x-highgpu-4g", GPU_RESOURCE, 4, cpus=140, gib=884),
        Machine("a4x-maxgpu-4g-metal", GPU_RESOURCE, 4),
        Machine("ct4p-hightpu-4t", TPU_RESOURCE, 4, cpus=240, gib=407),
        Machine("ct5p-hightpu-1t", TPU_RESOURCE, 1),
        Machine("ct5p-hightpu-2t", TPU_RESOURCE, 2),
        Machine("ct5p-hightpu-4t", TPU_RESOURCE, 4, cpus=208, gib=448),
        Machine("ct5lp-hightpu-1t", TPU_RESOURCE, 1, cpus=24, gib=48),
        Machine("ct5lp-hightpu-4t", TPU_RESOURCE, 4, cpus=112, gib=192),
        Machine("ct5lp-hightpu-8t", TPU_RESOURCE, 8, cpus=224, gib=384),
        Machine("ct6e-standard-1t", TPU_RESOURCE, 1),
        Machine("ct6e-standard-4t", TPU_RESOURCE, 4, cpus=180, gib=720),
        Machine("ct6e-standard-8t", TPU_RESOURCE, 8, cpus=180, gib=1440),
        Machine("tpu7x-standard-1t", TPU_RESOURCE, 1),
        Machine("tpu7x-standard-4t", TPU_RESOURCE, 4, cpus=224, gib=960),
        Machine("Standard_ND96asr_v4", GPU_RESOURCE, 8, 8, cpus=96, gib=900),
        Machine("Standard_ND96amsr_A100_v4", GPU_RESOURCE, 8, 8, cpus=96, gib=1900),
        Machine("Standard_ND96isr_H100_v5", GPU_RESOURCE, 8, 8, cpus=96, gib=1900),
        Machine("Standard_ND96isr_H200_v5", GPU_RESOURCE, 8, 8, cpus=96, gib=1850),
        Machine("BM.GPU.H100.8", GPU_RESOURCE, 8, cpus=224, gib=2048),
        Machine("BM.GPU.H200.8", GPU_RESOURCE, 8, cpus=224, gib=3072),
        Machine("BM.GPU.B200.8", GPU_RESOURCE, 8, cpus=256, gib=4096),
    )
}


class Generation(NamedTuple):
    """A TPU generation: its hosts hold any of `hosts` chips, its slices have shapes of a table or are made of cubes.

    `cubes` of 4x4x4 chips is the most that a slice may have; with `ascending` the sizes of a shape do not decrease.
    """

    name: str
    hosts: tuple[int, ...]
    topologies: tuple[str, ...] = ()
    cubes: int = 0
    ascending: bool = True

    def legal(self, sizes: tuple[int, ...]) -> bool:
        """Whether slices of that shape exist."""
        if self.topologies:
            return "x".join(map(str, sizes)) in self.topologies
        if sizes in _SMALL:
            return True
        if len(sizes) != 3 or not all(size and size % 4 == 0 for size in sizes):
            return False
        first, second, third = sizes
        in_order = first <= second <= third or not self.ascending
        return in_order and first * second * third <= self.cubes * 64

    def chips(self, total: int) -> tuple[int, ...]:
        """How many chips a pod may have in a slice of `total` chips: only hosts of four are joined to larger slices."""
        if not total:
            return self.hosts
        return tuple([chips for chips in self.hosts if chips == total or (chips == 4 and total % 4 == 0)])


GENERATIONS = {
    "tpu-v4-podslice": Generation("v4", (4,), cubes=64, ascending=False),
    "tpu-v5-lite-podslice": Generation("v5e", (1, 4, 8), _FLAT),
    "tpu-v5-lite-device": Generation("v5e", (1, 4, 8), _FLAT),
    "tpu-v5p-slice": Generation("v5p", (1, 2, 4), cubes=140),
    "tpu-v6e-slice": Generation("v6e", (1, 4, 8), _FLAT),
    "tpu7x": Generation("7x", (1, 4), cubes=144),
}


def device_kind(resource: str) -> str:
    """What kind of accelerator a resource counts, empty for other resources."""
    if (kind := DEVICES.get(resource)) is None and resource.startswith("nvidia.com/mig-"):
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
        is_name = name.lower() in (own_name, f"{own_name}s")
        is_exchanged = domain == own_domain and sorted(name.lower()) == sorted(own_name)
        if is_exchanged or (is_name and (domain == own_domain or _is_same_vendor(domain, own_domain))):
            return device
    return ""


def _is_same_vendor(domain: str, own: str) -> bool:
    """Whether a domain is a known one without its ending, with another ending, or with a letter wrong."""
    is_other_ending = own.rpartition(".")[0] in (domain, domain.rpartition(".")[0])
    return is_other_ending or (len(own) > _SHORT and own in intended(domain, (own,)))


def is_network(resource: str) -> bool:
    """Whether a resource counts RDMA-capable network cards."""
    return resource.startswith(NETWORK_PREFIXES)
