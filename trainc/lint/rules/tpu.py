"""TPU slices: topology, chips, hosts, slices."""

from collections.abc import Sequence
from math import prod

from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each, once
from trainc.lint.facts.values import substituted, table, text
from trainc.lint.tables.machines import GENERATIONS, SLICE
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.sourced import Span
from trainc.text.numbers import whole_number
from trainc.text.object_keys import EXCLUSIVE, KUEUE_QUEUE, TPU_RESOURCE

CHIPS = Rule("tpu-topology-mismatch", ERROR)
UNKNOWN = Rule("tpu-topology-unknown", ERROR)
GENERATION = Rule("tpu-accelerator-unknown", WARNING)
SELECTOR = Rule("tpu-selector-missing", ERROR)
HOST = Rule("tpu-chips-per-host", ERROR)
SINGLE = Rule("multislice-single-host", WARNING)
SHARED_POOLS = Rule("slices-share-node-pools", WARNING)
SLICES = Rule("multislice-half-set-up", WARNING)

ACCELERATOR, TOPOLOGY = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
# All that a slice is told of the others.
_MEGASCALE = ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "MEGASCALE_COORDINATOR_ADDRESS")


class _Slice:
    """What the pods of a role ask for in TPUs, by the first container that has `chips`.

    `topology` is that of the slice that the pods of one Job make: of a node pool, unless GKE makes the slice itself.
    `sizes` are those of the topology, empty where they are not known, `generation` what the accelerator is known as.
    """

    def __init__(self, role: ExpandedRole, container: Container, chips: int) -> None:
        self.role = role
        self.chips = chips
        self.accelerator = role.node_label(ACCELERATOR)
        self.generation = GENERATIONS.get(self.accelerator)
        self.topology = text(role.annotations, SLICE) or role.node_label(TOPOLOGY)
        sizes = [whole_number(part) for part in self.topology.lower().split("x")]
        self.sizes = tuple([size for size in sizes if size is not None]) if None not in sizes else ()
        self.chips_at = container.at("resources", "limits", TPU_RESOURCE)

    @property
    def topology_at(self) -> Span:
        """Where the topology is written."""
        if text(self.role.annotations, SLICE):
            return self.role.spec_at("template", "metadata", "annotations", SLICE)
        return self.role.job.at(self.role.node_labels[TOPOLOGY][1])

    @property
    def chips_on_host(self) -> Sequence[int]:
        """How many chips a pod can have; empty where that is not known, or several containers share them."""
        if self.generation is None or len([one for one in self.role.main if TPU_RESOURCE in one.devices]) > 1:
            return ()
        return self.generation.chips(prod(self.sizes) if self.sizes else 0)

    @property
    def accelerator_at(self) -> Span:
        """Where the accelerator is written."""
        return self.role.job.at(self.role.node_labels[ACCELERATOR][1])


@once
def _slices(job: Job) -> list[_Slice]:
    chosen = []
    for role in job.roles:
        counts = [(one, chips) for one in role.main if type(chips := one.devices.get(TPU_RESOURCE)) is int and chips]
        chosen += [_Slice(role, *one) for one in counts[:1]]
    return chosen


def tpu_topology_mismatch(slice_: _Slice) -> Findings:
    role, topology, sizes = slice_.role, slice_.topology, slice_.sizes
    chips, width, total = role.devices.get(TPU_RESOURCE), role.width, prod(sizes)
    if topology and not sizes:
        role.job.report.skip("a TPU topology is unknown")
    if not sizes or type(width) is not int or type(chips) is not int or width * chips == total:
        return
    on_host = slice_.chips_on_host
    if on_host and slice_.chips not in on_host and any(width * number == total for number in on_host):
        return  # the chips of a pod alone are wrong, and `tpu-chips-per-host` says so
    # Pods of one host each that fill a slice run all the same, each by itself; others find no slice that fits them.
    alone, made = chips == total, width * chips
    if alone:
        effect = "each pod gets its own slice, with no fast network to the others"
        help_ = f"choose a topology of {made} chips, unless each pod works independently"
    else:
        effect = "the pods stay pending: no slice fits, or the runtime waits for hosts that do not exist"
        hosts = total // chips if chips and total % chips == 0 else 0
        help_ = f"use {role.job.sized(role, hosts)}" if hosts else "choose the topology that matches these pods"
    pods = f"{width} pod{'s' if width != 1 else ''} of a Job of `{role.name}`"
    label, level = f"{total} chips here", WARNING if alone else ERROR
    message = f"topology `{topology}` has {total} chips, but the {pods} request {made}"
    also = [Label(role.spec_at("parallelism"), f"{width} pods"), Label(slice_.chips_at, f"{chips} chips each")]
    notes = (f"{' x '.join(map(str, sizes))} = {total} chips, {width} pods x {chips} chips = {made}",)
    at = slice_.topology_at
    yield CHIPS.at(at, message, label=label, also=also, effect=effect, help=help_, notes=notes, level=level)


