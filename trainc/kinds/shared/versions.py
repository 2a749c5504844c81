"""What the compiled form of an older job needs of the cluster, where the cluster's versions are known."""

from __future__ import annotations

from trainc.kinds.shared.layout import PER_JOB, SUCCESS_POLICY
from trainc.model.finding import ERROR, Rule
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.kinds.shared.job import LegacyJob
    from trainc.kinds.shared.layout import JobLayout
    from trainc.model.cluster import Version
    from trainc.model.tree import Tree

TOO_OLD = Rule(
    "cluster-too-old",
    ERROR,
    "a job needs a feature that the cluster's version does not have",
    "What an operator did itself needs fields of Job and JobSet that arrived one release at a time.",
)
GLOBAL_INDEX: Version = (0, 6)
# A field of a child Job, the Kubernetes in which it is on by default, and what it does for an older job.
_FIELDS: tuple[tuple[str, Version, str], ...] = (
    ("successPolicy", SUCCESS_POLICY, "one pod decides for its Job"),
    ("backoffLimitPerIndex", (1, 29), "a pod may fail without its Job"),
    ("podFailurePolicy", (1, 26), "exit codes decide about another try"),
)
_DEPENDS_ON: Version = (0, 8)
_INDEX_LABEL: Version = (1, 28)


def servable(job: LegacyJob, shape: JobLayout, replicated: list[Tree]) -> bool:
    """Whether the cluster knows every field; what it does not know is reported."""
    there = {"Kubernetes": job.options.kubernetes, "JobSet": job.options.jobset}
    lacking = [(what, of, least) for what, of, least in _needs(job, shape, replicated) if _older(there[of], least)]
    for what, of, least in dict.fromkeys(lacking):
        message = f"{what}: that takes {of} {_dotted(least)}, the cluster has {_dotted(there[of])}"
        job.say(TOO_OLD.at(job.span(("spec", job.kind.field), key=True), message, help=f"update {of}"))
    return not lacking


def _needs(job: LegacyJob, shape: JobLayout, replicated: list[Tree]) -> Iterator[tuple[str, str, Version]]:
    for tree, part in zip(replicated, shape.parts, strict=True):
        spec = get(tree, "template", "spec")
        for field, least, what in _FIELDS:
            if field in spec:
                yield what, "Kubernetes", least
        if part.waits:
            yield f"`{part.name}` starts after `{part.waits}`", "JobSet", _DEPENDS_ON
        if part.pods.value not in {0, 1} and (job.kind.framework == "mpijob" or job.asks("compat-names") == "true"):
            yield "pods of one Job are told apart by a label", "Kubernetes", _INDEX_LABEL
        if shape.layout == PER_JOB and part.name == "worker":
            yield "a worker's rank is its Job's number", "JobSet", GLOBAL_INDEX


def _older(there: Version | None, least: Version) -> bool:
    return there is not None and there < least


def _dotted(version: Version | None) -> str:
    return "" if version is None else ".".join(map(str, version))
