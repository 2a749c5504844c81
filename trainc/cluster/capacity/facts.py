"""What a dump tells of a cluster's capacity: its objects by kind, and the kinds of which it lists all there are.

Flavors, queues and cohorts are as Kueue's scheduler uses them, in both of its API versions. Amounts that no server would
have stored are `malformed`: nothing is decided by them.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from trainc.apiserver.inventory_kinds import INVENTORY
from trainc.apiserver.pods.complaints import fields, items, maps
from trainc.apiserver.pods.requests import quantity_of
from trainc.cluster.capacity.amounts import Units, added, quota_units
from trainc.cluster.capacity.nodes import Node, NodeClasses, fill, grouped, node_of
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, plain, value

# Feature gates of Kueue that change a verdict, with their defaults in v0.20.
GATES = {
    "TASBalancedPlacement": False,
    "TASRespectNodeAffinityPreferred": False,
    "TASProfileMixed": True,
    "WorkloadPriorityClassDefaulting": True,
}
# Those by which Kueue decides in a way that is not modelled, with the value that is.
ASSUMED_GATES = {
    "AdmissionGatedBy": True, "ConcurrentAdmission": False, "FlavorFungibility": True, "MultiKueue": True,
    "QuotaCheckStrategy": True, "SchedulerLibraryIntegration": False, "TASHandleOverlappingFlavors": True,
    "TASMultiLayerTopology": True, "TopologyAwareScheduling": True,
}  # fmt: skip
# Kinds whose amounts decide, and the fields that hold an amount or a map of amounts there.
_KINDS = (
    *("ClusterQueue", "Cohort", "DaemonSet", "Inventory", "LimitRange", "Node", "Pod", "Queue"),
    *("ResourceQuota", "RuntimeClass", "Workload"),
)
_AMOUNTS = ("nominalQuota", "borrowingLimit", "lendingLimit")
_MAPS = frozenset(
    (
        *("allocatable", "capacity", "hard", "used", "podFixed", "capability", "deserved"),
        *("requests", "overhead", "resourceUsage", "system", "jobs"),
        *("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"),
    )
)
Cell = tuple[str, str]  # flavor and resource


class ClusterFacts:
    """A cluster as its dump shows it; objects are read when a verdict first needs them.

    `objects` holds trees by kind, then by name or `namespace/name`. With `closed`, what is not listed does not exist.
    `malformed` are the leaves where an amount is read that are not one: with them the dump decides nothing.
    """

    def __init__(self, objects: Mapping[str, Mapping[str, Tree]], *, closed: bool = False) -> None:
        self.objects = objects
        self.closed = closed
        flavors, queues = self._all("ResourceFlavor"), self._all("ClusterQueue")
        self.flavors = {name: Flavor(name, fields(plain(get(tree, "spec")))) for name, tree in flavors}
        self.queues = {name: ClusterQueue(name, get(tree, "spec")) for name, tree in queues}
        self.cohorts = {name: Cohort(name, get(tree, "spec")) for name, tree in self._all("Cohort")}
        self.configuration: dict[str, Any] = next(
            (plain(tree) for _, tree in self._all("Configuration") if type(tree) is dict), {}
        )
        self.gates: dict[str, Any] = fields(self.configuration.get("featureGates"))
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
        return self.objects.get(kind, {}).get(f"{namespace}/{name}" if namespace else name)

    def runtime_class(self, pod: Tree) -> Tree | None:
        """The RuntimeClass of a pod, None where it names none or the dump does not show it."""
        name = value(pod, "runtimeClassName")
        return self.find("RuntimeClass", name) if type(name) is str else None

    def in_namespace(self, kind: str, namespace: str) -> list[tuple[str, Tree]]:
        """The objects of one kind in a namespace, sorted by name."""
        objects = self.objects.get(kind, {})
        start = f"{namespace}/"
        return sorted((key[len(start) :], tree) for key, tree in objects.items() if key.startswith(start))

    def namespace_labels(self, namespace: str) -> dict[str, str] | None:
        """The labels of a namespace, None where the dump does not show it."""
        if (tree := self.find("Namespace", namespace)) is None:
            return None
        return fields(plain(get(tree, "metadata", "labels")))

    def changed(self, objects: Mapping[str, Mapping[str, Tree]], nodes: Mapping[str, Node]) -> "ClusterFacts":
        """The same cluster with other workloads, pods and quotas, and with what these leave of the nodes."""
        other = copy(self)
        other.objects, other._classes = objects, {}  # noqa: SLF001 (its own kind)
        other.nodes = {name: replace(node) for name, node in nodes.items()}
        return other

    @cached_property
    def malformed(self) -> list[Sourced[Any]]:
        """The leaves where an amount is read that are not one."""
        trees = (tree for kind in _KINDS for tree in self.objects.get(kind, {}).values())
        return [leaf for tree in trees for leaf in malformed_in(tree)]

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name, with what runs there already."""
        nodes = {name: node_of(name, tree) for name, tree in self._all("Node")}
        pods = self.objects.get("Pod")
        fill(nodes, (pods or {}).values(), None if pods is not None else self.objects.get("DaemonSet", {}).values())
        for _, inventory in self._all(INVENTORY):
            for group in items(get(inventory, "spec", "nodes")):
                nodes.update({node.name: node for node in grouped(group)})
        return dict(sorted(nodes.items()))

    def node_classes(self, *, is_idle: bool) -> NodeClasses:
        if is_idle not in self._classes:
            self._classes[is_idle] = NodeClasses(self.nodes.values(), is_idle=is_idle)
        return self._classes[is_idle]

    def occupy(self, name: str, requests: Units) -> None:
        node = self.nodes[name]
        node.system = added(node.system, requests)
        for classes in self._classes.values():
            classes.put(node)

    @property
    def has_nodes(self) -> bool:
        return self.is_listed("Node") or any(items(get(tree, "spec", "nodes")) for _, tree in self._all(INVENTORY))

    @property
    def date(self) -> str:
        """When the dump was made: what an inventory says, else the last sign of life of a node; empty if unknown."""
        dates = [value(tree, "spec", "date") for _, tree in self._all(INVENTORY)]
        if not any(dates):
            for _, tree in self._all("Node"):
                dates += [value(one, "lastHeartbeatTime") for one in items(get(tree, "status", "conditions"))]
        return max([str(date) for date in dates if date], default="")

    def gate(self, name: str) -> bool:
        chosen = self.gates.get(name)
        return GATES[name] if type(chosen) is not bool else chosen

    def levels(self, topology: str) -> list[str] | None:
        """The node labels of a Topology from the top down, None where the dump does not show it."""
        if (tree := self.find("Topology", topology)) is None:
            return None
        levels = get(tree, "spec", "levels")
        labels = [value(level, "nodeLabel") for level in levels] if type(levels) is list else []
        return [label for label in labels if type(label) is str]


