"""SARIF logs have the shape that code scanning services ask for (SARIF 2.1.0, errata 1)."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.compiling import compile_in
from tests.report import official
from tests.repository import Repository
from trainc.model.finding import ERROR, Finding, Label, Rule
from trainc.model.report import Report
from trainc.model.rule_selection import rule_facts
from trainc.model.sourced import Span
from trainc.report.details import page_of
from trainc.report.sarif import log
from trainc.text.line_diff import Replacement


def closed(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}
MESSAGE = closed(("text",), text=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
REGION = closed(("startLine",), startLine=COUNT, startColumn=COUNT, endLine=COUNT, endColumn=COUNT)
ARTIFACT = closed(("uri",), uri={"type": "string", "pattern": r"^[^\\ ]+$"})
PLACE = closed(("artifactLocation",), artifactLocation=ARTIFACT, region=REGION)
LOCATION = closed((), id={"type": "integer", "minimum": -1}, physicalLocation=PLACE, message=MESSAGE)
RULE = closed(
    ("id",),
    id=TEXT,
    shortDescription=MESSAGE,
    fullDescription=MESSAGE,
    defaultConfiguration=closed((), level=LEVEL),
    help=MESSAGE,
    properties=closed(("page",), page=TEXT),
)
DRIVER = closed(
    ("name",),
    name=TEXT,
    version=TEXT,
    semanticVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
REPLACEMENT = closed(("deletedRegion",), deletedRegion=REGION, insertedContent=closed((), text={"type": "string"}))
CHANGE = closed(
    ("artifactLocation", "replacements"),
    artifactLocation=ARTIFACT,
    replacements={"type": "array", "minItems": 1, "items": REPLACEMENT},
)
FIX = closed(
    ("artifactChanges",),
    description=MESSAGE,
    artifactChanges={"type": "array", "minItems": 1, "uniqueItems": True, "items": CHANGE},
)
RESULT = closed(
    ("message",),
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": LOCATION},
    relatedLocations={"type": "array", "minItems": 1, "items": LOCATION, "uniqueItems": True},
    properties=closed(("refusedBy", "refusal"), refusedBy=TEXT, refusal=TEXT),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    fixes={"type": "array", "uniqueItems": True, "items": FIX},
)
RUN = closed(
    ("tool",),
    tool=closed(("driver",), driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)
SARIF = closed(
    ("version", "runs"),
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"enum": ["2.1.0"]},
    runs={"type": "array", "items": RUN},
)


def checked(parts: Iterable[str]) -> Any:
    content = json.loads("".join(parts))
    jsonschema.validate(content, SARIF, format_checker=jsonschema.FormatChecker())
    assert official.problems(official.SARIF, content) == []
    run = content["runs"][0]
    names = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert names == sorted(set(names))
    assert all(names[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    return run


def finding(file: str, line: int = 3, message: str = "wrong") -> Report:
    report = Report()
    rule = Rule("some-rule", ERROR, "a mistake", "Because.")
    also = [Label(Span("other.yaml", 1, 1, 1, 4), "the other")]
    report.add(rule.at(Span(file, line, 2, line, 9), message, also=also, effect="breaks", help="repair it"))
    return report


def no_edits(_: Finding) -> list[Replacement]:
    return []


@pytest.mark.skipif(official.validator(official.SARIF) is None, reason=official.REASON)
def test_the_official_schema_refuses_what_is_wrong() -> None:
    """The same schema judges the log of every case, so it must be one that can say no."""
    content = json.loads("".join(log(finding("a b.yaml"), str, no_edits)))
    assert official.problems(official.SARIF, content) == []
    result = content["runs"][0]["results"][0]
    result["level"] = "fatal"
    result["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] = "a b.yaml"
    result["colour"] = "red"
    assert len(official.problems(official.SARIF, content)) == 4


def test_an_empty_log() -> None:
    assert checked(log(Report(), str, no_edits))["results"] == []


def test_a_finding() -> None:
    result = checked(log(finding("jobs/bert.yaml"), str, no_edits))["results"][0]
    assert result["message"]["text"] == "wrong\neffect: breaks\nhelp: repair it"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "jobs/bert.yaml"
    assert result["relatedLocations"][0]["message"]["text"] == "the other"


@pytest.mark.parametrize(
    ("file", "uri"), [("jobs/my job.yaml", "jobs/my%20job.yaml"), ("ö.yaml", "%C3%B6.yaml"), ("<stdin>", "%3Cstdin%3E")]
)
def test_names_of_files_are_uris(file: str, uri: str) -> None:
    result = checked(log(finding(file), str, no_edits))["results"][0]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_a_fingerprint_survives_moved_lines() -> None:
    prints = [
        checked(log(report, str, no_edits))["results"][0]["partialFingerprints"]
        for report in (finding("a.yaml"), finding("a.yaml", 9), finding("b.yaml"), finding("a.yaml", 3, "other"))
    ]
    assert prints[0] == prints[1]
    assert len({str(each) for each in prints}) == 3


@pytest.mark.parametrize("command", ["validate", "build"])
def test_from_the_command_line(tmp_path: Path, command: str) -> None:
    repository = Repository(tmp_path, "bert")
    repository.change("jobs/bert.yaml", "numNodes: 2", "numNodes: many")
    done = repository.run(command, "--report", "sarif")
    assert done.code == 1
    run = checked(done.out or done.err)
    assert [result["ruleId"] for result in run["results"]] == ["invalid-field"]


def test_manifests_and_report_do_not_mix(tmp_path: Path) -> None:
    done = Repository(tmp_path, "bert").run("build", "--report", "sarif")
    assert done.out.startswith("apiVersion: v1\n")
    checked(done.err)


def test_out_of_date_files_are_results(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "bert")
    run = checked(repository.run("build", "--check", "--report", "sarif").out)
    assert [result["ruleId"] for result in run["results"]] == ["out-of-date"]


def test_what_fix_writes_stands_in_the_log(tmp_path: Path) -> None:
    """Each suggestion, made in the file, gives what `trainc fix -w` makes of it."""
    (tmp_path / "job.yaml").write_text(BROKEN, "utf-8")
    results = checked([compile_in(tmp_path, "validate", "job.yaml", "--report", "sarif").out])["results"]
    replacements = [
        replacement
        for result in results
        for mend in result.get("fixes", ())
        for change in mend["artifactChanges"]
        for replacement in change["replacements"]
    ]
    lines = BROKEN.splitlines(keepends=True)
    for one in sorted(replacements, key=lambda one: one["deletedRegion"]["startLine"], reverse=True):
        region = one["deletedRegion"]
        stretch = "".join(lines[region["startLine"] - 1 : region["endLine"]])
        rest = len(lines[region["endLine"] - 1]) - region["endColumn"] + 1 if region["endLine"] <= len(lines) else 0
        text = stretch[: region["startColumn"] - 1] + one["insertedContent"]["text"] + stretch[len(stretch) - rest :]
        lines[region["startLine"] - 1 : region["endLine"]] = text.splitlines(keepends=True)
    compile_in(tmp_path, "fix", "-w", "job.yaml")
    assert "".join(lines) == (tmp_path / "job.yaml").read_text("utf-8")
    assert len(replacements) == 3


BROKEN = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: demo}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    num_nodes: 2  # two
    image: registry.example.com/ml/first:1.0
    env:
      LR: "0.1"  # rate
      TAG: a
    comand: [torchrun, train.py]
"""


