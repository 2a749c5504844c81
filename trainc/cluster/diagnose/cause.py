"""The nouns of a diagnosis: a cause, and the answer for one job."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.paths import Steps

# Where a job stands.
RUNS, DONE, WAITS, FAILED, UNKNOWN = "runs", "done", "waits", "failed", "unknown"


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
