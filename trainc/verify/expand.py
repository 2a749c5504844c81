"""The one function of this stage: expand a bundle by role, then let every check look at it."""

from __future__ import annotations

from trainc.verify.job import Job
from trainc.verify.settings import NOTHING_KNOWN, Settings
from trainc.verify.table import CHECKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.verify.check import Check


def verify(bundle: Bundle, settings: Settings | None, report: Report, extra: Iterable[Check] = ()) -> None:
    """Add a finding for every mistake in the pods that `bundle` becomes; `extra` are the checks of third parties."""
    job = expand(bundle, settings, report)
    if job is None:
        return
    for check in CHECKS:
        check.look(job)
    for check in extra:
        check.look(job)


def expand(bundle: Bundle, settings: Settings | None, report: Report) -> Job | None:
    """The job that a bundle becomes, by role; None for a bundle without a JobSet."""
    jobset = bundle.jobset
    if type(jobset) is not dict:
        return None
    return Job(bundle, jobset, settings or NOTHING_KNOWN, report)
