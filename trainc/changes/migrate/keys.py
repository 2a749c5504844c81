"""Renaming and taking out keys of a map without losing what is written beside them."""

from __future__ import annotations

from typing import Any

from trainc.changes.migrate.chunks import fresh


class MisshapenError(Exception):
    """A node is not of the kind that its field holds, so nobody can say what was meant."""


def mapping(node: Any) -> Any:
    """The node as a map, an empty one where there is none."""
    if node is None:
        return {}
    if not isinstance(node, dict):
        raise MisshapenError
    return node


def items(node: Any) -> Any:
    """The node as a list, an empty one where there is none."""
    if node is None:
        return []
    if not isinstance(node, list):
        raise MisshapenError
    return node


def rename(node: Any, old: str, new: str) -> None:
    """Call a key otherwise, in its place and with its comments."""
    at = list(node).index(old)
    beside = node.ca.items.pop(old, None)
    value = node.pop(old)
    node.insert(at, new, value)
    if beside is not None:
        node.ca.items[new] = beside


def take(node: Any, key: str) -> Any:
    """The value of a key, which leaves the map; None where it is not there."""
    return mapping(node).pop(key, None)


def below(node: Any, *path: str) -> Any:
    """The map at a path, made where it is missing."""
    for key in path:
        if mapping(node).get(key) is None:
            node[key] = fresh({})
        node = mapping(node[key])
    return node
