"""The nouns of a diagnosis: a cause, and the answer for one job; and fields of plain objects that a stranger wrote.

A field of another type than expected counts as absent.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from trainc.model.paths import Steps

# Where a job stands.
RUNS, DONE, WAITS, FAILED, UNKNOWN = "runs", "done", "waits", "failed", "unknown"
Manifest = dict[str, Any]
_LONGEST = 600  # characters of one message of a cluster


class Cause(NamedTuple):
    """One thing that keeps a job from running, in words and with what leads back to its text.

    `stage` orders causes of the same moment by where in a job's life they act, 0 first. `fields` are places in the
    JobSet whose text decides, the most telling first. `quotes` are the cluster's own messages.
    """

    name: str
    stage: int
    headline: str
    help: str = ""
    since: str = ""
    status: str = WAITS
    pods: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()
    fields: tuple[Steps, ...] = ()
    is_result: bool = False  # it follows from another cause wherever there is one


class Diagnosis(NamedTuple):
    """Where one job stands: the first cause, what else is wrong beside it or follows from it, and what is unknown."""

    kind: str
    namespace: str
    name: str
    status: str
    summary: str
    cause: Cause | None = None
    others: tuple[Cause, ...] = ()
    notes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    source: Mapping[str, str] = MappingProxyType({})  # what applied it, as annotations and labels say
    tree: Mapping[str, Any] = MappingProxyType({})  # the job as the cluster has it


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


def maps(tree: Any, *path: str) -> list[Manifest]:
    value = at(tree, *path)
    return [item for item in value if type(item) is dict] if type(value) is list else []


def labels(tree: Any, *path: str) -> dict[str, str]:
    """The texts of the map at `path`: labels, annotations, selectors."""
    written = at(tree, *path)
    return {key: value for key, value in written.items() if type(value) is str} if type(written) is dict else {}


def condition(tree: Any, kind: str) -> Manifest:
    return next((one for one in maps(tree, "status", "conditions") if text(one, "type") == kind), {})


def is_true(tree: Any, kind: str) -> bool:
    return text(condition(tree, kind), "status") == "True"


def moment(stamp: str) -> float | None:
    """A time stamp of Kubernetes as seconds, None for what is not one."""
    try:
        return datetime.fromisoformat(stamp).timestamp() if stamp[10:11] == "T" else None
    except (ValueError, OverflowError):
        return None


def moments(stamps: Iterable[str]) -> list[tuple[float, str]]:
    """Those of some texts that are time stamps, with their moments."""
    return [(time, stamp) for stamp in stamps if (time := moment(stamp)) is not None]
