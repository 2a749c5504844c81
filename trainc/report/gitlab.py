"""Findings as GitLab's Code Quality report, which a merge request shows at its lines."""

from __future__ import annotations

from typing import Any

from trainc.report.details import details, fingerprint
from trainc.report.dumps import parts
from trainc.report.lines import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.model.finding import Finding
    from trainc.model.report import Report

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def code_quality(report: Report, shown: Callable[[str], str]) -> Iterator[str]:
    """One JSON array, part by part, with an entry for each finding; no two have one fingerprint."""
    return parts(_entries(report, shown), sort_keys=False)


def _entries(report: Report, shown: Callable[[str], str]) -> Iterator[dict[str, Any]]:
    met: dict[str, int] = {}
    for finding in report.findings:
        mark = fingerprint(finding, shown(finding.span.file))
        met[mark] = met.get(mark, 0) + 1
        yield _entry(finding, mark if met[mark] == 1 else f"{mark}-{met[mark]}", shown)


def _entry(finding: Finding, mark: str, shown: Callable[[str], str]) -> dict[str, Any]:
    span = finding.span
    return {
        "description": visible(". ".join([finding.message, *details(finding)])),
        "check_name": finding.rule.name,
        "fingerprint": mark,
        "severity": _SEVERITIES[finding.level],
        "location": {
            "path": visible(shown(span.file)).removeprefix("./"),
            "lines": {"begin": span.line, "end": span.end_line},
        },
    }
