"""Bundle -> Findings: will the servers take these pods, and will the pods find each other and run?

A bundle comes in; findings go out. Rules read facts, facts read tables; nothing here changes a manifest.
"""

from collections.abc import Callable, Iterable

from trainc.apiserver.inventory_kinds import CAPACITY
from trainc.apiserver.jobs.child import children
from trainc.apiserver.schema.features import features_of
from trainc.apiserver.served import Served, served
from trainc.lint.facts.job import Job
from trainc.lint.registry import checks_for
from trainc.lint.rules.scheduling import placing_of_pods
from trainc.lint.rules.security import secret_in_document
from trainc.model.bundle import Bundle
from trainc.model.catalog import Objects
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.internal_error import Seam
from trainc.model.report import Report
from trainc.model.settings import Project

__all__ = ["check_text", "expand", "look", "verify"]


def check_text(document: Document, report: Report) -> None:
    """What a job gives away by its text alone, whatever keeps it from being read."""
    secret_in_document(document, report)


def verify(bundle: Bundle, project: Project, report: Report, objects: Objects | None = None) -> None:
    """Everything that would go wrong with a bundle after it was compiled; servers have no opinion on most of it.

    With `--only admission` that is what the JobSet server says, and only where the output is meant to be applied.
    `objects` finds what a job names in other files of the project.
    """
    checks = project.checks
    # A JobSet given as input, and a Job that stays one, have been judged when they were admitted.
    is_made = bundle.plan is not None and bool(bundle.plan.framework) and not bundle.keeps_job
    document = bundle.document
    if (report.compiles or not checks.admission_only) and is_made:
        with Seam(report, document, "the JobSet server's judgement"):
            accepted(bundle, served(project.cluster), report)
    if checks.admission_only:
        return
    if project.delivery:
        from trainc.lint.delivery import delivered  # noqa: PLC0415 (only where a GitOps tool is named)

        with Seam(report, document, "the checks of delivery"):
            delivered(bundle, project.delivery, report)
    if bundle.jobset is None:
        return
    extra: list[Callable[[Job], None]] = []
    if project.rules_from:
        from trainc.lint.check import foreign  # noqa: PLC0415 (few projects name any)

        extra = [check.look for name in project.rules_from for check in foreign(name.value)]
    cluster = project.cluster.with_objects(bundle.around, closed=checks.closed_world)
    with Seam(report, document, "the checks of the job"):
        look(bundle, cluster, report, extra, checks.pod_security, objects)
    if checks.capacity and not CAPACITY.isdisjoint(project.cluster.objects):
        from trainc.cluster.capacity.rules import look as look_at_capacity  # noqa: PLC0415 (few clusters tell of it)

        with Seam(report, document, "the checks of capacity"):
            look_at_capacity(bundle, project.cluster, report)


def accepted(bundle: Bundle, server: Served, report: Report) -> None:
    """A finding for everything that the JobSet server has against a bundle's JobSet."""
    judged = server.judge_jobset(bundle.jobset)
    if judged.by:
        from trainc.lint.verdicts import jobset_refused  # noqa: PLC0415 (most JobSets are taken)

        jobset_refused(bundle, judged, report)


def look(
    bundle: Bundle,
    cluster: Cluster | None,
    report: Report,
    extra: Iterable[Callable[[Job], None]] = (),
    pod_security: str = "",
    objects: Objects | None = None,
) -> None:
    """Let every check of this stage look at the pods that a bundle becomes, and `extra`, the checks of third parties.

    `pod_security` is the level of the Pod Security Standards that the call names, empty for that of the namespace.
    """
    if (job := expand(bundle, cluster, report, objects)) is None:
        return
    document = bundle.document
    with Seam(report, document, "the checks of scheduling"):
        report.add_all(placing_of_pods(job))
    with Seam(report, document, "the API server's judgement of Jobs and pods"):
        refused(job)
    for check in checks_for(job):
        with Seam(report, document, f"the check `{check.__name__}`"):
            report.add_all(check(job))
    if pod_security or "Namespace" in job.cluster.objects or "Namespace" in job.kinds:
        from trainc.lint.standards.enforced import judge  # noqa: PLC0415 (most calls and namespaces name no level)

        with Seam(report, document, "the checks of Pod Security"):
            judge(job, pod_security)
    for added in extra:
        with Seam(report, document, f"the check `{getattr(added, '__qualname__', 'of an installed package')}`"):
            added(job)
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
