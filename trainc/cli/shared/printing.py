"""What a run says at its end to people: errors, warnings, notes, and a summary."""

from __future__ import annotations

import sys

from trainc.cli.shared.output import tell
from trainc.cli.shared.projects import PROJECT
from trainc.cli.shared.terminal import terminal
from trainc.model.finding import ERROR, LEVELS, NOTE, WARNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NamedTuple

    from trainc.cli.shared.options import Options
    from trainc.model.finding import Finding
    from trainc.model.report import Report
else:
    from trainc.text.record import NamedTuple

_MAX_FINDINGS = 200  # findings that are printed as text


class Files(NamedTuple):
    """What is shown of a file: its lines, the name that opens it from here, and its address for a link."""

    lines: Callable[[str], list[str]]
    shown: Callable[[str], str]
    link: Callable[[str], str]


def print_findings(report: Report, options: Options, files: Files, jobs: int | None, *, sums: bool) -> None:
    """Print the findings of a run, errors first, and with `sums` the summary, to standard error."""
    findings = _wanted(report.findings, options)
    if options.has("statistics") and findings:
        from trainc.report.text import statistics  # noqa: PLC0415 (only where asked for)

        tell(*statistics(findings))
    elif findings:
        _print(findings, report, options, files)
    if sums and not options.has("quiet"):
        _summary(report, options, jobs)


def _wanted(findings: Sequence[Finding], options: Options) -> list[Finding]:
    """The findings that are printed, by level; of one level causes come before what follows from them, else by place."""
    levels = (
        (ERROR, WARNING) if options.one("fail_on") in (WARNING, "skipped") else (ERROR,)
    )  # what fails is never silent
    least = LEVELS.index(options.one("min_level", NOTE))
    wanted = [finding for finding in findings if LEVELS.index(finding.level) >= least]
    if options.has("quiet"):
        wanted = [finding for finding in wanted if finding.level in levels]
    return sorted(wanted, key=lambda finding: (-LEVELS.index(finding.level), finding.rule.turn))


def _print(findings: list[Finding], report: Report, options: Options, files: Files) -> None:
    from trainc.report.text import finding_lines  # noqa: PLC0415 (nothing to say is common)

    color = options.one("color", "auto")
    shape = terminal(sys.stderr, color)
    link = files.link if shape.links else None
    notes = [] if _wants_notes(options) else [finding for finding in findings if finding.level == NOTE]
    findings = findings[: len(findings) - len(notes)]
    shown = findings if options.has("verbose") or options.has("all") else findings[:_MAX_FINDINGS]
    printed: set[str] = set()
    for finding in shown:
        reached = report.jobs_reached(finding)
        reach = [f"  reaches {reached} jobs"] if reached > 1 else []
        block = finding_lines(finding, files.lines, files.shown, width=shape.width, link=link, printed=printed)
        tell(*block, *reach, "", color=color)
    if len(findings) > len(shown):
        tell(f"and {len(findings) - len(shown)} more findings; -v shows them", "")
    if notes:
        from trainc.report.folding import folded  # noqa: PLC0415
        from trainc.report.text import headline  # noqa: PLC0415

        tell(headline(NOTE, folded(notes, report.account.kinds_in)), "", color=color)


def _wants_notes(options: Options) -> bool:
    """Whether notes are printed in full: they are asked for, chosen by their rule, or the judgement of an edit."""
    return options.one("min_level") == NOTE or any(
        options.has(word) for word in ("verbose", "against", "all", "notes", "select")
    )


def _summary(report: Report, options: Options, jobs: int | None) -> None:
    from trainc.report.text import summary  # noqa: PLC0415 (some runs print none)

    where = f"{options.one(PROJECT)}: " if options.has(PROJECT) else ""
    runtimes = len(report.alone)
    account = report.account
    read = None if jobs is None or (runtimes and not (account.has_jobs or account.unread)) else jobs + account.refusals
    sighted = account.sighted() if jobs == 0 and not runtimes else ""
    if sighted:
        tell(f"{where}{sighted}")
    counts = {"job": read, "unreadable document": len(account.unread) or None, "runtime": runtimes or None}
    tell(f"{where}{summary(report.count(ERROR), report.count(WARNING), counts, report.unknown)}")
