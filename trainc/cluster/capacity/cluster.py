"""A cluster as Kueue's scheduler sees it in one cycle: quotas in their trees, and topologies with their nodes.

How much of a resource a queue may use, with cohorts, borrowing and lending: Kueue's pkg/cache/scheduler.
"""

from collections.abc import Mapping

from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.pods.requests import amounts
from trainc.cluster.capacity.amounts import Units, in_labels, minus, plus, times, units
from trainc.cluster.capacity.facts import Cell, ClusterFacts, ClusterQueue, Cohort, Quota
from trainc.cluster.capacity.nodes import Node
from trainc.cluster.capacity.topology import Topology
from trainc.cluster.capacity.verdict import KueueVerdict
from trainc.model.tree import get, plain, value
from trainc.text.object_keys import MULTIKUEUE

PROVISIONING = "kueue.x-k8s.io/provisioning-request"


class Snapshot:
    """The facts of a cluster with what is computed from them once; admitted workloads count unless it is idle."""

    def __init__(self, facts: ClusterFacts, *, is_idle: bool = True) -> None:
        self.facts = facts
        self.is_idle = is_idle
        self.pools = Pools(facts.queues, facts.cohorts, {} if is_idle else quota_used(facts))
        self._topologies: dict[str, Topology] = {}

    def topology(self, name: str) -> Topology:
        if name not in self._topologies:
            flavor = self.facts.flavors[name]
            levels = self.facts.levels(flavor.topology) or []
            nodes = [
                node
                for node in self.facts.nodes.values()
                if node.is_ready
                and not node.is_unschedulable
                and in_labels(flavor.labels, node.labels)
                and all(level in node.labels for level in levels)
            ]
            self._topologies[name] = Topology(flavor.topology, levels, nodes, flavor.tolerations, is_idle=self.is_idle)
        return self._topologies[name]

    def reserve(self, verdict: KueueVerdict) -> None:
        """Let an admitted job hold its quota and its places."""
        used = self.pools.queues[verdict.cluster_queue].used
        for cell, amount in verdict.taken.items():
            used[cell] = used.get(cell, 0) + amount
        for member in verdict.assigned:
            for values, count in member.domains or ():
                mine = self._topologies[member.flavor]
                for topology in self._topologies.values():
                    if topology is mine or (topology.by_host and mine.by_host):  # both have the node
                        topology.take(values, times(member.pods.placed, count))

    def take(self, node: Node, requests: Units) -> None:
        """Lessen what topologies hold by pods that Kueue did not place: they stand on one of its nodes."""
        for topology in self._topologies.values():
            topology.take(topology.key_of(node), requests)

    def controller(self, check: str) -> str:
        """The controller of an admission check, empty where the dump does not show it."""
        return value(self.facts.find("AdmissionCheck", check), "spec", "controllerName") or ""

    def checks_of(self, queue: ClusterQueue, controller: str) -> list[str]:
        """The admission checks of a queue that one controller answers."""
        return sorted(check for check in queue.checks if self.controller(check) == controller)

    def places_later(self, queue: ClusterQueue, flavor: str) -> bool:
        """Whether somebody else has to act before pods are placed on a flavor's topology."""
        if self.checks_of(queue, MULTIKUEUE):
            return True
        checks = self.checks_of(queue, PROVISIONING)
        return any(not queue.checks[check] or flavor in queue.checks[check] for check in checks)


def quota_used(facts: ClusterFacts) -> dict[str, dict[Cell, int]]:
    """What is in use of each flavor and resource, by queue."""
    used: dict[str, dict[Cell, int]] = {}
    for tree in facts.objects.get("Workload", {}).values():
        admission = get(tree, "status", "admission")
        queue = value(admission, "clusterQueue")
        conditions = items(get(tree, "status", "conditions"))
        is_finished = any(value(one, "type") == "Finished" and value(one, "status") == "True" for one in conditions)
        if type(queue) is not str or is_finished:
            continue
        cells = used.setdefault(queue, {})
        for assignment in items(get(admission, "podSetAssignments")):
            flavors = fields(plain(get(assignment, "flavors")))
            for name, amount in amounts(get(assignment, "resourceUsage")).items():
                if name in flavors:
                    cell = (flavors[name], name)
                    cells[cell] = cells.get(cell, 0) + units(name, amount.quantity)
    return used


