"""TPU slices: topology, chips, hosts, slices."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.values import substituted, table, text
from trainc.lint.tables.machines import GENERATIONS, SLICE, Generation
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.sourced import Span
from trainc.model.tree import Path
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


def _users(job: Job) -> Iterator[tuple[ExpandedRole, Container, int]]:
    """The first container of each role that has TPU chips, and how many."""
    for role in job.roles:
        for container in role.main:
            chips = container.devices.get(TPU_RESOURCE)
            if type(chips) is int and chips:
                yield role, container, chips
                break


def _topology(role: ExpandedRole) -> str:
    """The topology of the slice that the pods of one Job make: of a node pool, unless GKE makes the slice itself."""
    return text(role.annotations, SLICE) or role.node_label(TOPOLOGY)


def _topology_path(role: ExpandedRole) -> Path:
    if text(role.annotations, SLICE):
        return (*role.spec_path, "template", "metadata", "annotations", SLICE)
    return role.node_labels[TOPOLOGY][1]


def _sizes(topology: str) -> tuple[int, ...]:
    parts = topology.lower().split("x")
    return tuple(int(part) for part in parts) if all(whole_number(part) is not None for part in parts) else ()


def tpu_topology_mismatch(job: Job) -> Findings:
    for role, container, _ in _users(job):
        topology = _topology(role)
        sizes = _sizes(topology)
        chips = role.devices.get(TPU_RESOURCE)
        width, total = role.width, prod(sizes)
        if not sizes or type(width) is not int or type(chips) is not int or width * chips == total:
            if topology and not sizes:
                job.report.skip("a TPU topology is unknown")
            continue
        # Pods of one host each that fill a slice run all the same, each by itself; others find no slice that fits them.
        alone, made = chips == total, width * chips
        if alone:
            effect = "each pod gets its own slice, with no fast network to the others"
            help_ = f"choose a topology of {made} chips, unless each pod works independently"
        else:
            effect = "the pods stay pending: no slice fits, or the runtime waits for hosts that do not exist"
            hosts = total // chips if chips and total % chips == 0 else 0
            help_ = f"use {job.sized(role, hosts)}" if hosts else "choose the topology that matches these pods"
        pods = f"{width} pod{'s' if width != 1 else ''} of a Job of `{role.name}`"
        at, label, level = job.at(_topology_path(role)), f"{total} chips here", WARNING if alone else ERROR
        message = f"topology `{topology}` has {total} chips, but the {pods} request {made}"
        each = Label(container.at("resources", "limits", TPU_RESOURCE), f"{chips} chips each")
        also = [Label(role.spec_at("parallelism"), f"{width} pods"), each]
        notes = (f"{' x '.join(map(str, sizes))} = {total} chips, {width} pods x {chips} chips = {made}",)
        yield CHIPS.at(at, message, label=label, also=also, effect=effect, help=help_, notes=notes, level=level)


def tpu_topology_unknown(job: Job) -> Findings:
    for role, _, _ in _users(job):
        generation = GENERATIONS.get(role.node_label(ACCELERATOR))
        topology = _topology(role)
        sizes = _sizes(topology)
        if generation is None or not topology or "$" in topology or "{" in topology or "<" in topology:
            continue
        if not sizes or not generation.legal(sizes):
            message = f"TPU {generation.name} has no topology `{topology}`"
            also = [Label(job.at(role.node_labels[ACCELERATOR][1]), f"TPU {generation.name}")]
            effect = "no node pool can use it: the pods stay pending"
            help_ = _shapes(generation, sizes)
            yield UNKNOWN.at(job.at(_topology_path(role)), message, also=also, effect=effect, help=help_)


def _shapes(generation: Generation, sizes: tuple[int, ...]) -> str:
    ascending = tuple(sorted(sizes))
    if generation.legal(ascending):
        return f"write the sizes in ascending order: `{'x'.join(map(str, ascending))}`"
    if generation.topologies:
        return f"use one of {', '.join(generation.topologies)}"
    most = generation.cubes * 64
    return f"use 2x2x1, 2x2x2, 2x2x4, 2x4x4, or three sizes that are multiples of 4, with at most {most} chips"


def tpu_accelerator_unknown(job: Job) -> Findings:
    for role, _, _ in _users(job):
        accelerator = role.node_label(ACCELERATOR)
        is_open = substituted(accelerator) or "$" in accelerator or "<" in accelerator
        if accelerator and accelerator not in GENERATIONS and not is_open:
            message = f"`{accelerator}` is not a known TPU accelerator"
            effect = "unless a node pool has it, the pods stay pending"
            help_ = f"known accelerators: {', '.join(f'`{name}`' for name in GENERATIONS)}"
            yield GENERATION.at(job.at(role.node_labels[ACCELERATOR][1]), message, effect=effect, help=help_)


def tpu_selector_missing(job: Job) -> Findings:
    for role, container, _ in _users(job):
        missing = [key for key in (ACCELERATOR, TOPOLOGY) if not role.node_label(key)]
        if missing and not _placed_otherwise(job, role):
            at = container.at("resources", "limits", TPU_RESOURCE)
            message = f"`{role.name}` requests TPU chips without the node selector {' and '.join(f'`{key}`' for key in missing)}"
            effect = "GKE rejects the pods, or finds no slice for them"
            help_ = "add both to the pod's `nodeSelector`"
            yield SELECTOR.at(at, message, effect=effect, help=help_, level=ERROR if len(missing) == 1 else WARNING)


def _placed_otherwise(job: Job, role: ExpandedRole) -> bool:
    """Affinity, a compute class, a queue's flavor or a node pool may choose the nodes instead."""
    others = [key for key in table(role.pod, "nodeSelector") if key not in (ACCELERATOR, TOPOLOGY)]
    if SLICE in role.annotations or "affinity" in role.pod:
        return True
    return any(key.startswith("cloud.google.com/") for key in others) or KUEUE_QUEUE in table(job.metadata, "labels")


