"""What keeps a PodGroup from ever letting its pods start: its minimum, its queue, what it asks for in all.

Queues of Volcano after its proportion and capacity plugins (main ed72c7c815a9).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from trainc.cluster.capacity.amounts import Units, added, spelled, subtracted, summed, units_of
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.pods import jobs_of, pods_of
from trainc.model.tree import Path, Tree, get, value
from trainc.text.object_keys import API_GROUPS, COSCHEDULING_LABEL, NATIVE_FIELD, VOLCANO_GROUP

_MINIMUM: dict[str, Path] = {
    "volcano": ("spec", "minMember"),
    "coscheduling": ("spec", "minMember"),
    "native": ("spec", "schedulingPolicy", "gang", "minCount"),
}
_METADATA = ("template", "spec", "template", "metadata")
_TIES: dict[str, Path] = {
    "volcano": (*_METADATA, "annotations", VOLCANO_GROUP),
    "coscheduling": (*_METADATA, "labels", COSCHEDULING_LABEL),
    "native": ("template", "spec", "template", "spec", NATIVE_FIELD, "podGroupName"),
}
_ROOT = "root"


class GroupRefusal(NamedTuple):
    """Why a group does not start. `is_final` where neither time nor more nodes help."""

    path: Path  # in the group
    reason: str
    change: str
    is_final: bool


def back_end(group: Tree) -> str:
    """Whose PodGroup this is, empty for another object."""
    if value(group, "kind") != "PodGroup":
        return ""
    return API_GROUPS.get(str(value(group, "apiVersion") or "").partition("/")[0], "")


def groups_of(objects: Iterable[Tree]) -> list[Tree]:
    return [tree for tree in objects if back_end(tree)]


def group_refusal(
    facts: ClusterFacts, jobset: Tree, groups: Sequence[Tree], used: Mapping[str, Units]
) -> GroupRefusal | None:
    """The first refusal of a job's groups; `used` is what other groups hold of Volcano's queues."""
    return next((refusal for group in groups for refusal in _refusals(facts, jobset, group, used)), None)


def _refusals(facts: ClusterFacts, jobset: Tree, group: Tree, used: Mapping[str, Units]) -> Iterator[GroupRefusal]:
    kind = back_end(group)
    name = value(group, "metadata", "name")
    tied = sum(pods_of(job) for job in jobs_of(jobset) if value(job, *_TIES[kind]) == name)
    minimum = value(group, *_MINIMUM[kind])
    if tied and type(minimum) is int and minimum > tied:
        reason = f"the group waits for {minimum} pods, and {tied} of this job belong to it"
        yield GroupRefusal(_MINIMUM[kind], reason, f"set `{_MINIMUM[kind][-1]}` to {tied}", is_final=True)
    if kind == "volcano":
        for reason, is_final in queue_refusals(facts, group, used):
            change = "request fewer or smaller pods, or name another queue"
            yield GroupRefusal(("spec", "queue"), reason, change, is_final)
    elif kind == "coscheduling":
        # Coscheduling compares what a group asks for with what all nodes have free, whether its pods may run there or not.
        needed = units_of(get(group, "spec", "minResources"))
        if not facts.has_nodes or not needed:
            return
        total = summed(node.free(is_idle=True) for node in facts.nodes.values())
        for name, amount in sorted(needed.items()):
            if amount > (most := total.get(name, 0)):
                have = f"all nodes have {spelled(name, most)}"
                reason = f"the group needs {spelled(name, amount)} {name} at once, and {have}"
                change = "lower `minResources`, or add nodes"
                yield GroupRefusal(("spec", "minResources"), reason, change, is_final=False)


def queue_of(group: Tree) -> str:
    return value(group, "spec", "queue") or "default"


def queue_refusals(facts: ClusterFacts, group: Tree, used: Mapping[str, Units]) -> Iterator[tuple[str, bool]]:
    """Why the group's queue does not let it in, and whether neither time nor more nodes change that.

    `used` is what other groups hold of each queue. What the dump does not tell is no reason.
    """
    name, seen = queue_of(group), set[str]()
    needed = units_of(get(group, "spec", "minResources"))
    if facts.objects.get("Queue") and facts.find("Queue", name) is None:
        yield f"Volcano has no queue `{name}`", True
    queues = facts.objects.get("Queue", {}).items()
    if any(other != name and value(queue, "spec", "parent") == name for other, queue in queues):
        yield f"Volcano's queue `{name}` has child queues, and takes no PodGroups itself", True
    held: Units = {}
    while name and name not in seen:
        seen.add(name)
        if (queue := facts.find("Queue", name)) is None:
            return
        if (state := value(queue, "status", "state")) and state != "Open":
            yield f"Volcano's queue `{name}` is {str(state).lower()}", True
        capability = units_of(get(queue, "spec", "capability"))
        yield from _beyond(needed, {}, capability, f"Volcano's queue `{name}` is capable of")
        held = added(held, used.get(name, {}))
        yield from _beyond(needed, held, capability, f"Volcano's queue `{name}` is capable of")
        above = value(queue, "spec", "parent") or ""
        if above in {"", _ROOT}:
            yield from _not_guaranteed(facts, name, needed)
        name = above


def _beyond(needed: Units, held: Units, most: Units, words: str) -> Iterator[tuple[str, bool]]:
    for resource, amount in sorted(needed.items()):
        limit, others = most.get(resource), held.get(resource, 0)
        if limit is not None and amount > 0 and amount + others > limit:
            beside = f", of which others hold {spelled(resource, others)}" if others else ""
            have = f"{words} {spelled(resource, limit)}{beside}"
            yield f"the group needs {spelled(resource, amount)} {resource} at once, and {have}", not others


def _not_guaranteed(facts: ClusterFacts, name: str, needed: Units) -> Iterator[tuple[str, bool]]:
    """What other queues are guaranteed is not there for this one, even while they do not use it."""
    if not facts.has_nodes:
        return
    total = summed(node.allocatable for node in facts.nodes.values() if node.is_ready)
    queues = facts.objects.get("Queue", {}).items()
    guaranteed = [get(queue, "spec", "guarantee", "resource") for other, queue in queues if other not in (name, _ROOT)]
    others = summed(map(units_of, guaranteed))
    for resource, amount in sorted(needed.items()):
        kept = others.get(resource, 0)
        left = max(0, subtracted(total, others).get(resource, 0))
        if kept and amount > left:
            have = f"the nodes have {spelled(resource, left)} after what Volcano guarantees to other queues"
            yield f"the group needs {spelled(resource, amount)} {resource} at once, and {have}", False
