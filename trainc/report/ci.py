"""Findings as continuous integration reads them: GitHub, GitLab, JUnit and Reviewdog."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from trainc.model.finding import ERROR, Finding
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.report.alike import groups, others_line
from trainc.report.details import details, fingerprint
from trainc.report.dumps import parts
from trainc.report.lines import visible
from trainc.text.line_diff import Replacement

Lines = Callable[[str], list[str]]
Shown = Callable[[str], str]
Suggested = Callable[[Finding], Sequence[Replacement]]


_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}
_RDJSON_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="trainc">\n'
TAIL = "</testsuites>\n"


def commands(report: Report, shown: Shown) -> Iterator[str]:
    """One line for each finding, errors first: GitHub shows ten of a level for each step, so many alike are one."""
    for group in groups(sorted(report.findings, key=lambda finding: list(_LEVELS).index(finding.level))):
        finding = group.first
        span, file = finding.span, shown(finding.span.file)
        properties = {
            "title": f"trainc ({finding.rule.name})",
            "file": file,
            "line": str(span.line),
            "col": str(span.column),
            "endLine": str(span.end_line),
            "endColumn": str(max(span.end_column, span.column)),
        }
        words = {key: _data(text).replace(":", "%3A").replace(",", "%2C") for key, text in properties.items()}
        head = ",".join(f"{key}={text}" for key, text in words.items())
        lines = [f"{file}:{span.line}:{span.column}: {finding.rule.name} {finding.message}", *details(finding)]
        lines += [others_line(group, shown)] if group.others else []
        yield f"::{_LEVELS[finding.level]} {head}::{'%0A'.join(map(_data, lines))}\n"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def code_quality(report: Report, shown: Shown) -> Iterator[str]:
    """One JSON array, part by part, with an entry for each finding; no two have one fingerprint."""
    return parts(_entries(report, shown), sort_keys=False)


def _entries(report: Report, shown: Shown) -> Iterator[dict[str, Any]]:
    met: dict[str, int] = {}
    for finding in report.findings:
        mark = fingerprint(finding, shown(finding.span.file))
        met[mark] = met.get(mark, 0) + 1
        span = finding.span
        yield {
            "description": visible(". ".join([finding.message, *details(finding)])),
            "check_name": finding.rule.name,
            "fingerprint": mark if met[mark] == 1 else f"{mark}-{met[mark]}",
            "severity": _SEVERITIES[finding.level],
            "location": {
                "path": visible(shown(span.file)).removeprefix("./"),
                "lines": {"begin": span.line, "end": span.end_line},
            },
        }


def diagnostics(report: Report, shown: Shown, lines: Lines, suggested: Suggested) -> Iterator[str]:
    """One JSON object, part by part; its columns count bytes of UTF-8 from 1, for which `lines` gives a file's lines."""
    entries = (_diagnostic(finding, shown, lines, suggested(finding)) for finding in report.findings)
    return parts({"source": {"name": "trainc"}, "diagnostics": entries}, sort_keys=False)


def _diagnostic(finding: Finding, shown: Shown, lines: Lines, replacements: Sequence[Replacement]) -> dict[str, Any]:
    first, *others = finding.labels
    out: dict[str, Any] = {
        "message": "\n".join(map(visible, [finding.message, *details(finding)])),
        "location": _location(first.span, shown, lines),
        "severity": _RDJSON_SEVERITIES[finding.level],
        "code": {"value": finding.rule.name},
    }
    if others:
        out["relatedLocations"] = [
            {"message": visible(other.text), "location": _location(other.span, shown, lines)} for other in others
        ]
    if replacements:
        text = lines(first.span.file)
        out["suggestions"] = [{"range": _range(one, text), "text": one.text} for one in replacements]
    return out


def _location(span: Span, shown: Shown, lines: Lines) -> dict[str, Any]:
    return {"path": visible(shown(span.file)), "range": _range(span, lines(span.file))}


def _range(stretch: Span | Replacement, text: list[str]) -> dict[str, Any]:
    places = {"start": (stretch.line, stretch.column), "end": (stretch.end_line, stretch.end_column)}
    return {word: _place(text, *place) for word, place in places.items()}


def _place(text: list[str], line: int, column: int) -> dict[str, int]:
    """A line and a column; a line that cannot be had counts as ASCII."""
    before = text[line - 1][: column - 1] if 0 < line <= len(text) else ""
    beyond = max(0, column - 1 - len(before))
    return {"line": line, "column": len(before.encode("utf-8", "surrogatepass")) + beyond + 1}


def suites(report: Report, shown: Shown) -> Iterator[str]:
    """The document, part by part. Warnings and notes are cases that pass; a run without findings is one that passes."""
    by_file: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_file.setdefault(shown(finding.span.file), []).append(finding)
    yield HEAD
    if not by_file:
        yield '  <testsuite name="trainc" tests="1" failures="0" errors="0">\n'
        yield '    <testcase classname="trainc" name="no findings"/>\n  </testsuite>\n'
    for file, findings in by_file.items():
        failures = sum(finding.level == ERROR for finding in findings)
        counts = f'tests="{len(findings)}" failures="{failures}" errors="0"'
        yield f"  <testsuite name={_attribute(file)} {counts}>\n"
        for finding in findings:
            span = finding.span
            place = f"{file}:{span.line}:{span.column}"
            name = _attribute(f"{finding.rule.name} ({span.line}:{span.column})")
            text = "\n".join(_text(line) for line in [place, *details(finding)])
            message = f"message={_attribute(finding.message)}"
            if finding.level == ERROR:
                inner = f"      <failure type={_attribute(finding.rule.name)} {message}>{text}</failure>\n"
            else:
                inner = f"      <system-out>{_text(finding.level)}: {_text(finding.message)}\n{text}</system-out>\n"
            yield f"    <testcase classname={_attribute(file)} name={name}>\n{inner}    </testcase>\n"
        yield "  </testsuite>\n"
    yield TAIL


def _text(text: str) -> str:
    return escape(visible(text), quote=False).replace("##", "#&#35;")


def _attribute(text: str) -> str:
    return f'"{escape(visible(text))}"'.replace("##", "#&#35;").replace("\t", "&#9;")