def tpu_topology_unknown(slice_: _Slice) -> Findings:
    generation, topology, sizes = slice_.generation, slice_.topology, slice_.sizes
    if generation is None or not topology or "$" in topology or "{" in topology or "<" in topology:
        return
    if not sizes or not generation.legal(sizes):
        ascending, most = tuple(sorted(sizes)), generation.cubes * 64
        help_ = f"use 2x2x1, 2x2x2, 2x2x4, 2x4x4, or three sizes that are multiples of 4, with at most {most} chips"
        if generation.legal(ascending):
            help_ = f"write the sizes in ascending order: `{'x'.join(map(str, ascending))}`"
        elif generation.topologies:
            help_ = f"use one of {', '.join(generation.topologies)}"
        message = f"TPU {generation.name} has no topology `{topology}`"
        also = [Label(slice_.accelerator_at, f"TPU {generation.name}")]
        effect = "no node pool can use it: the pods stay pending"
        yield UNKNOWN.at(slice_.topology_at, message, also=also, effect=effect, help=help_)


def tpu_accelerator_unknown(slice_: _Slice) -> Findings:
    accelerator = slice_.accelerator
    is_open = substituted(accelerator) or "$" in accelerator or "<" in accelerator
    if accelerator and slice_.generation is None and not is_open:
        message = f"`{accelerator}` is not a known TPU accelerator"
        effect = "unless a node pool has it, the pods stay pending"
        help_ = f"known accelerators: {', '.join(f'`{name}`' for name in GENERATIONS)}"
        yield GENERATION.at(slice_.accelerator_at, message, effect=effect, help=help_)


def tpu_selector_missing(slice_: _Slice) -> Findings:
    role = slice_.role
    missing = [key for key in (ACCELERATOR, TOPOLOGY) if not role.node_label(key)]
    # Affinity, a compute class, a queue's flavor or a node pool may choose the nodes instead.
    others = [key for key in table(role.pod, "nodeSelector") if key not in (ACCELERATOR, TOPOLOGY)]
    is_placed = SLICE in role.annotations or "affinity" in role.pod or KUEUE_QUEUE in table(role.job.metadata, "labels")
    if missing and not is_placed and not any(key.startswith("cloud.google.com/") for key in others):
        keys = " and ".join(f"`{key}`" for key in missing)
        message = f"`{role.name}` requests TPU chips without the node selector {keys}"
        effect, help_ = "GKE rejects the pods, or finds no slice for them", "add both to the pod's `nodeSelector`"
        level = ERROR if len(missing) == 1 else WARNING
        yield SELECTOR.at(slice_.chips_at, message, effect=effect, help=help_, level=level)


def tpu_chips_per_host(slice_: _Slice) -> Findings:
    generation, chips, fitting = slice_.generation, slice_.chips, slice_.chips_on_host
    if generation is None or not fitting or chips in fitting:
        return
    hosts = " or ".join(map(str, fitting))
    host = f"a host of a `{slice_.topology}` slice of" if slice_.sizes else "a host of"
    message = f"a pod requests {chips} chip{'s' if chips != 1 else ''}, but {host} TPU {generation.name} has {hosts}"
    also = [Label(slice_.accelerator_at, f"TPU {generation.name}")]
    effect = "the pods stay pending: no node has that many, or GKE does not split a host"
    yield HOST.at(slice_.chips_at, message, also=also, effect=effect, help=f"request {hosts} chips in each pod")


