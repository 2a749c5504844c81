"""What a base may hold and nobody can tell: jobs that cannot be compiled in it, texts that cannot be read."""

from __future__ import annotations

import os

from trainc.compiler.load.walk import contents
from trainc.model.bundle import Bundle
from trainc.model.finding import ERROR, NOTE, Finding, Rule
from trainc.model.report import Report
from trainc.model.settings import FILE
from trainc.model.sourced import Span
from trainc.text.files import is_pointer
from trainc.text.record import NamedTuple

NOT_COMPARED = Rule("not-compared", ERROR, verdict=True, compares=True)
NOT_IN_BASE = Rule("not-in-base", NOTE, admission=True)


class Gaps(NamedTuple):
    """What is not known of a base: its root, what was reported about it, and the files that it is made of."""

    root: str
    report: Report
    files: tuple[str, ...] = ()

    def project_fault(self) -> Finding | None:
        """What is wrong with the base's trainc.yaml, in the light of which nothing of the base is known."""
        errors = (finding for finding in self.report.findings if finding.level == ERROR)
        return next((one for one in errors if one.span.file.rpartition("/")[2] == FILE), None)

    def reason(self, bundle: Bundle) -> str:
        """Why the form that a bundle has in the base cannot be known, empty where the base simply lacks it."""
        account, job = self.report.account, bundle.document
        if (fault := self.project_fault()) is not None:
            return f"trainc.yaml of the base cannot be used: {fault.message}"
        for entry in account.refused(bundle.cluster):
            if (entry.name, entry.namespace) == (job.name, job.namespace):
                return f"it cannot be compiled: {entry.cause.message if entry.cause is not None else entry.kind}"
        for file in self.files:
            if os.path.basename(file) == os.path.basename(job.file) and is_pointer(contents(self.root, file)):
                return f"`{file}` is a Git LFS pointer"
        for file, line in sorted(account.unread):
            if job.name.encode() in contents(self.root, file):
                return f"`{file}` names it and cannot be read at line {line}"
        return ""


def without_base(bundle: Bundle, gaps: Gaps) -> Finding:
    """The finding for a job that stands on one side alone: it is new, or nobody knows what it was."""
    place, reason = bundle.document.span(("metadata", "name")), gaps.reason(bundle)
    if reason:
        return not_compared(place, bundle.name, f"its base version is unknown: {reason}")
    return NOT_IN_BASE.at(place, f"`{bundle.name}` is not in the base: it is new, and checked as a creation")


def not_compared(place: Span, name: str, reason: str) -> Finding:
    """The finding for a job that cannot be compared."""
    return NOT_COMPARED.at(
        place,
        f"not compared: `{name}`",
        effect="a change that the API server rejects would pass",
        help="compare with a base in which the job compiles, such as its committed rendering",
        notes=[reason],
    )
