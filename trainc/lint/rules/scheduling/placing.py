"""Everything there is to say about the placing of pods, in the order in which it is said."""

from trainc.lint.facts.job import Findings, Job
from trainc.lint.facts.placement import Placement
from trainc.lint.rules.scheduling.gangs import order_faults, size_faults, version_faults
from trainc.lint.rules.scheduling.pod_sets import pod_set_faults
from trainc.lint.rules.scheduling.queues import queue_faults, unqueued
from trainc.lint.rules.scheduling.ties import tie_faults


def look(job: Job, *, gang: bool, queued: bool) -> Findings:
    """Look at groups and ties where there may be a `gang`, at what Kueue is asked for where a job is `queued`."""
    placement = Placement(job)
    if gang:
        for faults in (order_faults, tie_faults, size_faults, version_faults):
            yield from faults(placement)
    yield from queue_faults(placement)
    yield from unqueued(placement)
    if queued:
        yield from pod_set_faults(placement)
