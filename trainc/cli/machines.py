"""Findings as a program reads them, in each form that `--report` names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainc.model.report import Report

    Shown = Callable[[str], str]
    Lines = Callable[[str], list[str]]


def written(form: str, report: Report, shown: Shown, lines: Lines) -> Iterable[str]:
    """The findings of a run in a form, part by part; each form loads what it needs."""
    if form == "github":
        from trainc.report.github import commands  # noqa: PLC0415

        return (commands(report, shown),)
    if form == "sarif":
        from trainc.report.sarif import log  # noqa: PLC0415

        return log(report, shown)
    if form == "junit":
        from trainc.report.junit import suites  # noqa: PLC0415

        return suites(report, shown)
    if form == "gitlab":
        from trainc.report.gitlab import code_quality  # noqa: PLC0415

        return code_quality(report, shown)
    if form == "rdjson":
        from trainc.report.rdjson import diagnostics  # noqa: PLC0415

        return diagnostics(report, shown, lines)
    from trainc.report.json import document  # noqa: PLC0415

    return document(report, shown)
