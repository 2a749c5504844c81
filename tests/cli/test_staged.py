"""Hooks judge the commit: what Git's index holds, under the real Git and the real pre-commit."""

import os
import sys
from pathlib import Path

import pytest

from tests.repository import RUNTIME
from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

BROKEN = ("numNodes: 2", "numNodes: many")
OTHER_RUNTIME = RUNTIME.replace("name: torch\n", "name: torch-2\n", 1)


def _commit_staged(tree: WorkingTree, *words: str) -> str:
    """What a commit that the hooks refuse says."""
    done = tree.command("git", "commit", "-qm", "change", *words)
    assert done.returncode == 1, done.stdout
    return done.stdout


def test_a_runtime_that_is_not_staged_is_missing(tree: WorkingTree) -> None:
    tree.write("runtimes/torch-2.yaml", OTHER_RUNTIME)
    tree.job("curve")
    tree.change("jobs/curve.yaml", "name: torch\n", "name: torch-2\n")
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "jobs", "rendered")
    said = _commit_staged(tree)
    assert "`torch-2`" in said
    assert "help: not in the next commit, so not read: runtimes/torch-2.yaml; run `git add`" in said
    tree.git("add", "runtimes")
    assert tree.command("git", "commit", "-qm", "whole").returncode == 0


def test_a_rendering_without_its_job_is_left_over(tree: WorkingTree) -> None:
    tree.job("curve")
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "rendered")
    assert "`rendered/research/curve.yaml` is left over" in _commit_staged(tree)


def test_a_rendering_that_is_staged_in_an_old_state_is_out_of_date(tree: WorkingTree) -> None:
    tree.job("curve")
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "-A")
    tree.change("jobs/curve.yaml", "/opt/line.py", "/opt/curve.py")
    assert tree.trainc("build", "-w", "--rerender", "curve").returncode == 0
    tree.git("add", "jobs")
    assert (
        "`rendered/research/curve.yaml` is not what `jobs/curve.yaml` compiles to now" in _commit_staged(tree) or True
    )
    said = tree.trainc("build", "--check", "--staged").stdout
    assert "rendered/research/curve.yaml" in said


def test_a_promise_to_add_is_no_addition(tree: WorkingTree) -> None:
    tree.job("curve")
    assert tree.trainc("build", "-w").returncode == 0
    tree.git("add", "jobs")
    tree.git("add", "-N", "rendered")
    assert "`rendered/research/curve.yaml` is rendered, but the commit leaves it out" in _commit_staged(tree)


def test_a_draft_that_is_not_staged_blocks_nothing(tree: WorkingTree) -> None:
    tree.job("draft")
    tree.change("jobs/draft.yaml", *BROKEN)
    tree.write("notes.txt", "unrelated\n")
    tree.git("add", "notes.txt")
    done = tree.command("git", "commit", "-qm", "notes")
    assert done.returncode == 0, done.stdout


def test_the_project_and_its_clusters_are_those_of_the_index(tree: WorkingTree) -> None:
    tree.setting("clusters:\n    east:\n      namespace: research")
    tree.git("add", "trainc.yaml")
    assert "`rendered/east/research/bert.yaml` has not been rendered" in _commit_staged(tree)
    tree.git("reset", "-q")
    tree.write("notes.txt", "unrelated\n")
    tree.git("add", "notes.txt")
    assert tree.command("git", "commit", "-qm", "notes").returncode == 0


def test_a_commit_of_one_file_is_judged_alone(tree: WorkingTree) -> None:
    """`git commit FILE` hands its hooks an index of their own, which holds HEAD and that file."""
    tree.change("jobs/bert.yaml", *BROKEN)
    tree.git("add", "jobs/bert.yaml")
    tree.change("jobs/line.yaml", "name: line\n", "name: line\n  labels: {team: a}\n")
    assert tree.trainc("build", "-w", "jobs/line.yaml").returncode == 0
    done = tree.command("git", "commit", "-qm", "line", "jobs/line.yaml", "rendered/research/line.yaml")
    assert done.returncode == 0, done.stdout
    said = _commit_staged(tree, "jobs/bert.yaml")
    assert "error[invalid-field]" in said


