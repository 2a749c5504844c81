"""A wrong argument is reported as such, also where a job of the project has an error."""

import shutil
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.repository import commit_all


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A committed project whose only job has a negative number of nodes."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "examples/torch-ddp", project)
    commit_all(project)
    job = project / "jobs/bert.yaml"
    job.write_text(job.read_text("utf-8").replace("numNodes: 4", "numNodes: -4"), "utf-8")
    return project


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("why jobs/bert.yaml paralelism", "no field of this job matches `paralelism`; did you mean `parallelism`?"),
        ("run nothing", "no job matches `nothing`"),
        ("run bert-pretrian", "no job matches `bert-pretrian`; did you mean `bert-pretrain`?"),
        ("diff nonsense", "Git has no revision `nonsense`"),
    ],
)
def test_a_wrong_argument_is_told_as_such(broken: Path, words: str, said: str) -> None:
    done = compile_in(broken, *words.split())
    assert (done.code, done.err) == (2, f"trainc: {said}\n")


@pytest.mark.parametrize("words", ["run bert-pretrain", "run 'bert-*'", "diff HEAD"])
def test_right_arguments_show_the_error_of_the_job(broken: Path, words: str) -> None:
    done = compile_in(broken, *words.replace("'", "").split())
    assert done.code == 1
    assert "error[negative-job-setting]" in done.err
