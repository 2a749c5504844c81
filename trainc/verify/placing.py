"""Whether the pods of a bundle can be placed together."""

from __future__ import annotations

from trainc.schedulers import rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.model.settings import Project, Selection


def placing(bundle: Bundle, project: Project, selection: Selection, report: Report) -> None:
    """Add what the scheduler back ends' rules find; servers have no opinion on any of it."""
    if not selection.admission_only:
        rules.verify(bundle, project.cluster.seeing(bundle.objects, closed=selection.closed_world), report)
