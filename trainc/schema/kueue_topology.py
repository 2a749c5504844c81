"""Kueue's rules for topology annotations on the pod templates of a JobSet."""

from __future__ import annotations

from trainc.model.tree import dotted
from trainc.schema.celrun import bare
from trainc.schema.fault import Fault, invalid, of_webhook, quoted
from trainc.schema.names import qualified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trainc.model.tree import Path, Tree

_DOMAIN = "kueue.x-k8s.io/"
REQUIRED = f"{_DOMAIN}podset-required-topology"
PREFERRED = f"{_DOMAIN}podset-preferred-topology"
UNCONSTRAINED = f"{_DOMAIN}podset-unconstrained-topology"
SLICE = f"{_DOMAIN}podset-slice-required-topology"
SLICE_SIZE = f"{_DOMAIN}podset-slice-size"
LAYERS = f"{_DOMAIN}podset-slice-required-topology-constraints"
GROUP = f"{_DOMAIN}podset-group-name"
# What Go's strconv.ParseBool takes.
_BOOLEANS = frozenset(["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"])


class PodSet:
    """One replicatedJob as Kueue counts it: its annotations, where they stand, and its number of pods."""

    __slots__ = ("annotations", "count", "path")

    def __init__(self, index: int, job: Tree) -> None:
        self.path: Path = ("spec", "replicatedJobs", index, "template", "spec", "template", "metadata", "annotations")
        # An update may lack what a webhook fills in on create.
        spec = job.get("template", {}).get("spec", {})
        metadata = spec.get("template", {}).get("metadata", {})
        self.annotations = {key: bare(leaf) for key, leaf in metadata.get("annotations", {}).items()}
        parallelism = _count(spec, "parallelism", 1)
        self.count = _count(job, "replicas", 1) * min(parallelism, _count(spec, "completions", parallelism))

    def fault(self, key: str, value: object, reason: str) -> Fault:
        return of_webhook(invalid(self.place(key), value, reason), (*self.path, key), value)

    def place(self, key: str) -> str:
        return f"{dotted(self.path)}[{key}]"

    def other(self, key: str, text: str) -> Fault:
        return of_webhook(f"{self.place(key)}: {text}", (*self.path, key))


def _count(holder: Tree, name: str, default: int) -> int:
    value = bare(holder.get(name))
    return value if type(value) is int else default


def topology_faults(tree: Tree) -> list[Fault]:
    """What Kueue has against the topology annotations; an annotation it cannot parse is the only thing it tells."""
    jobs = tree["spec"].get("replicatedJobs", ()) if type(tree.get("spec")) is dict else ()
    sets = [PodSet(index, job) for index, job in enumerate(jobs)]
    if not any(key.startswith(_DOMAIN) for podset in sets for key in podset.annotations):
        return []
    for podset in sets:
        broken = _unreadable(podset)
        if broken is not None:
            return [broken]
    faults = [fault for podset in sets for fault in _podset(podset)]
    return [*faults, *_groups(sets)]


def _unreadable(podset: PodSet) -> Fault | None:
    value = podset.annotations.get(UNCONSTRAINED)
    if value is not None and value not in _BOOLEANS:
        text = f"strconv.ParseBool: parsing {quoted(value)}: invalid syntax"
        return of_webhook(text, (*podset.path, UNCONSTRAINED), value)
    layers = podset.annotations.get(LAYERS)
    if layers is not None and _layers(layers) is None:
        text = f"failed to parse multi-layer topology constraints annotation: {_go_json_fault(layers)}"
        return of_webhook(text, (*podset.path, LAYERS), layers)
    return None


def _layers(text: str) -> list[dict[str, Any]] | None:
    import json  # noqa: PLC0415 (only this annotation holds JSON)

    try:
        found = json.loads(text)
    except ValueError:
        return None
    fits = type(found) is list and all(type(item) is dict for item in found)
    return found if fits else None


def _go_json_fault(text: str) -> str:
    start = text.lstrip()[:1]
    if not start:
        return "unexpected end of JSON input"
    return f"invalid character '{start}' looking for beginning of value"


def _podset(podset: PodSet) -> list[Fault]:
    held = podset.annotations
    faults: list[Fault] = []
    kinds = (REQUIRED, PREFERRED, UNCONSTRAINED)
    if sum(key in held for key in kinds) > 1:
        text = f"must not contain more than one topology annotation: [{', '.join(map(quoted, kinds))}]"
        faults.append(of_webhook(f"{dotted(podset.path)}: Invalid value: {text}", podset.path))
    for key in (REQUIRED, PREFERRED, SLICE):
        if key in held:
            faults += [podset.fault(key, held[key], reason) for reason in qualified(held[key])]
    return [*faults, *_slice(podset), *_layered(podset), *_group_name(podset)]


