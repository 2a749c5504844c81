"""Findings as GitHub's workflow commands: each shows at its line in a pull request."""

from __future__ import annotations

from trainc.report.details import details
from trainc.report.lines import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.finding import Finding
    from trainc.model.report import Report

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def commands(report: Report, shown: Callable[[str], str]) -> str:
    """One line for each finding, errors first: GitHub shows ten of a level for each step."""
    findings = sorted(report.findings, key=lambda finding: list(_LEVELS).index(finding.level))
    return "".join(f"{_command(finding, shown)}\n" for finding in findings)


def _command(finding: Finding, shown: Callable[[str], str]) -> str:
    span = finding.span
    file = shown(span.file)
    properties = {
        "title": f"trainc ({finding.rule.name})",
        "file": file,
        "line": str(span.line),
        "col": str(span.column),
        "endLine": str(span.end_line),
        "endColumn": str(max(span.end_column, span.column)),
    }
    lines = [f"{file}:{span.line}:{span.column}: {finding.rule.name} {finding.message}"]
    lines += details(finding)
    head = ",".join(f"{key}={_property(text)}" for key, text in properties.items())
    return f"::{_LEVELS[finding.level]} {head}::{'%0A'.join(map(_data, lines))}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