class Pool:
    """A queue or cohort in its tree, with what the tree below it has and uses of each flavor and resource."""

    __slots__ = ("_mosts", "_subtrees", "children", "holder", "name", "parent", "used")

    def __init__(self, name: str, holder: Cohort | None, used: Mapping[Cell, int] | None = None) -> None:
        self.name = name
        self.holder = holder  # None for a cohort that queues name and nobody wrote
        self.parent: Pool | None = None
        self.children: list[Pool] = []
        self.used = dict(used or {})
        # What follows from quotas alone, by flavor and resource, once the tree stands.
        self._subtrees: dict[Cell, int] = {}
        self._mosts: dict[Cell, int] = {}

    @property
    def quotas(self) -> Mapping[Cell, Quota]:
        return self.holder.quotas if self.holder else {}

    def subtree(self, cell: Cell) -> int:
        """The quota of this pool and of all below it, but for what they do not lend."""
        total = self._subtrees.get(cell)
        if total is None:
            quota = self.quotas.get(cell)
            total = quota.nominal if quota else 0
            for child in self.children:
                total = plus(total, minus(child.subtree(cell), child.kept(cell)))
            self._subtrees[cell] = total
        return total

    def kept(self, cell: Cell) -> int:
        """The part of the quota that is not lent to others."""
        quota = self.quotas.get(cell)
        return max(0, minus(self.subtree(cell), quota.lending)) if quota and quota.lending is not None else 0

    def usage(self, cell: Cell) -> int:
        """What is in use: of a queue all of it, of a cohort what its children cannot keep to themselves."""
        total = self.used.get(cell, 0)
        for child in self.children:
            total = plus(total, max(0, minus(child.usage(cell), child.kept(cell))))
        return total

    def kept_free(self, cell: Cell) -> int:
        """What is free of the part that is not lent."""
        return max(0, minus(self.kept(cell), self.usage(cell)))

    def most(self, cell: Cell) -> int:
        """The largest amount that can ever be used here, with nothing else running."""
        total = self._mosts.get(cell)
        if total is None:
            total = plus(self.kept(cell), self.parent.most(cell)) if self.parent else self.subtree(cell)
            quota = self.quotas.get(cell)
            if self.parent and quota and quota.borrowing is not None:
                total = min(total, plus(self.subtree(cell), quota.borrowing))
            self._mosts[cell] = total
        return total

    def free(self, cell: Cell) -> int:
        """The amount that can be used now, beside what is in use."""
        if self.parent is None:
            return minus(self.subtree(cell), self.usage(cell))
        above = self.parent.free(cell)
        if (quota := self.quotas.get(cell)) and quota.borrowing is not None:
            kept = self.kept(cell)
            stored = minus(self.subtree(cell), kept)
            lent = max(0, minus(self.usage(cell), kept))
            above = min(above, plus(minus(stored, lent), quota.borrowing))
        return plus(self.kept_free(cell), above)

    def borrows_for(self, cell: Cell, amount: int) -> bool:
        """Whether an amount exceeds what this subtree has free."""
        return self.subtree(cell) < plus(self.usage(cell), amount)

    def height(self) -> int:
        """The longest way down to a queue."""
        below = [
            child.height() + 1 for child in self.children if child.children or type(child.holder) is not ClusterQueue
        ]
        return max([min(len(self.children), 1), *below])

    def lender(self, cell: Cell, amount: int) -> "Pool | None":
        """The cohort that an amount is borrowed from: the nearest that holds what is missing here, else the root."""
        if self.parent is None or not self.borrows_for(cell, amount):
            return None
        pool: Pool = self
        while pool.parent is not None:
            amount = minus(amount, pool.kept_free(cell))
            pool = pool.parent
            if not pool.borrows_for(cell, amount):
                break
        return pool


class Pools:
    """All queues and cohorts of a cluster in their trees; queues under a cycle of cohorts are in `cyclic`."""

    def __init__(
        self, queues: Mapping[str, ClusterQueue], cohorts: Mapping[str, Cohort], used: Mapping[str, Mapping[Cell, int]]
    ) -> None:
        names = {*cohorts, *(q.parent for q in queues.values()), *(c.parent for c in cohorts.values())} - {""}
        self.cohorts = {name: Pool(name, cohorts.get(name)) for name in sorted(names)}
        self.queues = {name: Pool(name, queue, used.get(name)) for name, queue in queues.items()}
        # The cohorts from which the way up runs into a cycle.
        cycles = set()
        for name in names:
            seen, above = set[str](), name
            while above and above not in seen:
                seen.add(above)
                above = cohorts[above].parent if above in cohorts else ""
            if above:
                cycles.add(name)
        self.cyclic = {name for name, queue in queues.items() if queue.parent in cycles}
        joined = [(self.queues[name], queue.parent) for name, queue in queues.items() if name not in self.cyclic]
        joined += [(self.cohorts[name], cohort.parent) for name, cohort in cohorts.items() if name not in cycles]
        for pool, parent in joined:
            if parent:
                pool.parent = self.cohorts[parent]
                pool.parent.children.append(pool)
