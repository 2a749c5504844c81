"""Whether a queue of Volcano can let a gang in: its state, what it may use at most, and that of the queues above it.

After Volcano's proportion and capacity plugins (main ed72c7c815a9).
"""

from __future__ import annotations

from trainc.cluster.capacity.amounts import added, spelled, taken, units_of
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainc.cluster.capacity.amounts import Units
    from trainc.cluster.capacity.facts import ClusterFacts
    from trainc.model.tree import Tree

_ROOT = "root"


def queue_of(group: Tree) -> str:
    """The name of the queue that a group waits in."""
    return value(group, "spec", "queue") or "default"


def refusals(facts: ClusterFacts, group: Tree, used: Mapping[str, Units]) -> Iterator[tuple[str, bool]]:
    """Why the group's queue does not let it in, and whether neither time nor more nodes change that.

    `used` is what other groups hold of each queue. What the dump does not tell is no reason.
    """
    name, seen = queue_of(group), set[str]()
    needed = units_of(get(group, "spec", "minResources"))
    if facts.objects.get("Queue") and facts.find("Queue", name) is None:
        yield f"there is no queue `{name}` of Volcano", True
    queues = facts.objects.get("Queue", {}).items()
    if any(other != name and value(queue, "spec", "parent") == name for other, queue in queues):
        yield f"Volcano's queue `{name}` has queues below it, and takes no groups itself", True
    held: Units = {}
    while name and name not in seen:
        seen.add(name)
        queue = facts.find("Queue", name)
        if queue is None:
            return
        state = value(queue, "status", "state")
        if state and state != "Open":
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
    total: Units = {}
    for node in facts.nodes.values():
        total = added(total, node.allocatable if node.is_ready else {})
    others: Units = {}
    for other, queue in facts.objects.get("Queue", {}).items():
        if other not in (name, _ROOT):
            others = added(others, units_of(get(queue, "spec", "guarantee", "resource")))
    for resource, amount in sorted(needed.items()):
        kept = others.get(resource, 0)
        left = max(0, taken(total, others).get(resource, 0))
        if kept and amount > left:
            have = f"beside what Volcano guarantees to other queues the nodes have {spelled(resource, left)}"
            yield f"the group needs {spelled(resource, amount)} {resource} at once, and {have}", False
