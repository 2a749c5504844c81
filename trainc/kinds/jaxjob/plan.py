"""How the roles of a JAXJob become replicatedJobs."""

from __future__ import annotations

from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob


def jax(job: LegacyJob) -> JobLayout:
    """JAXJob: one Indexed Job; every process counts."""
    worker = job.role("Worker")
    assert worker is not None
    return JobLayout((ReplicatedJobPlan("worker", worker, worker.count),))