def malformed_in(tree: Tree) -> Iterator[Sourced[Any]]:
    """The leaves of one object that stand where an amount is read, and are not one."""
    if type(tree) is list:
        for item in tree:
            yield from malformed_in(item)
    elif type(tree) is dict:
        for field, node in tree.items():
            is_map = field in _MAPS and type(node) is dict
            if field in _AMOUNTS or is_map:
                leaves = [leaf for leaf in (node.values() if is_map else [node]) if type(leaf) is Sourced]
                yield from (leaf for leaf in leaves if leaf.value is not None and quantity_of(leaf) is None)
            else:
                yield from malformed_in(node)


class Flavor:
    """A ResourceFlavor: kinds of nodes under one name."""

    def __init__(self, name: str, spec: dict[str, Any]) -> None:
        self.name = name
        self.labels: dict[str, str] = fields(spec.get("nodeLabels"))
        self.taints = [taint for _, taint in maps(spec.get("nodeTaints"))]
        self.tolerations = [one for _, one in maps(spec.get("tolerations"))]
        self.topology: str = spec.get("topologyName") or ""


class Quota(NamedTuple):
    """What one queue or cohort has of one resource in one flavor; a limit that is None is not set."""

    nominal: int
    borrowing: int | None
    lending: int | None


class ResourceGroup(NamedTuple):
    """Resources that share one list of flavors."""

    resources: list[str]
    flavors: list[str]


class Cohort:
    """A cohort: its own quota and its parent; a queue is the leaf of such a tree."""

    _PARENT = ("parentName", "parent")  # in Kueue's API versions, the newer one first

    def __init__(self, name: str, spec: Tree) -> None:
        self.name = name
        self.parent: str = next((parent for field in self._PARENT if (parent := value(spec, field))), "")
        self.groups: list[ResourceGroup] = []
        self.quotas: dict[Cell, Quota] = {}
        for tree in items(get(spec, "resourceGroups")):
            names = []
            for flavor in items(get(tree, "flavors")):
                if type(name := value(flavor, "name")) is not str:
                    continue
                names.append(name)
                for resource in items(get(flavor, "resources")):
                    if type(kind := value(resource, "name")) is str:
                        read = [quantity_of(get(resource, f)) for f in _AMOUNTS]
                        nominal, borrowing, lending = (None if one is None else quota_units(kind, one) for one in read)
                        self.quotas[name, kind] = Quota(nominal or 0, borrowing, lending)
            covered = items(plain(get(tree, "coveredResources")))
            self.groups.append(ResourceGroup([one for one in covered if type(one) is str], names))

    @property
    def flavors(self) -> list[str]:
        return list(dict.fromkeys(name for group in self.groups for name in group.flavors))

    def group_of(self, resource: str) -> ResourceGroup | None:
        return next((group for group in self.groups if resource in group.resources), None)


class ClusterQueue(Cohort):
    """A ClusterQueue; `checks` maps an admission check to its flavors, empty for all of them."""

    _PARENT = ("cohortName", "cohort")

    def __init__(self, name: str, spec: Tree) -> None:
        super().__init__(name, spec)
        selector = plain(get(spec, "namespaceSelector"))
        self.selector: dict[str, Any] | None = selector if type(selector) is dict else None
        self.is_stopped = (value(spec, "stopPolicy") or "None") != "None"
        self.tries_next_on_borrowing = value(spec, "flavorFungibility", "whenCanBorrow") == "TryNextFlavor"
        named = map(value, items(get(spec, "admissionChecks")))
        checks: dict[str, frozenset[str]] = {name: frozenset() for name in named if type(name) is str}
        for one in items(get(spec, "admissionChecksStrategy", "admissionChecks")):
            name, flavors = value(one, "name"), plain(get(one, "onFlavors"))
            if type(name) is str:
                checks[name] = frozenset(items(flavors))
        self.checks = checks
