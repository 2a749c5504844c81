"""A baseline accepts the findings of today: from then on only new ones are reported, and fail."""

import json
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in

FILE = ".trainc-baseline.json"
JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: bert
spec:
  runtimeRef: {name: torch}
  trainer:
    image: registry.example.com/bert:1
    numNodes: 4
    command: [torchrun, --nnodes=2, train.py]
"""
GOOD = JOB.replace("--nnodes=2, ", "")
RUNTIME = (ROOT / "runtimes/torch-distributed.yaml").read_text("utf-8").replace("torch-distributed", "torch")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/old.yaml").write_text(JOB, "utf-8")
    (tmp_path / "runtimes").mkdir()
    (tmp_path / "runtimes/torch.yaml").write_text(RUNTIME, "utf-8")
    (tmp_path / "trainc.yaml").write_text("apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {}\n", "utf-8")
    return tmp_path


def test_old_findings_do_not_count_and_new_ones_do(project: Path) -> None:
    assert compile_in(project, "validate").code == 1
    wrote = compile_in(project, "validate", "--write-baseline")
    assert (wrote.code, wrote.out) == (0, "")
    assert wrote.err.startswith(f"wrote {FILE}: ")
    for words in (["validate"], ["validate", "jobs/old.yaml"], ["validate", "--whole-project", "jobs/old.yaml"]):
        run = compile_in(project, *words)
        assert (run.code, "nodes-mismatch" in run.err) == (0, False), words
        assert "in the baseline, not shown" in run.err
    (project / "jobs/new.yaml").write_text(JOB.replace("name: ", "name: new-", 1), "utf-8")
    run = compile_in(project, "validate")
    assert run.code == 1
    assert "jobs/new.yaml" in run.err
    assert "jobs/old.yaml:" not in run.err


def test_a_second_finding_of_a_rule_in_a_file_reports_both(project: Path) -> None:
    compile_in(project, "validate", "--write-baseline")
    (project / "jobs/old.yaml").write_text(f"{JOB}---\n{JOB.replace('name: ', 'name: new-', 1)}", "utf-8")
    assert compile_in(project, "validate").err.count("error[nodes-mismatch]") == 2


def test_lines_that_move_change_nothing(project: Path) -> None:
    compile_in(project, "validate", "--write-baseline")
    (project / "jobs/old.yaml").write_text(f"# a comment\n\n{JOB}", "utf-8")
    assert compile_in(project, "validate").code == 0


def test_a_build_still_refuses_what_cannot_be_compiled(project: Path) -> None:
    compile_in(project, "validate", "--write-baseline")
    run = compile_in(project, "build")
    assert (run.code, run.out) == (1, "")
    assert "error[nodes-mismatch]" in run.err


def test_what_is_gone_is_said_and_writing_again_shrinks_it(project: Path) -> None:
    compile_in(project, "validate", "--write-baseline")
    (project / "jobs/old.yaml").write_text(GOOD, "utf-8")
    assert "of the baseline gone" in compile_in(project, "validate").err
    compile_in(project, "validate", "--write-baseline")
    assert "nodes-mismatch" not in (project / FILE).read_text("utf-8")
    assert "of the baseline gone" not in compile_in(project, "validate").err


def test_reports_for_machines_leave_it_out_too(project: Path) -> None:
    compile_in(project, "validate", "--write-baseline")
    assert json.loads(compile_in(project, "validate", "--report", "json").out)["findings"] == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"files": {"a": {"b": 0}}}', '{"files": {"a": 1}}', "[" * 5000])
def test_a_file_that_is_no_baseline_is_said_and_can_be_written_again(text: str, project: Path) -> None:
    (project / FILE).write_text(text, "utf-8")
    run = compile_in(project, "validate")
    assert run.code == 2
    assert "is not a baseline; run `trainc validate --write-baseline`" in run.err
    assert compile_in(project, "validate", "--write-baseline").code == 0
    assert compile_in(project, "validate").code == 0


@pytest.mark.parametrize("words", [["jobs"], ["--select", "nodes-mismatch"], ["--only", "admission"]])
def test_a_part_of_a_project_has_no_baseline(words: list[str], project: Path) -> None:
    run = compile_in(project, "validate", "--write-baseline", *words)
    assert run.code == 2
    assert not (project / FILE).exists()
