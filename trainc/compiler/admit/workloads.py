"""Plain Jobs and Pods in files that somebody names: what the API server says of them as they are."""

from __future__ import annotations

from trainc.apiserver.verdict import kind_of
from trainc.apiserver.workloads import NODES, judge_workload
from trainc.model.settings import STDIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.compiler.admit.context import AdmissionContext
    from trainc.model.document import Document


def judge_workloads(documents: Iterable[Document], context: AdmissionContext) -> None:
    """Findings for each Job and Pod that the API server refuses, in files that are named; the others are not ours."""
    for document in documents:
        if kind_of(document.tree) in NODES and (document.file in context.selection.paths or document.file == STDIN):
            judge_workload(document, context.server, context.project.cluster, context.report)
