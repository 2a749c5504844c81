"""What a dump tells of a cluster's capacity: its objects by kind, and the kinds of which it lists all there are."""

from __future__ import annotations

from trainc.apiserver.inventory_kinds import INVENTORY
from trainc.apiserver.pods.complaints import items
from trainc.cluster.capacity.amounts import added
from trainc.cluster.capacity.malformed import malformed
from trainc.cluster.capacity.nodes import Node, NodeClasses, fill, grouped, node_of
from trainc.cluster.capacity.queues import ClusterQueue, Flavor, cluster_queue_of, cohort_of, flavor_of
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from trainc.cluster.capacity.amounts import Units
    from trainc.cluster.capacity.queues import Cohort
    from trainc.model.tree import Tree

# Feature gates of Kueue that change a verdict, with their defaults in v0.20.
GATES = {
    "TASBalancedPlacement": False,
    "TASRespectNodeAffinityPreferred": False,
    "TASProfileMixed": True,
    "WorkloadPriorityClassDefaulting": True,
}
# Those by which Kueue decides in a way that is not modelled, with the value that is.
ASSUMED_GATES = {
    "AdmissionGatedBy": True,
    "ConcurrentAdmission": False,
    "FlavorFungibility": True,
    "MultiKueue": True,
    "QuotaCheckStrategy": True,
    "SchedulerLibraryIntegration": False,
    "TASHandleOverlappingFlavors": True,
    "TASMultiLayerTopology": True,
    "TopologyAwareScheduling": True,
}


class ClusterFacts:
    """A cluster as its dump shows it; objects are read when a verdict first needs them.

    `objects` holds trees by kind, then by name or `namespace/name`. With `closed`, what is not listed does not exist.
    `malformed` are the leaves where an amount is read that are not one: with them the dump decides nothing.
    """

    def __init__(self, objects: Mapping[str, Mapping[str, Tree]], *, closed: bool = False) -> None:
        self.objects = objects
        self.closed = closed
        self.malformed = malformed(objects)
        self.flavors: dict[str, Flavor] = {name: flavor_of(name, tree) for name, tree in self._all("ResourceFlavor")}
        self.queues: dict[str, ClusterQueue] = {
            name: cluster_queue_of(name, tree) for name, tree in self._all("ClusterQueue")
        }
        self.cohorts: dict[str, Cohort] = {name: cohort_of(name, tree) for name, tree in self._all("Cohort")}
        self.configuration: dict[str, Any] = next(
            (plain(tree) for _, tree in self._all("Configuration") if type(tree) is dict), {}
        )
        self._nodes: dict[str, Node] | None = None
        self._classes: dict[bool, NodeClasses] = {}

    def _all(self, kind: str) -> Iterable[tuple[str, Tree]]:
        return self.objects.get(kind, {}).items()

    def is_listed(self, kind: str) -> bool:
        """Whether the dump tells which objects of a kind exist."""
        return self.closed or kind in self.objects

    def assumed_empty(self) -> list[str]:
        """Kinds that bound every job and are not in the dump: answers take it that there are none."""
        return [kind for kind in ("LimitRange", "ResourceQuota") if not self.is_listed(kind)]

    def find(self, kind: str, name: str, namespace: str = "") -> Tree | None:
        """One object of the dump."""
        return self.objects.get(kind, {}).get(f"{namespace}/{name}" if namespace else name)

    def in_namespace(self, kind: str, namespace: str) -> list[tuple[str, Tree]]:
        """The objects of one kind in a namespace, sorted by name."""
        objects = self.objects.get(kind, {})
        start = f"{namespace}/"
        return sorted((key[len(start) :], tree) for key, tree in objects.items() if key.startswith(start))

    def namespace_labels(self, namespace: str) -> dict[str, str] | None:
        """The labels of a namespace, None where the dump does not show it."""
        tree = self.find("Namespace", namespace)
        if tree is None:
            return None
        labels = plain(get(tree, "metadata", "labels"))
        return labels if type(labels) is dict else {}

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name, with what runs there already."""
        if self._nodes is None:
            nodes = {name: node_of(name, tree) for name, tree in self._all("Node")}
            pods = self.objects.get("Pod")
            fill(nodes, (pods or {}).values(), None if pods is not None else self.objects.get("DaemonSet", {}).values())
            for _, inventory in self._all(INVENTORY):
                groups = get(inventory, "spec", "nodes")
                for group in groups if type(groups) is list else []:
                    nodes.update({node.name: node for node in grouped(group)})
            self._nodes = dict(sorted(nodes.items()))
        return self._nodes

    def node_classes(self, *, is_idle: bool) -> NodeClasses:
        """The nodes, alike ones together, with what is free on each."""
        if is_idle not in self._classes:
            self._classes[is_idle] = NodeClasses(self.nodes.values(), is_idle=is_idle)
        return self._classes[is_idle]

    def occupy(self, name: str, requests: Units) -> None:
        """Let pods take some of a node."""
        node = self.nodes[name]
        node.system = added(node.system, requests)
        for classes in self._classes.values():
            classes.put(node)

    @property
    def has_nodes(self) -> bool:
        """Whether the dump lists the cluster's nodes."""
        return self.is_listed("Node") or any(items(get(tree, "spec", "nodes")) for _, tree in self._all(INVENTORY))

    @property
    def date(self) -> str:
        """When the dump was made: what an inventory says, else the last sign of life of a node; empty if unknown."""
        dates = [value(tree, "spec", "date") for _, tree in self._all(INVENTORY)]
        if not any(dates):
            for _, tree in self._all("Node"):
                conditions = get(tree, "status", "conditions")
                dates += [value(one, "lastHeartbeatTime") for one in (conditions if type(conditions) is list else [])]
        return max([str(date) for date in dates if date], default="")

    def gate(self, name: str) -> bool:
        """Whether a feature gate of Kueue is on."""
        chosen = self._chosen_gates().get(name)
        return GATES[name] if type(chosen) is not bool else chosen

    def unmodelled_gates(self) -> list[str]:
        """The feature gates of Kueue that are set to a value by which nothing can be decided here."""
        chosen = self._chosen_gates()
        return sorted(name for name, assumed in ASSUMED_GATES.items() if chosen.get(name, assumed) is not assumed)

    def _chosen_gates(self) -> dict[str, Any]:
        gates = self.configuration.get("featureGates")
        return gates if type(gates) is dict else {}

    def levels(self, topology: str) -> list[str] | None:
        """The node labels of a Topology from the top down, None where the dump does not show it."""
        tree = self.find("Topology", topology)
        if tree is None:
            return None
        levels = get(tree, "spec", "levels")
        labels = [value(level, "nodeLabel") for level in levels] if type(levels) is list else []
        return [label for label in labels if type(label) is str]
