"""The one function of this stage: expand a bundle by role, then let every check look at it."""

from __future__ import annotations

from collections.abc import Sequence

from trainc.apiserver.jobs.child import children
from trainc.apiserver.schema.features import features_of
from trainc.lint.facts.job import Job
from trainc.lint.registry import checks_for
from trainc.lint.rules import scheduling
from trainc.model.bundle import Bundle
from trainc.model.catalog import Objects
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.settings import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.check import Check


def verify(bundle: Bundle, project: Project, report: Report, objects: Objects | None = None) -> None:
    """Add a finding for every mistake in the pods that a bundle becomes; servers have no opinion on any of it.

    `objects` finds what the job names in other files of the project.
    """
    cluster = project.cluster.with_objects(bundle.around, closed=project.checks.closed_world)
    scheduling.verify(bundle, cluster, report)
    extra: list[Check] = []
    if project.rules_from:
        from trainc.lint.check import foreign  # noqa: PLC0415 (few projects name any)

        extra = [check for name in project.rules_from for check in foreign(name.value)]
    look(bundle, cluster, report, extra, project.checks.pod_security, objects)


def look(
    bundle: Bundle,
    cluster: Cluster | None,
    report: Report,
    extra: Sequence[Check] = (),
    pod_security: str = "",
    objects: Objects | None = None,
) -> None:
    """Let every check of this stage look at a bundle, and `extra`, the checks of third parties.

    `pod_security` is the level of the Pod Security Standards that the call names, empty for that of the namespace.
    """
    if (job := expand(bundle, cluster, report, objects)) is None:
        return
    refused(job)
    for check in checks_for(job):
        report.add_all(check(job))
    if pod_security or "Namespace" in job.cluster.objects or "Namespace" in job.kinds:
        from trainc.lint.standards.enforced import judge  # noqa: PLC0415 (most calls and namespaces name no level)

        judge(job, pod_security)
    for added in extra:
        added.look(job)
    job.close()


def refused(job: Job) -> None:
    """Add a finding for every mistake that the API server refuses the children of a JobSet for."""
    refusals = children(job.tree, features_of(job.cluster), job.cluster.objects)
    if refusals.faults or refusals.dropped:
        from trainc.lint.verdicts import children_refused  # noqa: PLC0415 (most jobs are taken, and it loads all words for refusals)

        children_refused(job, refusals)


def expand(bundle: Bundle, cluster: Cluster | None, report: Report, objects: Objects | None = None) -> Job | None:
    """The job that a bundle becomes, by role; None for a bundle without a JobSet."""
    jobset = bundle.jobset
    if type(jobset) is not dict:
        return None
    return Job(bundle, jobset, Cluster() if cluster is None else cluster, report, objects)
