"""Where documents are admitted: the server that judges them, the run's settings, and where findings go."""

from typing import NamedTuple

from trainc.apiserver.served import Server
from trainc.model.document import Document
from trainc.model.internal_error import Seam
from trainc.model.report import Report
from trainc.model.settings import Project, Selection


class AdmissionContext(NamedTuple):
    """One run's admission for one cluster."""

    server: Server
    project: Project
    selection: Selection
    report: Report


def ask_policies(document: Document, context: AdmissionContext) -> None:
    """What the admission policies of the cluster say of a document that its server takes."""
    project = context.project
    if project.policies or project.cluster.policies:
        from trainc.apiserver.policy.judge import judge_input  # noqa: PLC0415 (few projects have policies)

        with Seam(context.report, document, "the admission policies"):
            judge_input(document, project, context.report)
