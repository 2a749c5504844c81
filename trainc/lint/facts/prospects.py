"""What keeps a job from starting, what ends it at once, and how often its pods are tried again."""

from __future__ import annotations

from trainc.apiserver.jobs.policies import DEFAULT_BACKOFF_LIMIT
from trainc.lint.facts.values import flag, rows, table, text, whole
from trainc.text.object_keys import JOBSET_CONTROLLER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import ExpandedRole, Job


def held(job: Job) -> str | None:
    """Why nothing starts when the job is applied; None where it does."""
    manager = text(job.spec, "managedBy")
    if manager and manager != JOBSET_CONTROLLER:
        return f"JobSet's controller leaves it to {manager}"
    if flag(job.spec, "suspend"):
        return "it is suspended until somebody, such as a queue, resumes it"
    return None


def retries(role: ExpandedRole) -> int | None:
    """How many failed pods each Job of the role replaces before it fails itself; None where that is not known."""
    limit, per_index = whole(role.spec, "backoffLimit"), whole(role.spec, "backoffLimitPerIndex")
    if per_index is None:
        return DEFAULT_BACKOFF_LIMIT if limit is None else limit if type(limit) is int else None
    if type(per_index) is not int or type(role.size) is not int or type(limit) not in (int, type(None)):
        return None
    return min(per_index * role.size, limit) if type(limit) is int else per_index * role.size


def endings(job: Job) -> list[str]:
    """The failures after which the JobSet is not started again, in words."""
    sentences = []
    for rule in rows(table(job.spec, "failurePolicy"), "rules"):
        if text(rule, "action") != "FailJobSet":
            continue
        reasons = [leaf.value for leaf in rule.get("onJobFailureReasons", ())]
        targets = [leaf.value for leaf in rule.get("targetReplicatedJobs", ())]
        words = f"a failed Job of {', '.join(targets)}" if targets else "any failed Job"
        sentences.append(f"{words} ({', '.join(reasons)})" if reasons else words)
    return sentences
