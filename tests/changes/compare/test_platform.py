"""`trainc diff` on prepared histories of the example with two clusters: what each prints is committed."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

FORMS = {"text": "diff.txt", "markdown": "diff.md", "json": "diff.json"}


def runtime_edit(project: WorkingTree) -> None:
    project.change("runtimes/torch-gpu.yaml", "value: WARN", "value: ERROR")


def job_edit(project: WorkingTree) -> None:
    project.change("jobs/llm/base-7b.yaml", "numNodes: 8", "numNodes: 12")
    project.change("jobs/llm/base-7b.yaml", "--batch=1024", "--batch=1536")


def rename(project: WorkingTree) -> None:
    project.git("mv", "jobs/vision/depth.yaml", "jobs/vision/distance.yaml")
    project.change("jobs/vision/distance.yaml", "name: depth", "name: distance")


HISTORIES = {"runtime-edit": runtime_edit, "job-edit": job_edit, "rename": rename}


@pytest.mark.parametrize("rendering", [True, False], ids=["rendering-committed", "specs-alone"])
@pytest.mark.parametrize("name", HISTORIES)
def test_history(
    name: str, rendering: bool, tmp_path: Path, expected: Callable[[Path, Mapping[str, str]], None]
) -> None:
    """One edit after one commit; whether the commit holds the rendering counts only for runs that keep theirs."""
    project = WorkingTree(tmp_path)
    without = () if rendering else ("output",)
    shutil.rmtree(project.folder / "runtimes")
    shutil.copytree(
        ROOT / "examples/platform", project.folder, ignore=shutil.ignore_patterns(*without), dirs_exist_ok=True
    )
    assert project.commit().returncode == 0
    assert project.run("diff").out == "nothing changes since HEAD\n"
    HISTORIES[name](project)
    runs = {file: project.run("diff", "--report", form) for form, file in FORMS.items()}
    assert {run.code for run in runs.values()} == {0}
    kept = "-rendered" if rendering else ""
    expected(ROOT / "tests/changes/compare/platform" / f"{name}{kept}", {file: run.out for file, run in runs.items()})
