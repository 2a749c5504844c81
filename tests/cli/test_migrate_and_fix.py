"""`trainc migrate` and `trainc fix` from the command line."""

import shutil
from pathlib import Path

from tests.compiling import ROOT, compile_in

CASES = ROOT / "tests/cases/legacy"


def placed(tmp_path: Path, case: str) -> Path:
    shutil.copy(CASES / case / "input/job.yaml", tmp_path / "job.yaml")
    return tmp_path / "job.yaml"


def test_a_migrated_file_is_printed_or_written(tmp_path: Path) -> None:
    file = placed(tmp_path, "pytorchjob-simple")
    before = file.read_text("utf-8")
    printed = compile_in(tmp_path, "migrate", "job.yaml")
    assert (printed.code, file.read_text("utf-8")) == (0, before)
    assert "kind: TrainJob" in printed.out
    assert "job.yaml: PyTorchJob pytorch-simple:\n  the PyTorchJob is now a TrainJob" in printed.err
    compile_in(tmp_path, "migrate", "-w", "job.yaml")
    assert file.read_text("utf-8") == printed.out
    again = compile_in(tmp_path, "migrate", "job.yaml")
    assert (again.code, again.out, again.err) == (0, "", "nothing to migrate\n")


def test_a_job_that_does_not_compile_is_not_migrated(tmp_path: Path) -> None:
    placed(tmp_path, "jaxjob-container-misnamed")
    run = compile_in(tmp_path, "migrate", ".")
    assert (run.code, run.out) == (1, "")
    assert "job.yaml:15:19: not migrated: the container of `Worker` is called `jax-worker`" in run.err


def test_a_fix_is_shown_or_written(tmp_path: Path) -> None:
    file = placed(tmp_path, "jaxjob-container-misnamed")
    shown = compile_in(tmp_path, "fix", "job.yaml")
    assert shown.code == 0
    assert "-          - name: jax-worker\n+          - name: jax\n" in shown.out
    assert compile_in(tmp_path, "fix", "-w", "job.yaml").code == 0
    assert "name: jax\n" in file.read_text("utf-8")
    assert compile_in(tmp_path, "validate", "job.yaml").code == 0


def test_what_nothing_fixes_needs_a_person(tmp_path: Path) -> None:
    placed(tmp_path, "mxjob-removed")
    run = compile_in(tmp_path, "fix", "job.yaml")
    assert (run.code, run.out) == (1, "")
    assert "0 could be fixed, 1 error left to fix by hand" in run.err
