"""Which runtime inherits from which, which components they switch on, and how many jobs start from each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainc.cluster.capacity.amounts import UNLIMITED, spelled, spelled_quota
from trainc.cluster.capacity.cluster import quota_used
from trainc.cluster.capacity.facts import Cell, ClusterFacts
from trainc.cluster.capacity.fit import FitAnswer
from trainc.cluster.capacity.nodes import Node
from trainc.compiler.resolve.composed import Composed
from trainc.compiler.usage import Blueprint, uses_of
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.document import Document

Demand = Mapping[str, Mapping[Cell, int]]  # by queue, flavor and resource
MAX_NODES = 5000  # cells of one cluster
_TYPE = "node.kubernetes.io/instance-type"


class Inheritance:
    """The runtimes and components of a project as a graph; those that it only names are nodes without a file.

    A node is `{name, kind, component, file, line, jobs}`, an edge `[user, used, how]` with indices of nodes; `how` is
    `extends` or `component`. A cluster that switches components on for its jobs is a node of the kind `Cluster`.
    """

    def __init__(self, own: Iterable[Blueprint], clusters: Iterable[Cluster]) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[tuple[int, int, str]] = []
        self._by_place: dict[tuple[str, int], int] = {}
        self._by_name: dict[tuple[bool, str], int] = {}
        users = [(self._add_document(one.document, is_component=one.is_component), one.document) for one in own]
        for user, document in users:
            for is_component, name, _ in uses_of(document):
                self._connect(user, self._named(name, is_component=is_component), is_component=is_component)
        for cluster in clusters:
            names = [str(leaf.value) for leaf in cluster.components]
            user = self._add(cluster.name, "Cluster", is_component=False) if names else -1
            for name in names:
                self._connect(user, self._named(name, is_component=True), is_component=True)

    def count(self, bundle: Bundle) -> int | None:
        """Count a job at the runtime that it starts from; the index of its node, None for a job without a runtime."""
        runtime = bundle.plan.runtime if bundle.plan is not None else None
        if runtime is None:
            return None
        leaf = runtime.leaf if isinstance(runtime, Composed) else runtime
        index = self._by_place.get((leaf.file, leaf.start))
        if index is None:
            index = self._add_document(leaf, is_component=False)
        self.nodes[index]["jobs"] += 1
        return index

    def _add_document(self, document: Document, *, is_component: bool) -> int:
        known = self._by_name.get((is_component, document.name))
        if known is not None and not self.nodes[known]["file"]:
            index = known  # another document named it before it was read
        else:
            index = self._add(document.name, document.kind, is_component=is_component)
        self.nodes[index] |= {"kind": document.kind, "file": document.file, "line": document.span().line}
        self._by_place[document.file, document.start] = index
        return index

    def _add(self, name: str, kind: str, *, is_component: bool) -> int:
        node = {"name": name, "kind": kind, "component": is_component, "file": "", "line": 0, "jobs": 0}
        self.nodes.append(node)
        if kind != "Cluster":
            self._by_name.setdefault((is_component, name), len(self.nodes) - 1)
        return len(self.nodes) - 1

    def _named(self, name: str, *, is_component: bool) -> int:
        index = self._by_name.get((is_component, name))
        return self._add(name, "", is_component=is_component) if index is None else index

    def _connect(self, user: int, used: int, *, is_component: bool) -> None:
        edge = (user, used, "component" if is_component else "extends")
        if edge not in self.edges:
            self.edges.append(edge)


def capacity_data(facts: ClusterFacts, answers: Iterable[FitAnswer], devices: Sequence[str]) -> dict[str, Any] | None:
    """Nodes and quotas of one cluster, None where its dump tells neither.

    `answers` are those for the jobs of the page; `devices` are the resources that they ask for, the first that a node
    has is what its cell shows.
    """
    if not facts.has_nodes and not facts.queues:
        return None
    nodes = list(facts.nodes.values())
    # What jobs that got quota take of it, all together.
    demand: dict[str, Counter[Cell]] = {}
    for answer in answers:
        if (verdict := answer.verdict) is not None and verdict.has_quota:
            demand.setdefault(verdict.cluster_queue, Counter()).update(verdict.taken)
    return {
        "date": facts.date,
        "assumedEmpty": facts.assumed_empty(),
        "nodes": [_node(node, devices) for node in nodes[:MAX_NODES]],
        "nodesLeftOut": max(0, len(nodes) - MAX_NODES),
        "quotas": _quotas(facts, demand, devices),
    }


def _node(node: Node, devices: Sequence[str]) -> dict[str, Any]:
    """A cell: how much of one resource the node has, and what its own pods and pods of jobs take."""
    resource = next((device for device in devices if device in node.allocatable), "cpu")
    amounts = {"all": node.allocatable, "system": node.system, "jobs": node.jobs}
    return {
        "name": node.name,
        "type": node.labels.get(_TYPE, ""),
        "resource": resource,
        **{name: units.get(resource, 0) for name, units in amounts.items()},
        "shown": spelled(resource, node.allocatable.get(resource, 0)),
        "free": spelled(resource, node.free(is_idle=False).get(resource, 0)),
        "closed": "not ready" if not node.is_ready else "unschedulable" if node.is_unschedulable else "",
    }


def _quotas(facts: ClusterFacts, demand: Demand, devices: Sequence[str]) -> list[dict[str, Any]]:
    """A bar for each queue, flavor and resource: accelerators first, as they are what is short."""
    used = quota_used(facts)
    out = []
    for name, queue in sorted(facts.queues.items()):
        cells = sorted(queue.quotas.items(), key=lambda item: (item[0][1] not in devices, item[0]))
        for cell, quota in cells:
            flavor, resource = cell
            taken, wanted = used.get(name, {}).get(cell, 0), demand.get(name, {}).get(cell, 0)
            amounts = [spelled(resource, amount) for amount in (taken, wanted)]
            out.append(
                {
                    "queue": name,
                    "cohort": queue.parent,
                    "flavor": flavor,
                    "resource": resource,
                    "nominal": None if quota.nominal == UNLIMITED else quota.nominal,
                    "used": taken,
                    "asked": wanted,
                    "shown": [spelled_quota(resource, quota.nominal), *amounts],
                }
            )
    return out
