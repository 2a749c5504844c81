"""Whether a queue of Volcano can ever let a gang in: its state, and its capability and that of the queues above it."""

from __future__ import annotations

from trainc.capacity.amounts import spelled, units_of
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.capacity.facts import Facts
    from trainc.model.tree import Tree

_API = "scheduling.volcano.sh/"


def groups_of(objects: Iterable[Tree]) -> list[Tree]:
    """The PodGroups of Volcano among the objects of a job."""
    return [
        tree
        for tree in objects
        if value(tree, "kind") == "PodGroup" and str(value(tree, "apiVersion") or "").startswith(_API)
    ]


def refusal(facts: Facts, group: Tree) -> str:
    """Why the group's queue never lets it in, empty where it may or where the dump does not tell."""
    name = value(group, "spec", "queue") or "default"
    needed = units_of(get(group, "spec", "minResources"))
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        queue = facts.find("Queue", name)
        if queue is None:
            return ""
        state = value(queue, "status", "state")
        if state and state != "Open":
            return f"Volcano's queue `{name}` is {str(state).lower()}"
        capability = units_of(get(queue, "spec", "capability"))
        for resource, amount in sorted(needed.items()):
            most = capability.get(resource)
            if most is not None and amount > most:
                return (
                    f"the group needs {spelled(resource, amount)} {resource} at once, "
                    f"and Volcano's queue `{name}` is capable of {spelled(resource, most)}"
                )
        name = value(queue, "spec", "parent") or ""
    return ""
