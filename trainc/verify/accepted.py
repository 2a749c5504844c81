"""Whether the JobSet server would take what trainc made: its schema, its CEL rules, its webhooks."""

from __future__ import annotations

from trainc.model.finding import ERROR, Refusal, Rule
from trainc.schema.verdict import verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.schema.served import Served

JOBSET_REFUSED = Rule(
    "jobset-refused",
    ERROR,
    "the JobSet that a job becomes would be refused",
    "The Trainer accepts the job, and then fails to create its JobSet: nothing ever runs.",
    verdict=True,
)


def accepted(bundle: Bundle, server: Served, report: Report) -> None:
    """A finding for everything that the JobSet server has against a bundle's JobSet, at the place it comes from."""
    found = verdict(bundle.jobset, server.table, server.profile)
    if not found.by:
        return
    for fault in found.faults:
        path, _, reason = fault.message.partition(": ")
        report.add(
            JOBSET_REFUSED.at(
                bundle.span(bundle.jobset, fault.path),
                f"the JobSet server refuses `{path}`: {reason}",
                effect="the job is accepted, and no pod of it is ever created",
                refusal=Refusal(found.by, fault.message),
            )
        )
