"""`applied-twice` is about the jobs that are compiled, in the project at hand, by paths as GitOps tools read them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.compiling import ROOT, compile_in
from tests.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path


APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: training
spec:
  source:
    repoURL: https://git.example.com/training.git
    path: {}
    directory:
      recurse: true
"""


def test_only_the_selected_jobs_count(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "bert")
    repository.write("other/job.yaml", repository.read("jobs/bert.yaml").replace("name: bert", "name: other"))
    repository.write("deploy.yaml", APPLICATION.format("other"))
    assert "error[applied-twice]" in repository.run("validate").err
    assert repository.run("build", "jobs", "-o", "out").code == 0
    assert repository.run("build", "other", "-o", "out").code == 1


def test_paths_start_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "team").mkdir()
    repository = Repository(tmp_path / "team", "bert")
    repository.write("deploy.yaml", APPLICATION.format("jobs"))
    assert repository.run("validate").code == 0
    repository.write("deploy.yaml", APPLICATION.format("team/jobs"))
    assert repository.run("validate").code == 1


def test_one_file_is_built_without_reading_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from trainc.compiler.load import walk  # noqa: PLC0415

    repository = Repository(tmp_path, *(f"job-{number}" for number in range(30)))
    for number in range(30):
        if number != 3:  # beside the job a runtime could stand, so that the files of its own folder are looked into
            repository.write(f"others/job-{number}.yaml", repository.read(f"jobs/job-{number}.yaml"))
            (repository.folder / f"jobs/job-{number}.yaml").unlink()
    assert repository.run("build", "-w").code == 0
    read: list[str] = []
    contents = walk.contents

    def noting(root: str, file: str) -> bytes:
        read.append(file)
        return contents(root, file)

    monkeypatch.setattr(walk, "contents", noting)
    assert repository.run("build", "-w", "jobs/job-3.yaml").code == 0
    assert set(read) == {"jobs/job-3.yaml", "runtimes/torch.yaml"}


@pytest.mark.slow
def test_an_example_builds_in_this_repository(tmp_path: Path) -> None:
    done = compile_in(ROOT, "build", "examples/jaxjob", "-o", str(tmp_path / "out"))
    assert done.code == 0, done.err
    assert list((tmp_path / "out").rglob("*.yaml"))
    shutil.rmtree(tmp_path / "out")
