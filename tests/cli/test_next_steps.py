"""`trainc` alone says what to do next in this folder."""

import shutil
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in

EXAMPLE = ROOT / "examples/torch-ddp"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE, tmp_path / "project", ignore=shutil.ignore_patterns("output"))


def steps(folder: Path) -> tuple[str, list[str]]:
    run = compile_in(folder)
    assert (run.code, run.err) == (0, "")
    state, _, _, *lines = run.out.splitlines()
    return state, [line[2:].partition("  ")[0] for line in lines]


def test_nothing_here(tmp_path: Path) -> None:
    assert steps(tmp_path) == ("no project and no jobs here", ["trainc new NAME", "trainc init", "trainc --help"])


def test_a_project_without_jobs(project: Path) -> None:
    shutil.rmtree(project / "jobs")
    shutil.rmtree(project / "runtimes")
    assert steps(project) == ("no jobs below this folder (trainc.yaml is there)", ["trainc new NAME", "trainc --help"])


def test_jobs_that_are_not_rendered(project: Path) -> None:
    assert steps(project) == (
        "1 job, no errors, nothing rendered yet",
        ["trainc show", "trainc build -w", "trainc --help"],
    )


def test_rendered_jobs(project: Path) -> None:
    assert compile_in(project, "build", "-w").code == 0
    assert steps(project) == ("1 job, no errors", ["trainc build --check", "trainc diff", "trainc run JOB"])


def test_errors(project: Path) -> None:
    job = project / "jobs/bert.yaml"
    job.write_text(job.read_text("utf-8").replace("numNodes: 4", "numNodez: 4"), "utf-8")
    assert steps(project) == ("1 job, 1 error", ["trainc validate", "trainc explain unknown-field", "trainc fix"])