def multislice_single_host(slice_: _Slice) -> Findings:
    role, sizes = slice_.role, slice_.sizes
    multi = any(container.sets("MEGASCALE_") for container in role.main)
    if sizes and type(role.replicas) is int and role.replicas > 1 and prod(sizes) == slice_.chips and multi:
        shape = "x".join(map(str, sizes))
        message = f"a `{shape}` slice is a single host, and `{role.name}` joins {role.replicas} of them"
        also = [Label(role.at("replicas"), f"{role.replicas} slices")]
        effect = "multislice is not supported between single-host slices"
        yield SINGLE.at(slice_.topology_at, message, also=also, effect=effect, help="use a topology with several hosts")


def _is_set(container: Container, name: str) -> bool:
    """Whether a container sets a variable; libtpu takes an empty one for one that is not set."""
    return name in container.env and container.value(name) != ""


def multislice_half_set_up(role: ExpandedRole) -> Findings:
    names = [name for name in _MEGASCALE if any(_is_set(container, name) for container in role.main)]
    # Without any the slices are separate, or a platform sets all three itself, as JobSet's own example leaves it to.
    if type(role.replicas) is not int or not names or TPU_RESOURCE not in role.devices:
        return
    missing: list[tuple[str, Span]] = []
    if role.replicas < 2:
        container = next(container for container in role.main if _is_set(container, names[0]))
        slices = container.value(_MEGASCALE[0])
        # A launcher writes the variables for one slice, too.
        if slices is None or (isinstance(slices, str) and slices not in ("", "1")):
            missing.append(("it has only one Job", container.env_at(names[0])))
    else:
        if len(names) < len(_MEGASCALE):
            lacking = ", ".join(f"`{name}`" for name in _MEGASCALE if name not in names)
            missing.append((f"{lacking} {'is' if len(names) == 2 else 'are'} not set", role.at("replicas")))
        if SLICE not in role.annotations and EXCLUSIVE not in _annotations(role.job, role):
            missing.append((f"the annotation `{EXCLUSIVE}` is missing", role.at("replicas")))
    for what, at in missing:
        message = f"`{role.name}` is configured for several TPU slices, but {what}"
        help_ = "use one complete configuration, such as the component `tpu-multislice`"
        yield SLICES.at(at, message, effect="the slices do not find each other, or they share a node pool", help=help_)


def _annotations(job: Job, role: ExpandedRole) -> set[str]:
    """The annotations of the JobSet and of the Jobs of a role."""
    return {*table(job.metadata, "annotations"), *table(role.job_metadata, "annotations")}


def slices_share_node_pools(job: Job) -> Findings:
    if any(key.startswith("kueue.x-k8s.io/") for key in table(job.metadata, "labels")):
        return  # the queue chooses the nodes
    if "MEGASCALE" in job.families:
        return  # a set-up of which a part is missing is told as a whole
    for role in job.roles:
        is_multislice = type(role.replicas) is int and role.replicas > 1 and type(role.size) is int and role.size > 1
        keys = {*_annotations(job, role), *role.annotations}
        is_placed = EXCLUSIVE in keys or any(key.startswith("kueue.x-k8s.io/podset") for key in keys)
        is_placed = is_placed or "affinity" in role.pod or "schedulingGates" in role.pod
        if is_multislice and TPU_RESOURCE in role.devices and not is_placed:
            message = f"no setting places each of the {role.replicas} slices of `{role.name}` on its own node pool"
            effect = "the pods of one slice may land on two node pools, and the slice never initializes"
            help_ = f"annotate the JobSet with `{EXCLUSIVE}: cloud.google.com/gke-nodepool`"
            yield SHARED_POOLS.at(role.at("replicas"), message, effect=effect, help=help_)


CHECKS = (
    each(lambda job: job.roles, multislice_half_set_up),
    each(
        _slices,
        tpu_topology_mismatch, tpu_topology_unknown, tpu_accelerator_unknown, tpu_selector_missing,
        tpu_chips_per_host, multislice_single_host,
    ),
    slices_share_node_pools,
)  # fmt: skip
