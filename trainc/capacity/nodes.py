"""Nodes as schedulers see them: labels, taints, what they can hold, and what bound pods already take."""

from __future__ import annotations

from trainc.capacity.amounts import Units, added, all_units, taken, units_of
from trainc.model.requests import pod_requests
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trainc.model.tree import Tree

HOSTNAME = "kubernetes.io/hostname"
_PLACED = (
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
    "kueue.x-k8s.io/podset-unconstrained-topology",
    "kueue.x-k8s.io/podset-slice-required-topology",
)
_FINISHED = frozenset({"Succeeded", "Failed"})


class Node:
    """One node; `free` is what its bound pods leave, `free_of_others` what those outside of Kueue's placement leave."""

    __slots__ = ("allocatable", "free", "free_of_others", "is_ready", "is_unschedulable", "labels", "name", "taints")

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        for field, content in fields.items():
            setattr(self, field, content)

    labels: dict[str, str]
    taints: list[dict[str, Any]]
    allocatable: Units
    free: Units
    free_of_others: Units
    is_ready: bool
    is_unschedulable: bool


def node_of(name: str, tree: Tree, used: tuple[Units, Units]) -> Node:
    """The node that a dump shows; `used` by all bound pods, and by those that Kueue does not place."""
    labels = plain(get(tree, "metadata", "labels"))
    taints = plain(get(tree, "spec", "taints"))
    allocatable = units_of(get(tree, "status", "allocatable"))
    return Node(
        name,
        labels=labels if type(labels) is dict else {},
        taints=[taint for taint in taints if type(taint) is dict] if type(taints) is list else [],
        allocatable=allocatable,
        free=taken(allocatable, used[0]) if used[0] else allocatable,
        free_of_others=taken(allocatable, used[1]) if used[1] else allocatable,
        is_ready=_is_ready(tree),
        is_unschedulable=value(tree, "spec", "unschedulable") is True,
    )


def _is_ready(tree: Tree) -> bool:
    conditions = get(tree, "status", "conditions")
    for condition in conditions if type(conditions) is list else []:
        if value(condition, "type") == "Ready":
            return bool(value(condition, "status") == "True")
    return False


def usage_by_node(pods: Iterable[Tree]) -> dict[str, tuple[Units, Units]]:
    """What the pods that are bound and have not finished ask for, by node: all of them, and those outside of Kueue."""
    used: dict[str, tuple[Units, Units]] = {}
    for tree in pods:
        name = value(tree, "spec", "nodeName")
        spec = get(tree, "spec")
        if type(name) is not str or not name or type(spec) is not dict or value(tree, "status", "phase") in _FINISHED:
            continue
        asked = added(all_units(pod_requests(spec)), {"pods": 1})
        everything, others = used.get(name, ({}, {}))
        used[name] = (added(everything, asked), others if _is_placed(tree) else added(others, asked))
    return used


def _is_placed(tree: Tree) -> bool:
    found = get(tree, "metadata", "annotations")
    return type(found) is dict and not found.keys().isdisjoint(_PLACED)
