"""What a look at a finished bundle says about the placing of its pods."""

from trainc.lint.facts.job import Findings, Job
from trainc.lint.facts.values import table
from trainc.model.tree import Tree
from trainc.text.memo import Memo

_QUEUE, _GANG, _ELSEWHERE = 1, 2, 4  # what keys of labels and annotations are about
_OTHERS = ("kai.scheduler/", "yunikorn", "applicationId")  # in keys for schedulers that trainc writes no group for
_FIELDS = frozenset(("schedulerName", "priorityClassName"))


def placing_of_pods(job: Job) -> Findings:
    """Whether the pods of a job can be placed together: groups, ties, numbers, queues and topologies."""
    if type(job.tree.get("spec")) is not dict:
        return
    mentioned = _mentioned(job.metadata)
    for role in job.roles:
        mentioned |= _mentioned(role.metadata) | _mentioned(role.job_metadata)
    is_gang = bool(mentioned & _GANG) or "PodGroup" in job.kinds or any("schedulingGroup" in r.pod for r in job.roles)
    is_queued = bool(mentioned & _QUEUE)
    scheduler, written = job.cluster.scheduler, table(job.bundle.document.tree, "metadata")
    is_for_kueue = (scheduler is not None and scheduler.value == "kueue") or _mentioned(written) & _QUEUE
    if is_gang or is_queued or is_for_kueue or not all(_FIELDS.isdisjoint(role.pod) for role in job.roles):
        from trainc.lint.rules.scheduling.placing import look  # noqa: PLC0415 (most jobs ask no scheduler for anything)

        yield from look(job, gang=is_gang, queued=is_queued)
    if (mentioned | _mentioned(written)) & _ELSEWHERE:
        from trainc.lint.rules.scheduling.elsewhere import (  # noqa: PLC0415 (few clusters have these schedulers)
            labels_of_other_schedulers,
        )

        yield from labels_of_other_schedulers(job)


def _mentioned(metadata: dict[str, Tree]) -> int:
    """What the keys of the labels and annotations of an object or a template are about."""
    if not metadata:
        return 0
    return _ABOUT[tuple(table(metadata, "labels"))] | _ABOUT[tuple(table(metadata, "annotations"))]


def _about(keys: tuple[str, ...]) -> int:
    # Nothing of what is looked at has another name.
    whole = "\n".join(keys)
    about = (_QUEUE if "kueue" in whole else 0) | (_GANG if "scheduling." in whole or "volcano" in whole else 0)
    return about | (_ELSEWHERE if any(word in whole for word in _OTHERS) else 0)


_ABOUT = Memo(_about)
