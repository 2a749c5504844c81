"""The comment on a pull request: a mark by which the next run finds it, and what the change means."""

from __future__ import annotations

from urllib.parse import quote

from trainc.model.finding import ERROR
from trainc.report.markdown import code, sentence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.report import Report

MAX_ERRORS = 50  # errors that are listed: a comment takes 65,536 characters


def mark(folder: str) -> str:
    """The first line of a comment, which no reader sees; each folder of a repository has a comment of its own."""
    return f"<!-- trainc diff of {quote(folder)} -->" if folder else "<!-- trainc diff -->"


def refused_lines(report: Report, shown: Callable[[str], str], base: str) -> list[str]:
    """What a comment says where the jobs do not compile, so that nothing can be compared."""
    errors = [finding for finding in report.findings if finding.level == ERROR]
    count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}"
    lines = [f"### The jobs do not compile: {count}", "", f"What changes since {code(base)} is not known.", ""]
    for finding in errors[:MAX_ERRORS]:
        place = code(f"{shown(finding.span.file)}:{finding.span.line}"[:300])
        lines.append(f"- {place}: {sentence(finding.message[:300])}")
    if len(errors) > MAX_ERRORS:
        lines.append(f"- and {len(errors) - MAX_ERRORS} more")
    return lines
