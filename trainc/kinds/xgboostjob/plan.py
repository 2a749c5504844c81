"""How the roles of an XGBoostJob become replicatedJobs."""

from __future__ import annotations

from trainc.kinds.shared.layout import JobLayout, master_worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob


def xgboost(job: LegacyJob) -> JobLayout:
    """XGBoostJob: the Master's success is the job's."""
    return master_worker(job, {})