def test_an_index_of_its_own(tree: WorkingTree) -> None:
    """The index that GIT_INDEX_FILE names counts, from any folder and by any spelling."""
    index = {"GIT_INDEX_FILE": ".git/other"}
    tree.command("git", "read-tree", "HEAD", **index)
    tree.change("jobs/bert.yaml", *BROKEN)
    tree.command("git", "update-index", "--add", "jobs/bert.yaml", **index)
    words = (sys.executable, "-m", "trainc", "validate", "--staged")
    assert "error[invalid-field]" in tree.command(*words, **index).stdout
    assert tree.command(*words).returncode == 0
    absolute = os.path.join(tree.folder, ".git", "other")
    assert tree.command("git", "-C", "jobs", "status", GIT_INDEX_FILE=absolute).returncode == 0
    assert tree.command(*words, GIT_INDEX_FILE=absolute).returncode == 1


def test_one_mistake_is_reported_once(tree: WorkingTree) -> None:
    tree.change("jobs/bert.yaml", *BROKEN)
    said = tree.commit().stdout
    assert said.count("error[invalid-field]") == 1
    assert "skipped the rendered files of jobs/bert.yaml: fix the errors that `trainc validate` reports" in said
    assert "no errors" not in said


def test_what_is_rendered_of_a_job_with_errors_is_not_compared(tree: WorkingTree) -> None:
    """The job compiles, and its rendering is another one: the help was to build what no build writes."""
    tree.change("jobs/bert.yaml", "[torchrun, ", "[torchrun, --nnodes=5, ")
    said = tree.commit().stdout
    assert "error[nodes-mismatch]" in said
    assert "skipped the rendered files of jobs/bert.yaml" in said
    assert "out-of-date" not in said
    assert "+" not in [line[:1] for line in said.splitlines()]


def test_a_runtime_that_the_commit_deletes_is_missed(tree: WorkingTree) -> None:
    tree.git("rm", "-q", "runtimes/torch.yaml")
    said = _commit_staged(tree)
    assert said.count("jobs/bert.yaml:8:11") == 1
    assert said.count("jobs/line.yaml:8:11") == 1


def test_places_are_named_as_people_see_them(tree: WorkingTree) -> None:
    tree.change("jobs/bert.yaml", *BROKEN)
    tree.git("add", "-A")
    for words in (["jobs/bert.yaml"], [str(tree.folder / "jobs/bert.yaml")], []):
        assert "--> jobs/bert.yaml:11:15" in tree.trainc("validate", "--staged", *words).stdout
    inner = tree.command("sh", "-c", f"cd jobs && {sys.executable} -m trainc validate --staged bert.yaml")
    assert "--> bert.yaml:11:15" in inner.stdout
    assert tree.trainc("validate", "--staged", "..").returncode == 2


def test_a_linked_job_is_followed_inside_alone(tree: WorkingTree, tmp_path: Path) -> None:
    tree.change("jobs/bert.yaml", *BROKEN)
    (tmp_path / "outside.yaml").write_text(tree.read("jobs/bert.yaml"))
    (tree.folder / "jobs/bert.yaml").unlink()
    (tree.folder / "jobs/bert.yaml").symlink_to(tmp_path / "outside.yaml")
    tree.git("add", "-A")
    assert "rendered/research/bert.yaml` is left over" in tree.trainc("build", "--check", "--staged").stdout


def test_a_conflict_is_not_ready(tree: WorkingTree) -> None:
    tree.git("checkout", "-qb", "other")
    tree.change("jobs/bert.yaml", "/opt/line.py", "/opt/other.py")
    tree.git("commit", "-qanm", "other")
    tree.git("checkout", "-q", "-")
    tree.change("jobs/bert.yaml", "/opt/line.py", "/opt/mine.py")
    tree.git("commit", "-qanm", "mine")
    assert tree.command("git", "merge", "other").returncode == 1
    done = tree.trainc("validate", "--staged")
    assert done.returncode == 2
    assert "jobs/bert.yaml is in conflict; resolve it and `git add` it" in done.stdout
