"""Findings as the page shows them, the gravest first, with the lines that they point at."""

from __future__ import annotations

from trainc.model.finding import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.finding import Finding
    from trainc.model.report import Report
    from trainc.report.page.texts import SourceLines

MAX_FINDINGS = 2000
_AROUND = 2  # lines before and behind that of a finding


def findings_data(report: Report, lines: SourceLines) -> tuple[list[dict[str, Any]], int]:
    """The findings of a run, at most MAX_FINDINGS, and how many were left out."""
    ordered = sorted(report.findings, key=lambda finding: -LEVELS.index(finding.level))
    chosen = ordered[:MAX_FINDINGS]
    return [_finding(finding, report.jobs_reached(finding), lines) for finding in chosen], len(ordered) - len(chosen)


def _finding(finding: Finding, jobs: int, lines: SourceLines) -> dict[str, Any]:
    file = finding.span.file
    labels = []
    for index, label in enumerate(finding.labels):
        span = label.span
        lines.want(span.file, span.line, 0 if index else _AROUND)
        end = span.end_column if span.end_line == span.line else 0
        text = lines.sentence(label.text, span.file)
        labels.append({"file": span.file, "line": span.line, "column": span.column, "end": end, "text": text})
    words = {"message": finding.message, "effect": finding.effect, "help": finding.help}
    return {
        "rule": finding.rule.name,
        "level": finding.level,
        "why": finding.rule.why,
        **{name: lines.sentence(text, file) for name, text in words.items()},
        "notes": [lines.sentence(note, file) for note in finding.notes],
        "labels": labels,
        "jobs": jobs,
    }
