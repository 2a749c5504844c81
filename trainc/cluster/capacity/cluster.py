"""A cluster as Kueue's scheduler sees it in one cycle: quotas in their trees, and topologies with their nodes."""

from __future__ import annotations

from trainc.cluster.capacity.amounts import times
from trainc.cluster.capacity.matching import in_labels
from trainc.cluster.capacity.quota import Pools
from trainc.cluster.capacity.topology import Topology
from trainc.cluster.capacity.usage import quota_used
from trainc.model.tree import value
from trainc.text.object_keys import MULTIKUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cluster.capacity.amounts import Units
    from trainc.cluster.capacity.facts import ClusterFacts
    from trainc.cluster.capacity.nodes import Node
    from trainc.cluster.capacity.queues import ClusterQueue
    from trainc.cluster.capacity.verdict import KueueVerdict

PROVISIONING = "kueue.x-k8s.io/provisioning-request"


class Snapshot:
    """The facts of a cluster with what is computed from them once; admitted workloads count unless it is idle."""

    def __init__(self, facts: ClusterFacts, *, is_idle: bool = True) -> None:
        self.facts = facts
        self.is_idle = is_idle
        used = {} if is_idle else quota_used(facts)
        self.pools = Pools(facts.queues, facts.cohorts, used)
        self._topologies: dict[str, Topology] = {}

    def topology(self, name: str) -> Topology:
        """The domains of a flavor that has a topology."""
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
        for member in verdict.assigned:
            for name, choice in member.choices.items():
                cell = (choice.flavor, name)
                used[cell] = used.get(cell, 0) + member.requests.get(name, 0)
            one = {**member.pods.placed, "pods": member.pods.placed.get("pods", 0) + 1}
            for values, count in member.domains or ():
                for topology in self._sharing(member.flavor):
                    topology.take(values, times(one, count))

    def take(self, node: Node, requests: Units) -> None:
        """Lessen what topologies hold by pods that Kueue did not place: they stand on one of its nodes."""
        for topology in self._topologies.values():
            topology.take(topology.key_of(node), requests)

    def _sharing(self, flavor: str) -> list[Topology]:
        """The topologies whose nodes may be those of a flavor: its own, and where hosts are known by name all of them."""
        mine = self._topologies[flavor]
        return [one for one in self._topologies.values() if one is mine or (one.by_host and mine.by_host)]

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

    def is_topology_only(self, queue: ClusterQueue) -> bool:
        """Whether every flavor of a queue has a topology, so that its jobs are placed whether they ask for it or not."""
        flavors = self.facts.flavors
        names = [name for group in queue.groups for name in group.flavors]
        return all(name in flavors and flavors[name].topology for name in names)
