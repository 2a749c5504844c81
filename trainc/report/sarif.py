"""Findings as SARIF 2.1.0, which code scanning services read."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import quote

from trainc import __version__
from trainc.model.finding import Finding, Label, Rule
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.report.details import details, fingerprint, page_of
from trainc.report.dumps import parts
from trainc.report.lines import visible
from trainc.text.line_diff import Replacement

Suggested = Callable[[Finding], Sequence[Replacement]]


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def log(report: Report, shown: Callable[[str], str], suggested: Suggested) -> Iterator[str]:
    """One SARIF log, part by part, with one run: every rule that was met, every finding and what would mend it."""
    shown = cache(shown)
    uri = cache(lambda file: quote(shown(file).encode("utf-8", "surrogateescape"), safe="/:"))
    rules = {finding.rule.name: finding.rule for finding in report.findings}
    names = sorted(rules)
    indices = {name: index for index, name in enumerate(names)}
    driver = {"name": "trainc", "version": __version__, "semanticVersion": __version__}
    run = {
        "tool": {"driver": {**driver, "rules": [_rule(rules[name]) for name in names]}},
        # Columns count characters; without this a reader counts UTF-16 units.
        "columnKind": "unicodeCodePoints",
        "results": (_result(finding, indices, shown, uri, suggested(finding)) for finding in report.findings),
    }
    return parts({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, sort_keys=False)


def _rule(rule: Rule) -> dict[str, Any]:
    out: dict[str, Any] = {
        "id": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.level},
    }
    if rule.why:
        out["fullDescription"] = {"text": rule.why}
    hint = f"`trainc explain {rule.name}` shows the smallest input with this finding, and one without it"
    out["help"] = {"text": hint}
    if page := page_of(rule.name):
        out["properties"] = {"page": page}  # `helpUri` is a whole address, and the pages have no home of their own
    return out


def _result(
    finding: Finding,
    indices: dict[str, int],
    shown: Callable[[str], str],
    uri: Callable[[str], str],
    replacements: Sequence[Replacement],
) -> dict[str, Any]:
    sentences = map(_shown, [finding.message, *details(finding)])
    out: dict[str, Any] = {
        "ruleId": finding.rule.name,
        "ruleIndex": indices[finding.rule.name],
        "level": finding.level,
        "message": {"text": "\n".join(sentences)},
        "locations": [{"physicalLocation": _place(finding.span, uri)}],
        "partialFingerprints": {"traincFinding/v1": fingerprint(finding, shown(finding.span.file))},
    }
    if finding.refusal:
        out["properties"] = {"refusedBy": finding.refusal.by, "refusal": _shown(finding.refusal.text)}
    if len(finding.labels) > 1:
        out["relatedLocations"] = [_related(i, label, uri) for i, label in enumerate(finding.labels[1:], 1)]
    if replacements:
        edits = [{"deletedRegion": _region(one), "insertedContent": {"text": one.text}} for one in replacements]
        change = {"artifactLocation": {"uri": uri(finding.span.file)}, "replacements": edits}
        out["fixes"] = [{"description": {"text": "what `trainc fix` writes"}, "artifactChanges": [change]}]
    return out


def _shown(text: str) -> str:
    """A text in which viewers see neither hidden characters nor an embedded link, which SARIF writes `[text](target)`."""
    return visible(text).replace("](", "] (")


def _related(number: int, label: Label, uri: Callable[[str], str]) -> dict[str, Any]:
    out: dict[str, Any] = {"id": number, "physicalLocation": _place(label.span, uri)}
    if label.text:
        out["message"] = {"text": _shown(label.text)}
    return out


def _place(span: Span, uri: Callable[[str], str]) -> dict[str, Any]:
    return {"artifactLocation": {"uri": uri(span.file)}, "region": _region(span)}


def _region(stretch: Span | Replacement) -> dict[str, int]:
    return {
        "startLine": stretch.line,
        "startColumn": stretch.column,
        "endLine": stretch.end_line,
        "endColumn": stretch.end_column,
    }
