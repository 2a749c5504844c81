"""Amounts of a dump that no server would have stored: nothing is decided by them."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.text.quantity import Quantity, QuantityError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from trainc.model.tree import Tree

# Kinds whose amounts decide, and the fields that hold an amount or a map of amounts there.
_KINDS = (
    *("ClusterQueue", "Cohort", "DaemonSet", "Inventory", "LimitRange", "Node", "Pod", "Queue"),
    *("ResourceQuota", "RuntimeClass", "Workload"),
)
_AMOUNTS = frozenset(("nominalQuota", "borrowingLimit", "lendingLimit"))
_MAPS = frozenset(
    (
        *("allocatable", "capacity", "hard", "used", "podFixed", "capability", "deserved"),
        *("requests", "overhead", "resourceUsage", "system", "jobs"),
        *("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"),
    )
)


def malformed(objects: Mapping[str, Mapping[str, Tree]]) -> list[Sourced[Any]]:
    """The leaves that stand where an amount is read, and are not one."""
    return [leaf for kind in _KINDS for tree in objects.get(kind, {}).values() for leaf in malformed_in(tree)]


def malformed_in(tree: Tree) -> list[Sourced[Any]]:
    """The leaves of one object that stand where an amount is read, and are not one."""
    return list(_below(tree))


def _below(tree: Tree) -> Iterator[Sourced[Any]]:
    if type(tree) is list:
        for item in tree:
            yield from _below(item)
    elif type(tree) is dict:
        for field, node in tree.items():
            if field in _AMOUNTS:
                yield from _unreadable([node])
            elif field in _MAPS and type(node) is dict:
                yield from _unreadable(node.values())
            else:
                yield from _below(node)


def _unreadable(nodes: Any) -> Iterator[Sourced[Any]]:
    for leaf in nodes:
        try:
            if type(leaf) is Sourced and leaf.value is not None:
                Quantity.parse(leaf.value)
        except QuantityError:
            yield leaf
