"""Findings as a program reads them, in each form that `--report` names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.changes.fix.layout import Replacement
    from trainc.model.finding import Finding
    from trainc.model.report import Report

    Shown = Callable[[str], str]
    Lines = Callable[[str], list[str]]


_TRIED = 50_000  # characters of files in which a run tries edits, to show them as text: each takes the whole file


def written(form: str, report: Report, shown: Shown, lines: Lines) -> Iterable[str]:
    """The findings of a run in a form, part by part; each form loads what it needs."""
    if form == "github":
        from trainc.report.github import commands  # noqa: PLC0415

        return (commands(report, shown),)
    if form == "sarif":
        from trainc.report.sarif import log  # noqa: PLC0415

        return log(report, shown, _suggesting(lines))
    if form == "junit":
        from trainc.report.junit import suites  # noqa: PLC0415

        return suites(report, shown)
    if form == "gitlab":
        from trainc.report.gitlab import code_quality  # noqa: PLC0415

        return code_quality(report, shown)
    if form == "rdjson":
        from trainc.report.rdjson import diagnostics  # noqa: PLC0415

        return diagnostics(report, shown, lines, _suggesting(lines))
    from trainc.report.json import document  # noqa: PLC0415

    return document(report, shown)


def _suggesting(lines: Lines) -> Callable[[Finding], list[Replacement]]:
    """What the safe edits of a finding replace in the file of its first place, for the first findings that carry some."""
    left = _TRIED

    def suggested(finding: Finding) -> list[Replacement]:
        nonlocal left
        file = finding.span.file
        if not finding.fix or any(edit.file != file for edit in finding.fix):
            return []
        text = "".join(f"{line}\n" for line in lines(file))
        if len(text) > left:
            return []
        from trainc.changes.fix import replacements  # noqa: PLC0415 (most findings carry no edit)

        left -= len(text)
        return replacements(text, finding, file)

    return suggested