def _slice(podset: PodSet) -> list[Fault]:
    size = podset.annotations.get(SLICE_SIZE)
    if size is None:
        text = f"Required value: must be set when '{SLICE}' is specified"
        return (
            [podset.other(SLICE_SIZE, text)] if SLICE in podset.annotations and LAYERS not in podset.annotations else []
        )
    if LAYERS in podset.annotations:
        return []
    if SLICE not in podset.annotations:
        return [podset.other(SLICE_SIZE, f"Forbidden: may not be set when '{SLICE}' is not specified")]
    if not size.lstrip("+-").isdigit():
        return [podset.fault(SLICE_SIZE, size, "must be a numeric value")]
    if int(size) < 1:
        return [podset.fault(SLICE_SIZE, size, "must be greater than or equal to 1")]
    if int(size) > podset.count:
        return [podset.fault(SLICE_SIZE, size, f"must not be greater than pod set count {podset.count}")]
    return []


def _layered(podset: PodSet) -> list[Fault]:
    text = podset.annotations.get(LAYERS)
    if text is None:
        return []
    clashes = [key for key in (SLICE, SLICE_SIZE, GROUP) if key in podset.annotations]
    if clashes:
        return [podset.other(LAYERS, f"Forbidden: may not be set when '{key}' is specified") for key in clashes]
    layers = _layers(text) or []
    if not 1 <= len(layers) <= 3:
        return [podset.fault(LAYERS, text, "must have between 1 and 3 layers")]
    faults: list[Fault] = []
    seen: set[str] = set()
    for index, layer in enumerate(layers):
        topology, size = layer.get("topology", ""), layer.get("size", 0)
        place = f"{podset.place(LAYERS)}[{index}]"
        where = (*podset.path, LAYERS)
        if topology in seen:
            faults.append(of_webhook(f"{place}.topology: Duplicate value: {quoted(topology)}", where))
        seen.add(topology)
        faults += [of_webhook(invalid(f"{place}.topology", topology, reason), where) for reason in qualified(topology)]
        if size < 1:
            faults.append(of_webhook(invalid(f"{place}.size", size, "must be greater than or equal to 1"), where))
        elif index and layers[index - 1].get("size", 0) % size:
            parent = layers[index - 1]["size"]
            text = f"must evenly divide the parent layer size {parent}"
            faults.append(of_webhook(invalid(f"{place}.size", size, text), where))
    return faults


def _group_name(podset: PodSet) -> list[Fault]:
    held = podset.annotations
    name = held.get(GROUP)
    if name is None:
        return []
    faults: list[Fault] = []
    if name.isascii() and name.isdigit():
        faults.append(podset.fault(GROUP, name, "must not be a number"))
    if REQUIRED not in held and PREFERRED not in held:
        faults.append(
            podset.other(GROUP, f"Forbidden: may not be set when neither '{PREFERRED}' nor '{REQUIRED}' is specified")
        )
    clashes = [key for key in (SLICE, SLICE_SIZE) if key in held]
    return [*faults, *(podset.other(GROUP, f"Forbidden: may not be set when '{key}' is specified") for key in clashes)]


def _groups(sets: Iterable[PodSet]) -> list[Fault]:
    groups: dict[str, list[PodSet]] = {}
    for podset in sets:
        if GROUP in podset.annotations:
            groups.setdefault(podset.annotations[GROUP], []).append(podset)
    faults: list[Fault] = []
    for name, members in groups.items():
        # A name that is a number has been refused as such.
        if not name.isdigit():
            reason = _group_reason(members)
            faults += [member.fault(GROUP, name, reason) for member in members if reason]
    return faults


def _group_reason(members: list[PodSet]) -> str:
    if len(members) != 2:
        return f"can only define groups of exactly 2 pod sets, got: {len(members)} pod set(s)"
    first, second = members
    if first.count != 1 and second.count != 1:
        return (
            "can only define groups where at least one pod set has only 1 replica, "
            f"got: {first.count} replica(s) and {second.count} replica(s) in the group"
        )
    if any(first.annotations.get(key) != second.annotations.get(key) for key in (REQUIRED, PREFERRED)):
        return "must have the same topology request in both pod sets of the group"
    return ""
