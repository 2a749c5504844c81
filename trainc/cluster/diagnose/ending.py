"""How a job ended, which restarts were counted, and what child Jobs say once their pods are gone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trainc.cluster.diagnose.cause import FAILED, Cause
from trainc.cluster.diagnose.cluster import label, name_of
from trainc.cluster.diagnose.fields import condition, is_true, maps, moment, number, text
from trainc.text.object_keys import REPLICATED_JOB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.cluster.diagnose.run import DumpedJob

_BY_RULE = re.compile(r"Container (\S+) for pod (\S+) failed with exit code (\d+)")
_FIRST_JOB = re.compile(r"first failed job: ([^)\s]+)")
_TERMINAL = {
    "FailedJobs": "a child Job failed, and the JobSet has no failurePolicy",
    "ReachedMaxRestarts": "a child Job failed, and no restart is left",
    "FailJobSetFailurePolicyAction": "a rule of its failurePolicy ends it",
}
_JOB_REASONS = {
    "BackoffLimitExceeded": ("its pods failed more often than backoffLimit allows", "backoffLimit"),
    "DeadlineExceeded": ("it ran longer than activeDeadlineSeconds", "activeDeadlineSeconds"),
    "PodFailurePolicy": ("a rule of its podFailurePolicy ends it", "podFailurePolicy"),
    "FailedIndexes": ("indexes failed", "backoffLimitPerIndex"),
    "MaxFailedIndexesExceeded": ("more indexes failed than maxFailedIndexes allows", "maxFailedIndexes"),
}


def terminal(run: DumpedJob) -> str:
    """Why the whole job counts as failed, in words."""
    failed = condition(run.tree, "Failed")
    reason = text(failed, "reason")
    if run.kind == "Job":
        return _JOB_REASONS.get(reason, (reason or "it failed", ""))[0]
    return _TERMINAL.get(reason, reason or "it failed")


def failed_jobs(run: DumpedJob) -> Iterator[Cause]:
    """The child Job that failed first, by its own condition: for a job whose pods are gone."""
    first = _FIRST_JOB.search(text(condition(run.tree, "Failed"), "message"))
    failed = [job for job in run.jobs if is_true(job, "Failed") or is_true(job, "FailureTarget")]
    failed.sort(key=lambda job: (first is None or name_of(job) != first[1], _since(job)))
    if not failed:
        if first and not run.jobs:
            yield Cause(
                "job-failed", 8, f"Job `{first[1]}` failed first; neither it nor its pods are in the input",
                "add `job`, `pod` and `event` to kubectl get, or ask where the logs are kept", status=FAILED,
            )  # fmt: skip
        return
    job = failed[0]
    failure = condition(job, "FailureTarget") or condition(job, "Failed")
    reason, message = text(failure, "reason"), text(failure, "message")
    words, field = _JOB_REASONS.get(reason, (reason or "it failed", ""))
    by_rule = _BY_RULE.search(message)
    detail = (
        f"container `{by_rule[1]}` of pod `{by_rule[2].rpartition('/')[2]}` exited with {by_rule[3]}" if by_rule else ""
    )
    yield Cause(
        "job-failed",
        8,
        f"Job `{name_of(job)}` failed: {detail or words}",
        "see the log of its pods where logs are kept",
        text(failure, "lastTransitionTime"),
        FAILED,
        quotes=(message,) if message else (),
        fields=(run.job_field(label(job, REPLICATED_JOB), field),) if field else (),
        is_result=True,
    )


def _since(job: object) -> float:
    failure = condition(job, "FailureTarget") or condition(job, "Failed")
    return moment(text(failure, "lastTransitionTime")) or 0.0


def restarts(run: DumpedJob) -> Iterator[str]:
    """How often the JobSet restarted and which restarts counted; a line for each of its last events of that."""
    total = number(run.tree, "status", "restarts") or 0
    if not total:
        return
    counted = number(run.tree, "status", "restartsCountTowardsMax") or 0
    most = number(run.tree, "spec", "failurePolicy", "maxRestarts") or 0
    free = f"; {total - counted} did not count, by a rule" if total > counted else ""
    yield f"{'1 restart' if total == 1 else f'{total} restarts'}: {counted} of maxRestarts {most} used{free}"
    restarting = condition(run.tree, "RestartingJobSet")
    reason = text(restarting, "reason")
    if text(restarting, "status") == "True":
        rule = reason.removeprefix("FailurePolicy_")
        yield "it is restarting now" + (f", by rule `{rule}`" if rule != reason else "")
    for event in run.events("RestartJobSetFailurePolicyAction", "RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction")[
        -1:
    ]:
        yield f"last restart at {event.last}: {event.message}"


def unmatched_rules(run: DumpedJob) -> Iterator[str]:
    """A failed JobSet whose rules were made for another reason: no rule matched, so the default counted."""
    rules = maps(run.tree, "spec", "failurePolicy", "rules")
    failed = condition(run.tree, "Failed")
    if rules and text(failed, "reason") == "ReachedMaxRestarts":
        yield "no rule of its failurePolicy ended it: the failure was counted as a restart, and maxRestarts was reached"
