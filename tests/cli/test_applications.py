"""`applied-twice` is about the jobs that are compiled, in the project at hand, by paths as GitOps tools read them."""

import shutil
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.repository import Repository

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


TARGET = """\
  destination:
    server: https://kubernetes.default.svc
"""
PLUGIN = APPLICATION.replace("    directory:\n      recurse: true\n", "    plugin:\n      name: trainc-v1\n").replace(
    "training\n", "plugin\n", 1
)


def test_plugin_and_rendered_files_side_by_side(tmp_path: Path) -> None:
    repository = Repository(tmp_path, "bert", "gpt")
    repository.write("other/job.yaml", repository.read("jobs/bert.yaml").replace("name: bert", "name: other"))
    assert repository.run("build", "-w").code == 0
    repository.write("deploy/files.yaml", APPLICATION.format("rendered") + TARGET)
    repository.write("deploy/plugin.yaml", PLUGIN.format("jobs") + TARGET)
    found = repository.run("validate")
    assert (found.code, found.err.count("error[applied-twice]")) == (1, 1)
    assert "Application `training` applies 2 rendered files of these jobs, too" in found.err


@pytest.mark.parametrize(
    ("files", "plugin"),
    [
        (APPLICATION.format("rendered") + TARGET, PLUGIN.format("none") + TARGET),
        (APPLICATION.format("rendered") + TARGET, PLUGIN.format("jobs") + TARGET.replace("kubernetes", "west")),
        (APPLICATION.format("charts") + TARGET, PLUGIN.format("jobs") + TARGET),
        (APPLICATION.format("rendered") + TARGET, PLUGIN.format("jobs").replace("trainc-v1", "other") + TARGET),
    ],
    ids=["other jobs", "another cluster", "other files", "another plugin"],
)
def test_plugin_and_rendered_files_of_other_jobs(files: str, plugin: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path, "bert")
    assert repository.run("build", "-w").code == 0
    repository.write("deploy/files.yaml", files)
    repository.write("deploy/plugin.yaml", plugin)
    assert repository.run("validate").code == 0
