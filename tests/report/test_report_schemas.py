"""JSON reports keep the shape that their schema promises, those of earlier versions of trainc included."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.compiling import ROOT, compile_in
from tests.test_cases import CASES, EXAMPLES
from trainc.cli.commands import COMMANDS

SCHEMAS = sorted((ROOT / "schemas/reports").glob("*.json"))
RECORDED = ROOT / "tests/report/recorded"
# By command, the report that `--report json` writes.
REPORTS = {
    "adopt": "adoption_v1",
    "build": "findings_v1",
    "diagnose": "diagnosis_v1",
    "diff": "diff_v1",
    "explain": "explanation_v1",
    "fit": "fit_v1",
    "migrate": "migration_v1",
    "rules": "rules_v1",
    "show": "jobs_v1",
    "validate": "findings_v1",
    "why": "why_v1",
}


def strict(schema: Any) -> Any:
    """A schema that allows no field which it does not name: a new field has to be written into it."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(child) for key, child in schema.items() if key != "properties"}
    if properties := schema.get("properties"):
        out = {
            "additionalProperties": False,
            **out,
            "properties": {key: strict(child) for key, child in properties.items()},
        }
    return out


def faults(name: str, report: Any, *, is_old: bool = False) -> list[str]:
    schema = json.loads((ROOT / f"schemas/reports/{name}.json").read_text("utf-8"))
    validator = Draft202012Validator(schema if is_old else strict(schema))
    return [f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(report)]


def reported(folder: Path, *words: str) -> list[str]:
    run = compile_in(folder, *words, "--report", "json")
    assert run.code in {0, 1}, run.err
    return faults(REPORTS[words[0]], json.loads(run.out)) if run.out else []


@pytest.mark.parametrize("path", SCHEMAS, ids=[path.stem for path in SCHEMAS])
def test_a_schema_is_one_and_says_its_version(path: Path) -> None:
    schema = json.loads(path.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["title"] == path.stem.replace("_", " ")


def test_every_command_with_a_json_report_has_a_schema() -> None:
    writing = {
        command.name
        for command in COMMANDS.values()
        for option in command.options
        if option.key == "report" and "json" in option.choices
    }
    assert writing == REPORTS.keys()
    assert set(REPORTS.values()) <= {path.stem for path in SCHEMAS}


@pytest.mark.parametrize("path", SCHEMAS, ids=[path.stem for path in SCHEMAS])
def test_recorded_reports_still_fit(path: Path) -> None:
    """What a version of trainc once wrote fits the schema of today: fields are added, never taken away."""
    recorded = json.loads((RECORDED / path.name).read_text("utf-8"))
    assert recorded
    assert [fault for report in recorded for fault in faults(path.stem, report, is_old=True)] == []


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=() if part == 0 else pytest.mark.slow) for part in range(0, 144, 12)]
)
def test_reports_of_cases_fit(part: int, tmp_path: Path) -> None:
    """A part of all cases each: every report that reads jobs."""
    for index, case in enumerate(CASES[part::144]):
        folder = tmp_path / str(index)
        shutil.copytree(case / "input", folder / "input")
        first = min(path.name for path in (folder / "input").iterdir())
        for words in (
            ("validate", "input"),
            ("show", "input"),
            ("migrate", "input"),
            ("why", f"input/{first}", "image"),
            ("why", f"input/{first}:6"),
        ):
            run = compile_in(folder, *words, "--report", "json")
            if run.code in {0, 1} and run.out:
                assert faults(REPORTS[words[0]], json.loads(run.out)) == [], (case, words)


@pytest.mark.parametrize("example", EXAMPLES[::3], ids=[path.name for path in EXAMPLES[::3]])
def test_reports_of_examples_fit(example: Path, tmp_path: Path) -> None:
    folder = tmp_path / example.name
    shutil.copytree(example, folder)
    assert reported(folder, "validate", ".") == []
    assert reported(folder, "show", ".", "--rendered") == []
    for dump in folder.glob("*.txt"):
        command = ("adopt", "repo", dump.name) if dump.name == "cluster.txt" else ("diagnose", dump.name)
        assert reported(folder, *command) == []
    shutil.copytree(folder / "output", folder / "other")
    files = sorted((folder / "other").rglob("*.yaml"))
    files[0].write_text(files[0].read_text("utf-8").replace("image: registry", "image: mirror"))
    assert reported(folder, "diff", "output", "other") == []


def test_other_reports_fit(tmp_path: Path) -> None:
    for name in ("fit-kueue", "fit-nodes"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
        assert reported(tmp_path / name, "fit", ".") == []
    assert reported(ROOT, "rules") == []
    for topic in ("TrainJob", "TrainJob.spec.trainer.numNodes", "trainc.yaml", "trainc.dev/run"):
        assert reported(ROOT, "explain", topic) == []


def test_exported_schemas_hold_them(tmp_path: Path) -> None:
    run = compile_in(tmp_path, "schemas", "export", "out")
    assert run.code == 0
    assert {path.name for path in (tmp_path / "out/reports").iterdir()} == {path.name for path in SCHEMAS}


def test_reports_are_listed_and_shown_like_kinds(tmp_path: Path) -> None:
    listed = [line for line in compile_in(tmp_path, "schemas").out.splitlines() if line.startswith("JSON report ")]
    names = [line.split()[2] for line in listed]
    assert names == sorted(path.stem for path in (ROOT / "schemas/reports").iterdir())
    for name in names:
        assert compile_in(tmp_path, "schemas", "show", name).out == (ROOT / f"schemas/reports/{name}.json").read_text(
            "utf-8"
        )
    assert "did you mean `findings_v1`?" in compile_in(tmp_path, "schemas", "show", "finding_v1").err
