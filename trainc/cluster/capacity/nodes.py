"""Nodes as schedulers see them: labels, taints, what they can hold, and what is taken."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.pods.requests import pod_requests
from trainc.cluster.capacity.amounts import (
    Units,
    added,
    all_units,
    in_labels,
    matches_terms,
    required_terms,
    subtracted,
    units_of,
    untolerated,
)
from trainc.model.tree import Tree, get, plain, value

HOSTNAME = "kubernetes.io/hostname"
_PLACED = (
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-unconstrained-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
)
FINISHED = frozenset({"Succeeded", "Failed"})
# What the DaemonSet controller lets its pods tolerate.
_DAEMON = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists"}
    for key in (
        "not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable",
        "network-unavailable",
    )
]  # fmt: skip
# What the node lifecycle controller taints a node with that is not ready; a dump may leave it out.
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
_NO_PODS = frozenset((_NOT_READY["key"], "node.kubernetes.io/unreachable"))


@dataclass(eq=False, slots=True)
class Node:
    """One node: what it can hold, what its own pods take (`system`), and what pods of jobs take (`jobs`)."""

    name: str
    labels: dict[str, str]
    allocatable: Units
    taints: list[dict[str, Any]] = field(default_factory=list)
    is_ready: bool = True
    is_unschedulable: bool = False
    system: Units = field(default_factory=dict)
    jobs: Units = field(default_factory=dict)

    def free(self, *, is_idle: bool) -> Units:
        """What is left for pods; an idle node runs no pods of jobs."""
        left = subtracted(self.allocatable, self.system) if self.system else self.allocatable
        return subtracted(left, self.jobs) if self.jobs and not is_idle else left


@dataclass(eq=False, slots=True)
class NodeClass:
    """Nodes that are alike in everything but their names: one of them, what each has free, and all names."""

    model: Node
    free: Units
    names: dict[str, None] = field(default_factory=dict)

    def nodes(self, *, by_name: bool) -> Iterator[tuple[Node, list[str]]]:
        """The model with all names, or each node with its own name and host name."""
        model = self.model
        if not by_name:
            yield model, list(self.names)
            return
        for name in self.names:
            labels = {**model.labels, HOSTNAME: name} if model.labels.get(HOSTNAME) == model.name else model.labels
            node = Node(name, labels, model.allocatable, taints=model.taints, is_unschedulable=model.is_unschedulable)
            yield node, [name]


class NodeClasses:
    """All nodes, alike ones together; a node changes its class when pods take some of it."""

    def __init__(self, nodes: Iterable[Node], *, is_idle: bool) -> None:
        self._is_idle = is_idle
        self._classes: dict[object, NodeClass] = {}
        self._class_of: dict[str, NodeClass] = {}
        for node in nodes:
            self.put(node)

    def __iter__(self) -> Iterator[NodeClass]:
        return (one for one in self._classes.values() if one.names)

    def put(self, node: Node) -> None:
        """Let a node stand in the class that it belongs to by now."""
        if (before := self._class_of.get(node.name)) is not None:
            del before.names[node.name]
        free = node.free(is_idle=self._is_idle)
        labels = dict(node.labels)
        own = labels.pop(HOSTNAME, None)
        hostname = own if own != node.name else True
        rest = (sorted(labels.items()), node.taints, sorted(free.items()), sorted(node.allocatable.items()))
        alike = (hostname, node.is_unschedulable, repr(rest))
        if alike not in self._classes:
            self._classes[alike] = NodeClass(node, free)
        self._class_of[node.name] = self._classes[alike]
        self._classes[alike].names[node.name] = None


def node_of(name: str, tree: Tree) -> Node:
    """The node that a dump shows, without its pods."""
    conditions = items(get(tree, "status", "conditions"))
    ready = [value(one, "status") == "True" for one in conditions if value(one, "type") == "Ready"]
    taints = [taint for taint in items(plain(get(tree, "spec", "taints"))) if type(taint) is dict]
    if not all(ready) and not any(taint.get("key") in _NO_PODS for taint in taints):
        taints.append(_NOT_READY)
    return Node(
        name,
        fields(plain(get(tree, "metadata", "labels"))),
        units_of(get(tree, "status", "allocatable")),
        taints=taints,
        is_ready=bool(ready) and ready[0],
        is_unschedulable=value(tree, "spec", "unschedulable") is True,
    )


def fill(nodes: dict[str, Node], pods: Iterable[Tree], daemons: Iterable[Tree] | None) -> None:
    """Take from the nodes what runs there: bound pods, or where no pods are known the share of DaemonSets."""
    for tree in pods:
        node, spec = nodes.get(value(tree, "spec", "nodeName") or ""), get(tree, "spec")
        if node is None or type(spec) is not dict or value(tree, "status", "phase") in FINISHED:
            continue
        requests = added(all_units(pod_requests(spec)), {"pods": 1})
        if is_of_job(tree):
            node.jobs = added(node.jobs, requests)
        else:
            node.system = added(node.system, requests)
    for tree in daemons or ():
        spec = get(tree, "spec", "template", "spec")
        if type(spec) is not dict:
            continue
        requests = added(all_units(pod_requests(spec)), {"pods": 1})
        pod = {key: plain(spec[key]) for key in ("nodeSelector", "affinity", "tolerations") if key in spec}
        terms, tolerations = required_terms(pod), [*(pod.get("tolerations") or []), *_DAEMON]
        for node in nodes.values():
            if selects_node(pod, terms, node) and not untolerated(node.taints, tolerations):
                node.system = added(node.system, requests)


def selects_node(pod: Mapping[str, Any], terms: Sequence[Mapping[str, Any]] | None, node: Node) -> bool:
    """Whether a pod's node selector and the terms of its required node affinity take a node."""
    fits = in_labels(pod.get("nodeSelector"), node.labels)
    return fits and (terms is None or matches_terms(terms, node.labels, node.name))


def is_of_job(tree: Tree) -> bool:
    """Whether a pod belongs to a Job, or is placed by Kueue: an idle cluster does not run it."""
    annotations = get(tree, "metadata", "annotations")
    if type(annotations) is dict and not annotations.keys().isdisjoint(_PLACED):
        return True
    return any(value(owner, "kind") == "Job" for owner in items(get(tree, "metadata", "ownerReferences")))


def grouped(tree: Tree) -> Iterator[Node]:
    """The nodes of one group in an inventory: alike but for their names."""
    model = node_of("", {"metadata": {"labels": get(tree, "labels")}, "spec": tree, "status": tree})
    system, jobs = units_of(get(tree, "system")), units_of(get(tree, "jobs"))
    own = fields(plain(get(tree, "labels")))
    has_hostname = HOSTNAME in own or value(tree, "withoutHostname") is True
    for name in items(plain(get(tree, "names"))):
        node = Node(
            str(name),
            own if has_hostname else {**own, HOSTNAME: str(name)},
            model.allocatable,
            taints=model.taints,
            is_ready=value(tree, "notReady") is not True,
            is_unschedulable=model.is_unschedulable,
        )
        node.system, node.jobs = system, jobs
        yield node
