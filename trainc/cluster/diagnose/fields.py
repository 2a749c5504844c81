"""Fields of plain objects that a stranger wrote: a field of another type than expected counts as absent."""

from __future__ import annotations

from datetime import datetime
from typing import Any

Plain = dict[str, Any]
_LONGEST = 600  # characters of one message of a cluster


def at(tree: Any, *path: str) -> Any:
    """The node at `path`, None where the path ends early."""
    for step in path:
        tree = tree.get(step) if type(tree) is dict else None
    return tree


def text(tree: Any, *path: str) -> str:
    """The text at `path`, shortened to what people read; empty where there is none."""
    value = at(tree, *path)
    if type(value) is not str:
        return ""
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}..."


def number(tree: Any, *path: str) -> int | None:
    """The whole number at `path`, None where there is none."""
    value = at(tree, *path)
    return value if type(value) is int else None


def maps(tree: Any, *path: str) -> list[Plain]:
    """The maps of the list at `path`."""
    value = at(tree, *path)
    return [item for item in value if type(item) is dict] if type(value) is list else []


def labels(tree: Any, *path: str) -> dict[str, str]:
    """The texts of the map at `path`: labels, annotations, selectors."""
    written = at(tree, *path)
    return {key: value for key, value in written.items() if type(value) is str} if type(written) is dict else {}


def condition(tree: Any, kind: str) -> Plain:
    """The condition of this type in the object's status, empty where there is none."""
    return next((one for one in maps(tree, "status", "conditions") if text(one, "type") == kind), {})


def is_true(tree: Any, kind: str) -> bool:
    """Whether the object's status has this condition with status True."""
    return text(condition(tree, kind), "status") == "True"


def moment(stamp: str) -> float | None:
    """A time stamp of Kubernetes as seconds, None for what is not one."""
    try:
        return datetime.fromisoformat(stamp).timestamp() if stamp[10:11] == "T" else None
    except (ValueError, OverflowError):
        return None


def earliest(*stamps: str) -> str:
    """The earliest of some time stamps; empty where none is one."""
    known = [(time, stamp) for stamp in stamps if (time := moment(stamp)) is not None]
    return min(known)[1] if known else ""
