"""Reports for code hosts and build servers have the shape that each of them documents."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from tests.board.board import manifests
from tests.compiling import Run, compile_in


def closed(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}

# What GitLab reads of a Code Quality report (a part of Code Climate's format).
LINES = closed(("begin",), begin=COUNT, end=COUNT)
GITLAB = {
    "type": "array",
    "items": closed(
        ("description", "check_name", "fingerprint", "severity", "location"),
        description=TEXT,
        check_name=TEXT,
        fingerprint=TEXT,
        severity={"enum": ["info", "minor", "major", "critical", "blocker"]},
        location=closed(("path", "lines"), path={"type": "string", "pattern": r"^(?!\./|/)."}, lines=LINES),
    ),
}
# DiagnosticResult.jsonschema of reviewdog 0.21; positions count bytes of UTF-8 from 1.
POSITION = closed((), line=COUNT, column=COUNT)
LOCATION = closed((), path=TEXT, range=closed((), start=POSITION, end=POSITION))
RDJSON = closed(
    (),
    source=closed((), name=TEXT, url=TEXT),
    severity={"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
    diagnostics={
        "type": "array",
        "items": closed(
            (),
            message=TEXT,
            location=LOCATION,
            severity={"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]},
            source=closed((), name=TEXT, url=TEXT),
            code=closed((), value=TEXT, url=TEXT),
            suggestions={"type": "array"},
            relatedLocations={"type": "array", "items": closed((), message={"type": "string"}, location=LOCATION)},
        ),
    },
)
# The elements and attributes of JUnit's XML that Jenkins, GitLab and Azure read.
JUNIT = {
    "testsuites": ({"name"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors"}, {"testcase"}),
    "testcase": ({"name", "classname"}, {"failure", "system-out"}),
    "failure": ({"message", "type"}, set()),
    "system-out": (set(), set()),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An error, warnings and notes in one file, with characters that XML and byte columns have to mind."""
    named = {manifest.name: manifest for manifest in manifests("pytorchjob")}
    text = named["fsdp-eks-two-nodes-told-four"].text
    (tmp_path / "jöb <1>.yaml").write_text(text, "utf-8")
    return tmp_path


def reported(folder: Path, form: str, *words: str) -> Run:
    return compile_in(folder, "validate", ".", "--report", form, *words)


def expected(folder: Path) -> Counter[tuple[str, str]]:
    return Counter((finding.level, finding.rule.name) for finding in compile_in(folder, "validate", ".").findings)


def checked_xml(text: str) -> ET.Element:
    root = ET.fromstring(text)  # noqa: S314 (our own)
    for element in root.iter():
        attributes, children = JUNIT[element.tag]
        assert set(element.attrib) <= attributes, element.tag
        assert {child.tag for child in element} <= children, element.tag
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    return root


def test_gitlab_gets_every_finding_with_a_fingerprint_of_its_own(folder: Path) -> None:
    run = reported(folder, "gitlab")
    entries = json.loads(run.out)
    jsonschema.validate(entries, GITLAB)
    levels = {"major": "error", "minor": "warning", "info": "note"}
    assert Counter((levels[one["severity"]], one["check_name"]) for one in entries) == expected(folder)
    assert len({one["fingerprint"] for one in entries}) == len(entries)
    assert run.code == 1


def test_a_fingerprint_stays_where_lines_move(folder: Path) -> None:
    before = {one["fingerprint"] for one in json.loads(reported(folder, "gitlab").out)}
    [file] = folder.iterdir()
    file.write_text(f"# moved\n\n{file.read_text('utf-8')}", "utf-8")
    assert {one["fingerprint"] for one in json.loads(reported(folder, "gitlab").out)} == before


def test_rdjson_counts_bytes(folder: Path) -> None:
    [file] = folder.iterdir()
    file.write_text(file.read_text("utf-8").replace("- --nnodes", '- "ö" #\n          - --nnodes'), "utf-8")
    run = reported(folder, "rdjson")
    content = json.loads(run.out)
    jsonschema.validate(content, RDJSON)
    levels = {"ERROR": "error", "WARNING": "warning", "INFO": "note"}
    found = Counter((levels[one["severity"]], one["code"]["value"]) for one in content["diagnostics"])
    assert found == expected(folder)
    lines = file.read_bytes().split(b"\n")
    for one, finding in zip(content["diagnostics"], run.findings, strict=True):
        start = one["location"]["range"]["start"]
        before = lines[start["line"] - 1][: start["column"] - 1].decode("utf-8")
        assert len(before) == finding.span.column - 1


def test_junit_fails_for_errors_alone(folder: Path) -> None:
    run = reported(folder, "junit")
    root = checked_xml(run.out)
    rules = expected(folder)
    assert [suite.attrib["name"] for suite in root] == ["jöb <1>.yaml"]
    failed = Counter(("error", one.attrib["type"]) for one in root.iter("failure"))
    assert failed == Counter({rule: count for rule, count in rules.items() if rule[0] == "error"})
    assert len(list(root.iter("testcase"))) == sum(rules.values())


def test_junit_of_a_run_without_findings_has_a_case_that_passes(folder: Path) -> None:
    root = checked_xml(reported(folder, "junit", "--select", "unused-allow").out)
    assert [(one.attrib["name"], len(one)) for one in root.iter("testcase")] == [("no findings", 0)]


@pytest.mark.parametrize("form", ["gitlab", "junit", "rdjson"])
def test_several_projects_are_one_report(form: str, folder: Path) -> None:
    [file] = folder.iterdir()
    for name in ("one", "two"):
        (folder / name).mkdir()
        (folder / name / "trainc.yaml").write_text("apiVersion: trainc.dev/v1alpha1\nkind: Project\n", "utf-8")
        (folder / name / "job.yaml").write_text(file.read_text("utf-8"), "utf-8")
    file.unlink()
    run = reported(folder, form)
    assert run.code == 1, run.err
    if form == "junit":
        assert [suite.attrib["name"] for suite in checked_xml(run.out)] == ["one/job.yaml", "two/job.yaml"]
    else:
        content = json.loads(run.out)
        jsonschema.validate(content, GITLAB if form == "gitlab" else RDJSON)
        entries = content if form == "gitlab" else content["diagnostics"]
        assert {one["location"]["path"] for one in entries} == {"one/job.yaml", "two/job.yaml"}


def test_reports_hold_all_that_text_folds_or_leaves_out(folder: Path) -> None:
    for form in ("gitlab", "junit", "rdjson"):
        assert reported(folder, form).out == reported(folder, form, "-q", "-v").out
