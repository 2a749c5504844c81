"""What the workloads of a dump use of their queues' quota."""

from __future__ import annotations

from trainc.apiserver.pods.requests import amounts
from trainc.cluster.capacity.amounts import units
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cluster.capacity.facts import ClusterFacts
    from trainc.cluster.capacity.queues import Cell
    from trainc.model.tree import Tree


def quota_used(facts: ClusterFacts) -> dict[str, dict[Cell, int]]:
    """What is in use of each flavor and resource, by queue."""
    used: dict[str, dict[Cell, int]] = {}
    for tree in facts.objects.get("Workload", {}).values():
        admission = get(tree, "status", "admission")
        queue = value(admission, "clusterQueue")
        if type(queue) is not str or _is_finished(tree):
            continue
        cells = used.setdefault(queue, {})
        listed = get(admission, "podSetAssignments")
        for assignment in listed if type(listed) is list else []:
            flavors = plain(get(assignment, "flavors"))
            for name, amount in amounts(get(assignment, "resourceUsage")).items():
                if type(flavors) is dict and name in flavors:
                    cell = (flavors[name], name)
                    cells[cell] = cells.get(cell, 0) + units(name, amount.quantity)
    return used


def _is_finished(tree: Tree) -> bool:
    conditions = get(tree, "status", "conditions")
    return any(
        value(one, "type") == "Finished" and value(one, "status") == "True"
        for one in (conditions if type(conditions) is list else [])
    )
