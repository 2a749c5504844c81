"""The hooks that trainc ships, under the real pre-commit in a real Git repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import ROOT
from tests.working_tree import WorkingTree

BROKEN = ("numNodes: 2", "numNodes: many")


def test_the_manifest_is_one(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")]
    assert subprocess.run(words, check=False, env={**os.environ, "PRE_COMMIT_HOME": str(tmp_path)}).returncode == 0


@pytest.mark.slow
def test_a_job_with_a_mistake_is_not_committed(tree: WorkingTree) -> None:
    tree.change("jobs/bert.yaml", *BROKEN)
    done = tree.commit()
    assert done.returncode == 1
    assert "error[invalid-field]" in done.stdout
    assert "jobs/bert.yaml:11:15" in done.stdout


@pytest.mark.slow
def test_a_refused_edit_is_one_error(tree: WorkingTree) -> None:
    """It was three: `out-of-date` beside it said to run the build that refuses, and the other hook said it again."""
    tree.change("jobs/bert.yaml", "numNodes: 2", "numNodes: 3")
    done = tree.commit()
    assert done.returncode == 1
    assert done.stdout.count("error[") == done.stdout.count("error[immutable-change]") == 1
    assert done.stdout.count("Failed") == 2
    assert "skipped the rendered files of jobs/bert.yaml" in done.stdout
    alone = tree.run("build", "--check")
    assert (alone.code, alone.err.count("error[")) == (1, 1)
    assert "trainc build -w jobs" not in alone.err
    # The validation that the hook leaves it to says nothing of a rendering that the commit deletes.
    tree.git("rm", "-q", "--cached", "rendered/research/bert.yaml")
    check = tree.run("build", "--check", "--staged", "--only", "rendered")
    assert (check.code, check.err.count("error[immutable-change]")) == (1, 1)


@pytest.mark.slow
def test_a_job_without_its_rendering_is_not_committed(tree: WorkingTree) -> None:
    tree.job("curve")
    done = tree.commit()
    assert done.returncode == 1
    assert "`rendered/research/curve.yaml` has not been rendered" in done.stdout
    assert tree.trainc("build", "-w").returncode == 0
    assert tree.commit().returncode == 0


@pytest.mark.slow
def test_a_rendering_that_git_does_not_know_is_missing(tree: WorkingTree) -> None:
    tree.job("curve")
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "jobs")
    done = tree.command("git", "commit", "-qm", "half")
    assert done.returncode == 1
    assert "`rendered/research/curve.yaml` is rendered, but the commit leaves it out" in done.stdout


@pytest.mark.slow
def test_a_deleted_job_is_noticed(tree: WorkingTree) -> None:
    tree.git("rm", "-q", "jobs/bert.yaml")
    done = tree.commit()
    assert done.returncode == 1
    assert "`rendered/research/bert.yaml` is left over" in done.stdout
    assert tree.trainc("build", "-w").returncode == 0
    assert tree.commit().returncode == 0


@pytest.mark.slow
def test_a_runtime_that_breaks_a_job_is_noticed(tree: WorkingTree) -> None:
    tree.change("runtimes/torch.yaml", "name: torch\n", "name: torch-2\n")
    done = tree.commit()
    assert done.returncode == 1
    assert "jobs/bert.yaml" in done.stdout
    assert "jobs/line.yaml" in done.stdout


@pytest.mark.slow
def test_mistakes_in_other_files_do_not_stop_a_commit_of_this_one(tree: WorkingTree) -> None:
    tree.change("jobs/bert.yaml", *BROKEN)
    done = tree.trainc("validate", "--whole-project", "jobs/line.yaml")
    assert done.returncode == 0, done.stdout
    assert tree.trainc("validate", "--whole-project", "jobs/bert.yaml").returncode == 1


@pytest.mark.slow
def test_what_only_shows_across_files_shows_in_every_batch(tree: WorkingTree) -> None:
    tree.job("twin")
    tree.change("jobs/twin.yaml", "name: twin", "name: bert")
    for name in ("bert", "twin"):
        assert "error[same-name]" in tree.trainc("validate", "--whole-project", f"jobs/{name}.yaml").stdout
    assert tree.trainc("validate", "--whole-project", "jobs/line.yaml").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{}, {"PRE_COMMIT_NO_CONCURRENCY": "1"}], ids=["parallel", "one"])
@pytest.mark.parametrize("serial", [True, False])
def test_batches_find_the_same(tmp_path: Path, serial: bool, environment: dict[str, str]) -> None:
    names = [f"job-{number:02}" for number in range(50)]
    tree = WorkingTree(tmp_path, *names)
    assert tree.trainc("build", "-w").returncode == 0
    tree.hooks(require_serial=serial)
    assert tree.commit(**environment).returncode == 0
    for name in ("job-07", "job-31", "job-49"):
        tree.change(f"jobs/{name}.yaml", *BROKEN)
    tree.git("add", "-A")
    words = (sys.executable, "-m", "pre_commit", "run", "trainc-validate", "--all-files")
    done = tree.command(*words, **environment)
    assert done.returncode == 1
    found = {line.split(":")[0] for line in done.stdout.splitlines() if "--> jobs/" in line}
    assert {name.partition("jobs/")[2] for name in found} == {"job-07.yaml", "job-31.yaml", "job-49.yaml"}