def test_no_text_of_strangers_is_a_link_or_hidden() -> None:
    result = checked(log(finding("a.yaml", message="see [here](https://evil.example) \u202e\x1b[2J"), str, no_edits))[
        "results"
    ][0]
    assert result["message"]["text"].startswith("see [here] (https://evil.example) \\u202e\\x1b[2J\n")


def test_the_words_of_a_server_are_whole(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: bert}\nspec:\n"
        "  successPolicy: {operator: All, targetReplicatedJobs: [nothing]}\n"
        "  replicatedJobs:\n  - name: node\n    template:\n      spec:\n        template:\n          spec:\n"
        "            restartPolicy: Never\n            containers: [{name: a, image: 'r/x:1'}]\n"
    )
    (result, *_) = checked([compile_in(tmp_path, "validate", "job.yaml", "--report", "sarif").out])["results"]
    assert result["properties"]["refusedBy"] == "webhook"
    assert (
        "invalid replicatedJob name 'nothing' does not appear in .spec.ReplicatedJobs"
        in result["properties"]["refusal"]
    )


def test_findings_name_the_page_of_their_rule(tmp_path: Path) -> None:
    """Relative to the documentation; a rule that another package brings has none."""
    (tmp_path / "job.yaml").write_text(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec: {numNode: 2}\n"
    )
    (rule, *_) = json.loads(compile_in(tmp_path, "validate", "job.yaml", "--report", "sarif").out)["runs"][0]["tool"][
        "driver"
    ]["rules"]
    (finding, *_) = json.loads(compile_in(tmp_path, "validate", "job.yaml", "--report", "json").out)["findings"]
    assert rule["properties"]["page"] == f"rules/{rule_facts()[rule['id']].category}.html#{rule['id']}"
    assert rule["help"]["text"].startswith(f"`trainc explain {rule['id']}` ")
    assert finding["page"] == f"rules/{rule_facts()[finding['rule']].category}.html#{finding['rule']}"
    assert page_of("acme-rule") == ""
