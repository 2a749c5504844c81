"""Findings as JUnit XML, which most build servers show: a suite for each file, a failure for each error."""

from __future__ import annotations

from html import escape

from trainc.model.finding import ERROR
from trainc.report.details import details
from trainc.report.lines import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.model.finding import Finding
    from trainc.model.report import Report

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="trainc">\n'
TAIL = "</testsuites>\n"


def suites(report: Report, shown: Callable[[str], str]) -> Iterator[str]:
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
            yield _case(finding, file)
        yield "  </testsuite>\n"
    yield TAIL


def _case(finding: Finding, file: str) -> str:
    span = finding.span
    place = f"{file}:{span.line}:{span.column}"
    name = _attribute(f"{finding.rule.name} ({span.line}:{span.column})")
    text = "\n".join(_text(line) for line in [place, *details(finding)])
    message = f"message={_attribute(finding.message)}"
    if finding.level == ERROR:
        inner = f"      <failure type={_attribute(finding.rule.name)} {message}>{text}</failure>\n"
    else:
        inner = f"      <system-out>{_text(finding.level)}: {_text(finding.message)}\n{text}</system-out>\n"
    return f"    <testcase classname={_attribute(file)} name={name}>\n{inner}    </testcase>\n"


def _text(text: str) -> str:
    return escape(visible(text), quote=False).replace("##", "#&#35;")


def _attribute(text: str) -> str:
    return f'"{escape(visible(text))}"'.replace("##", "#&#35;").replace("\t", "&#9;")
