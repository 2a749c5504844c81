"""Bundle -> Findings: will the servers take these pods, and will the pods find each other and run?

A bundle comes in; findings go out. Rules read facts, facts read tables; nothing here changes a manifest.
"""

from __future__ import annotations

from trainc.apiserver.inventory_kinds import CAPACITY
from trainc.apiserver.served import Served, served
from trainc.lint.rules.security import secret_in_document
from trainc.lint.run_checks import expand, look
from trainc.lint.run_checks import verify as check_pods
from trainc.model.bundle import Bundle
from trainc.model.catalog import Objects
from trainc.model.document import Document
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
    if (report.compiles or not checks.admission_only) and is_made:
        accepted(bundle, served(project.cluster), report)
    if checks.admission_only:
        return
    if project.delivery:
        from trainc.lint.delivery import delivered  # noqa: PLC0415 (only where a GitOps tool is named)

        delivered(bundle, project.delivery, report)
    if bundle.jobset is None:
        return
    check_pods(bundle, project, report, objects)
    if checks.capacity and not CAPACITY.isdisjoint(project.cluster.objects):
        from trainc.cluster.capacity.rules import look as look_at_capacity  # noqa: PLC0415 (few clusters tell of it)

        look_at_capacity(bundle, project.cluster, report)


def accepted(bundle: Bundle, server: Served, report: Report) -> None:
    """A finding for everything that the JobSet server has against a bundle's JobSet."""
    judged = server.judge_jobset(bundle.jobset)
    if judged.by:
        from trainc.lint.verdicts import jobset_refused  # noqa: PLC0415 (most JobSets are taken)

        jobset_refused(bundle, judged, report)
