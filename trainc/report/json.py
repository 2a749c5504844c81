"""Findings as JSON, for machines."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.report.details import page_of
from trainc.report.dumps import parts


def document(report: Report, shown: Callable[[str], str]) -> Iterator[str]:
    """One JSON object, part by part, with the server's answer to every document, every finding of the run, what could not be checked, and the verdict."""
    shown = cache(shown)
    page = cache(page_of)
    findings = (_finding(one, report.jobs_reached(one), shown, page(one.rule.name)) for one in report.findings)
    answers = (
        {
            "kind": one.kind,
            "name": one.name,
            "namespace": one.namespace,
            "place": _span(one.span, shown),
            "admission": {"verdict": "rejected" if one.by else "accepted", "by": one.by, "messages": one.messages},
        }
        for one in sorted(report.answers.values(), key=lambda one: one.span)
    )
    content = {
        "version": 1,
        "failed": report.failed,
        "documents": answers,
        "findings": findings,
        "unknown": report.unknown,
    }
    return parts(content)


def _finding(finding: Finding, jobs: int, shown: Callable[[str], str], page: str) -> dict[str, Any]:
    out: dict[str, Any] = {
        "rule": finding.rule.name,
        "level": finding.level,
        "message": finding.message,
        "labels": [{**_span(label.span, shown), "text": label.text} for label in finding.labels],
        "jobs": jobs,
    }
    if page:
        out["page"] = page
    for key in ("effect", "help"):
        if getattr(finding, key):
            out[key] = getattr(finding, key)
    if finding.notes:
        out["notes"] = list(finding.notes)
    if finding.refusal:
        out["admission"] = {"by": finding.refusal.by, "message": finding.refusal.text}
    if finding.fix:
        out["fix"] = [
            {
                "file": shown(edit.file),
                "line": edit.line,
                "path": list(edit.path),
                **({"name": edit.name} if edit.name else {"value": edit.value}),
                **({"at": _span(edit.at, shown)} if edit.at is not None else {}),
                "safety": edit.safety,
            }
            for edit in finding.fix
        ]
    return out


def _span(span: Span, shown: Callable[[str], str]) -> dict[str, Any]:
    return {
        "file": shown(span.file),
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
