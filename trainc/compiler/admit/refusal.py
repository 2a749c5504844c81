"""What a server says of a document that many jobs reach: judged once, and met in each of them."""

from __future__ import annotations

from trainc.model.finding import ERROR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.document import Document
    from trainc.model.finding import Finding
    from trainc.model.report import Report


class RefusalFindings:
    """The findings that refuse a document.

    A job that reaches it meets all of them, so they share the set of jobs that did: thousands of jobs times thousands
    of findings are never written down one by one.
    """

    __slots__ = ("_jobs", "_stands", "document")

    def __init__(self, document: Document, met: list[Finding], stands: Finding, report: Report) -> None:
        self.document = document  # kept, so that its identity is not given to another one
        self._stands = stands
        self._jobs: list[set[str]] = []
        for finding in met:
            identity = finding.identity()
            jobs = report.reached.setdefault(identity, set())
            known = next((one for one in self._jobs if one == jobs), None)
            if known is None:
                self._jobs.append(jobs)
            else:
                report.reached[identity] = known

    def meet(self, report: Report) -> None:
        """The current job meets all of them."""
        report.add(self._stands)
        if report.job:
            for jobs in self._jobs:
                jobs.add(report.job)


def refusal(document: Document, met: list[Finding], report: Report) -> RefusalFindings | None:
    """The refusal that some findings are, None where none of them is an error that stands."""
    stands = next((finding for finding in met if finding.level == ERROR), None)
    return None if stands is None else RefusalFindings(document, met, stands, report)
