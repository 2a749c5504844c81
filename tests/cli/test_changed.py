"""`--changed-since` compiles what a change reaches, and leaves everything else alone."""

from pathlib import Path

import pytest

from tests.repository import RUNTIME
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

CHECK = ("build", "--check", "--changed-since", "HEAD")
WRITE = ("build", "-w", "--changed-since", "HEAD")


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path, "bert", "line")
    tree.write("runtimes/other.yaml", RUNTIME.replace("name: torch\n", "name: other\n"))
    tree.job("curve")
    tree.change("jobs/curve.yaml", "name: torch", "name: other")
    assert tree.trainc("build", "-w").returncode == 0
    assert tree.commit().returncode == 0
    return tree


def test_nothing_changed(tree: WorkingTree) -> None:
    done = tree.trainc(*CHECK)
    assert done.returncode == 0
    assert "0 jobs" in done.stdout


def test_a_job(tree: WorkingTree) -> None:
    tree.job("bert", run="2")
    done = tree.trainc(*CHECK)
    assert done.returncode == 1
    assert "1 job," in done.stdout
    assert tree.trainc(*WRITE).returncode == 0
    assert tree.trainc("build", "--check").returncode == 0


def test_a_new_job(tree: WorkingTree) -> None:
    tree.job("fresh")
    assert tree.trainc(*WRITE).returncode == 0
    assert "research/fresh.yaml" in tree.rendered()


def test_a_deleted_job(tree: WorkingTree) -> None:
    (tree.folder / "jobs/bert.yaml").unlink()
    assert "left over" in tree.trainc(*CHECK).stdout
    assert tree.trainc(*WRITE).returncode == 0
    assert "research/bert.yaml" not in tree.rendered()
    assert "research/line.yaml" in tree.rendered()


def test_a_runtime_reaches_its_jobs(tree: WorkingTree) -> None:
    tree.change("runtimes/other.yaml", "owner: platform", "owner: research")
    done = tree.trainc(*WRITE)
    assert "1 job," in done.stdout
    assert "owner: research" in tree.rendered()["research/curve.yaml"]


def test_a_runtime_that_went_is_missed(tree: WorkingTree) -> None:
    (tree.folder / "runtimes/other.yaml").unlink()
    done = tree.trainc(*CHECK)
    assert done.returncode == 1
    assert "jobs/curve.yaml" in done.stdout


def test_the_project_reaches_everything(tree: WorkingTree) -> None:
    tree.setting("delivery: argocd")
    assert "3 jobs" in tree.trainc(*CHECK).stdout


@pytest.mark.parametrize("change", ["edited", "removed"])
def test_a_rendered_file(tree: WorkingTree, change: str) -> None:
    path = tree.folder / "rendered/research/line.yaml"
    if change == "edited":
        tree.change("rendered/research/line.yaml", "completions: 2", "completions: 3")
    else:
        path.unlink()
    done = tree.trainc(*CHECK)
    assert done.returncode == 1
    assert "1 job," in done.stdout


@pytest.mark.parametrize("revision", ["nothing", "--all", "HEAD~99"])
def test_an_unreadable_revision(tree: WorkingTree, revision: str) -> None:
    done = tree.trainc("build", "--check", f"--changed-since={revision}")
    assert done.returncode == 2
    assert "Git has no revision" in done.stdout
