"""Renaming and taking out keys of a map without losing what is written beside them."""

from __future__ import annotations

from typing import Any

from trainc.migrate.chunks import fresh


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
    return node.pop(key) if key in node else None


def below(node: Any, *path: str) -> Any:
    """The map at a path, made where it is missing."""
    for key in path:
        if key not in node:
            node[key] = fresh({})
        node = node[key]
    return node
