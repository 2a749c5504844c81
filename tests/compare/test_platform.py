"""`trainc diff` on prepared histories of the example with two clusters: what each prints is committed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.compare.history import commit, git, run
from tests.compiling import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

FORMS = {"text": "diff.txt", "markdown": "diff.md", "json": "diff.json"}


def replaced(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def runtime_edit(project: Path) -> None:
    replaced(project / "runtimes/torch-gpu.yaml", "value: WARN", "value: ERROR")


def job_edit(project: Path) -> None:
    job = project / "jobs/llm/base-7b.yaml"
    replaced(job, "numNodes: 8", "numNodes: 12")
    replaced(job, "--batch=1024", "--batch=1536")


def rename(project: Path) -> None:
    git(project, "mv", "jobs/vision/depth.yaml", "jobs/vision/distance.yaml")
    replaced(project / "jobs/vision/distance.yaml", "name: depth", "name: distance")


HISTORIES = {"runtime-edit": runtime_edit, "job-edit": job_edit, "rename": rename}


@pytest.mark.parametrize("rendering", [True, False], ids=["rendering-committed", "specs-alone"])
@pytest.mark.parametrize("name", HISTORIES)
def test_history(
    name: str, rendering: bool, tmp_path: Path, expected: Callable[[Path, Mapping[str, str]], None]
) -> None:
    """One edit after one commit; whether the commit holds the rendering counts only for runs that keep theirs."""
    project = tmp_path / "platform"
    without = () if rendering else ("output",)
    shutil.copytree(ROOT / "examples/platform", project, ignore=shutil.ignore_patterns(*without))
    git(project, "init", "--quiet", "--initial-branch=main")
    commit(project)
    assert run(project, "diff") == (0, "nothing changes since HEAD\n", "")
    HISTORIES[name](project)
    said = {file: run(project, "diff", "--report", form)[1] for form, file in FORMS.items()}
    kept = "-kept" if rendering and name == "runtime-edit" else ""
    expected(ROOT / "tests/compare/platform" / f"{name}{kept}", said)
