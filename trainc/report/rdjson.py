"""Findings as Reviewdog Diagnostic Format, which reviewdog brings into reviews of most code hosts."""

from __future__ import annotations

from typing import Any

from trainc.report.details import details
from trainc.report.dumps import parts
from trainc.report.lines import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from trainc.changes.fix import Replacement
    from trainc.model.finding import Finding, Label
    from trainc.model.report import Report
    from trainc.model.sourced import Span

    Lines = Callable[[str], list[str]]
    Shown = Callable[[str], str]
    Suggested = Callable[[Finding], Sequence[Replacement]]

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def diagnostics(report: Report, shown: Shown, lines: Lines, suggested: Suggested) -> Iterator[str]:
    """One JSON object, part by part; its columns count bytes of UTF-8 from 1, for which `lines` gives a file's lines."""
    entries = (_diagnostic(finding, shown, lines, suggested(finding)) for finding in report.findings)
    return parts({"source": {"name": "trainc"}, "diagnostics": entries}, sort_keys=False)


def _diagnostic(finding: Finding, shown: Shown, lines: Lines, replacements: Sequence[Replacement]) -> dict[str, Any]:
    first, *others = finding.labels
    out: dict[str, Any] = {
        "message": visible_lines([finding.message, *details(finding)]),
        "location": _location(first, shown, lines),
        "severity": _SEVERITIES[finding.level],
        "code": {"value": finding.rule.name},
    }
    if others:
        out["relatedLocations"] = [
            {"message": visible(other.text), "location": _location(other, shown, lines)} for other in others
        ]
    if replacements:
        text = lines(first.span.file)
        out["suggestions"] = [{"range": _range(one, text), "text": one.text} for one in replacements]
    return out


def visible_lines(texts: list[str]) -> str:
    """Texts as lines in which nothing is hidden."""
    return "\n".join(map(visible, texts))


def _location(label: Label, shown: Shown, lines: Lines) -> dict[str, Any]:
    span, text = label.span, lines(label.span.file)
    return {"path": visible(shown(span.file)), "range": _range(span, text)}


def _range(stretch: Span | Replacement, text: list[str]) -> dict[str, Any]:
    """A stretch of a file whose lines are given."""
    start = _place(text, stretch.line, stretch.column)
    return {"start": start, "end": _place(text, stretch.end_line, stretch.end_column)}


def _place(text: list[str], line: int, column: int) -> dict[str, int]:
    """A line and a column; a line that cannot be had counts as ASCII."""
    before = text[line - 1][: column - 1] if 0 < line <= len(text) else ""
    beyond = max(0, column - 1 - len(before))
    return {"line": line, "column": len(before.encode("utf-8", "surrogatepass")) + beyond + 1}