def tpu_chips_per_host(job: Job) -> Findings:
    for role, container, chips in _users(job):
        generation = GENERATIONS.get(role.node_label(ACCELERATOR))
        if generation is None or len([c for c in role.main if TPU_RESOURCE in c.devices]) > 1:
            continue
        sizes = _sizes(_topology(role))
        if not (fitting := generation.chips(prod(sizes) if sizes else 0)) or chips in fitting:
            continue
        hosts = " or ".join(map(str, fitting))
        host = f"a host of a `{_topology(role)}` slice of" if sizes else "a host of"
        at, also = (
            container.at("resources", "limits", TPU_RESOURCE),
            [Label(job.at(role.node_labels[ACCELERATOR][1]), f"TPU {generation.name}")],
        )
        message = (
            f"a pod requests {chips} chip{'s' if chips != 1 else ''}, but {host} TPU {generation.name} has {hosts}"
        )
        effect = "the pods stay pending: no node has that many, or GKE does not split a host"
        yield HOST.at(at, message, also=also, effect=effect, help=f"request {hosts} chips in each pod")


def multislice_single_host(job: Job) -> Findings:
    for role, _, chips in _users(job):
        sizes = _sizes(_topology(role))
        multi = any(name.startswith("MEGASCALE_") for container in role.main for name in container.env)
        if sizes and type(role.replicas) is int and role.replicas > 1 and prod(sizes) == chips and multi:
            message = f"a `{'x'.join(map(str, sizes))}` slice is a single host, and `{role.name}` joins {role.replicas} of them"
            also = [Label(role.at("replicas"), f"{role.replicas} slices")]
            effect = "multislice is not supported between single-host slices"
            help_ = "use a topology with several hosts"
            yield SINGLE.at(job.at(_topology_path(role)), message, also=also, effect=effect, help=help_)


# All that a slice is told of the others.
_MEGASCALE = ("MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID", "MEGASCALE_COORDINATOR_ADDRESS")


def multislice_half_set_up(role: ExpandedRole) -> Findings:
    names = [name for name in _MEGASCALE if any(name in container.env for container in role.main)]
    # Without any the slices are separate, or a platform sets all three itself, as JobSet's own example leaves it to.
    if type(role.replicas) is not int or not names or TPU_RESOURCE not in role.devices:
        return
    missing: list[tuple[str, Span]] = []
    if role.replicas < 2:
        container = next(one for one in role.main if names[0] in one.env)
        if container.value(_MEGASCALE[0]) != "1":  # a launcher writes them for one slice as for many
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
    return {*table(job.metadata, "annotations"), *table(table(table(role.tree, "template"), "metadata"), "annotations")}


def slices_share_node_pools(job: Job) -> Findings:
    if any(key.startswith("kueue.x-k8s.io/") for key in table(job.metadata, "labels")):
        return  # the queue chooses the nodes
    if "MEGASCALE" in job.families:
        return  # a set-up of which a part is missing is told as a whole
    for role in job.roles:
        is_multislice = type(role.replicas) is int and role.replicas > 1 and type(role.size) is int and role.size > 1
        if is_multislice and TPU_RESOURCE in role.devices and not _is_placed(job, role):
            message = f"no setting places each of the {role.replicas} slices of `{role.name}` on its own node pool"
            effect = "the pods of one slice may land on two node pools, and the slice never initializes"
            help_ = f"annotate the JobSet with `{EXCLUSIVE}: cloud.google.com/gke-nodepool`"
            yield SHARED_POOLS.at(role.at("replicas"), message, effect=effect, help=help_)


def _is_placed(job: Job, role: ExpandedRole) -> bool:
    keys = {*_annotations(job, role), *role.annotations}
    is_annotated = EXCLUSIVE in keys or any(key.startswith("kueue.x-k8s.io/podset") for key in keys)
    return is_annotated or "affinity" in role.pod or "schedulingGates" in role.pod


CHECKS = (
    *each(lambda job: job.roles, multislice_half_set_up),
    tpu_topology_mismatch, tpu_topology_unknown, tpu_accelerator_unknown, tpu_selector_missing, tpu_chips_per_host,
    multislice_single_host, slices_share_node_pools,
)  # fmt: skip
