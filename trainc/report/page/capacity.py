"""What a cluster holds, by its dump: nodes with what is taken of each, and the quotas of its queues."""

from __future__ import annotations

from trainc.cluster.capacity.amounts import UNLIMITED, spelled, spelled_quota
from trainc.cluster.capacity.cluster import quota_used

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from trainc.cluster.capacity.facts import Cell, ClusterFacts
    from trainc.cluster.capacity.fit import FitAnswer
    from trainc.cluster.capacity.nodes import Node

    Demand = Mapping[str, Mapping[Cell, int]]  # by queue, flavor and resource

MAX_NODES = 5000  # cells of one cluster
_TYPE = "node.kubernetes.io/instance-type"
_CPU = "cpu"


def capacity_data(facts: ClusterFacts, answers: Iterable[FitAnswer], devices: Sequence[str]) -> dict[str, Any] | None:
    """Nodes and quotas of one cluster, None where its dump tells neither.

    `answers` are those for the jobs of the page; `devices` are the resources that they ask for, the first that a node
    has is what its cell shows.
    """
    if not facts.has_nodes and not facts.queues:
        return None
    nodes = list(facts.nodes.values())
    return {
        "date": facts.date,
        "assumedEmpty": facts.assumed_empty(),
        "nodes": [_node(node, devices) for node in nodes[:MAX_NODES]],
        "nodesLeftOut": max(0, len(nodes) - MAX_NODES),
        "quotas": _quotas(facts, _demand(answers), devices),
    }


def _node(node: Node, devices: Sequence[str]) -> dict[str, Any]:
    """A cell: how much of one resource the node has, and what its own pods and pods of jobs take."""
    resource = next((device for device in devices if device in node.allocatable), _CPU)
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


def _demand(answers: Iterable[FitAnswer]) -> dict[str, dict[Cell, int]]:
    """What jobs that got quota take of it, all together."""
    out: dict[str, dict[Cell, int]] = {}
    for answer in answers:
        verdict = answer.verdict
        if verdict is None or not verdict.has_quota:
            continue
        cells = out.setdefault(verdict.cluster_queue, {})
        for member in verdict.assigned:
            for resource, choice in member.choices.items():
                cell = (choice.flavor, resource)
                cells[cell] = cells.get(cell, 0) + member.requests.get(resource, 0)
    return out


def _quotas(facts: ClusterFacts, demand: Demand, devices: Sequence[str]) -> list[dict[str, Any]]:
    """A bar for each queue, flavor and resource: accelerators first, as they are what is short."""
    used = quota_used(facts)
    out = []
    for name, queue in sorted(facts.queues.items()):
        cells = sorted(queue.quotas.items(), key=lambda item: (item[0][1] not in devices, item[0]))
        for cell, quota in cells:
            flavor, resource = cell
            taken, wanted = used.get(name, {}).get(cell, 0), demand.get(name, {}).get(cell, 0)
            out.append(
                {
                    "queue": name,
                    "cohort": queue.parent,
                    "flavor": flavor,
                    "resource": resource,
                    "nominal": None if quota.nominal == UNLIMITED else quota.nominal,
                    "used": taken,
                    "asked": wanted,
                    "shown": [
                        spelled_quota(resource, quota.nominal),
                        spelled(resource, taken),
                        spelled(resource, wanted),
                    ],
                }
            )
    return out
