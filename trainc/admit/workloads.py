"""Plain Jobs and Pods in files that somebody names: what the API server says of them as they are."""

from __future__ import annotations

from trainc.model.settings import STDIN
from trainc.server.verdict import kind_of
from trainc.server.workloads import NODES, judge_workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.admit.desk import Desk
    from trainc.model.document import Document


def judge_workloads(documents: Iterable[Document], desk: Desk) -> None:
    """Findings for each Job and Pod that the API server refuses, in files that are named; the others are not ours."""
    for document in documents:
        if kind_of(document.tree) in NODES and (document.file in desk.selection.paths or document.file == STDIN):
            judge_workload(document, desk.server, desk.project.cluster, desk.report)
