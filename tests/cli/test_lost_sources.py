"""Files that do not hold their jobs any more: pointers of Git LFS, emptied files, deleted renderings, the last job."""

import shutil
from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 1234\n"
EVERYWHERE = (
    ("validate",),
    ("build",),
    ("build", "-w"),
    ("build", "--check"),
    ("validate", "jobs/bert.yaml"),
    ("validate", "--staged", "jobs/bert.yaml"),
)


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path, "bert", "line")
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    return tree


@pytest.mark.slow
def test_a_pointer_of_git_lfs_is_an_error(tree: WorkingTree) -> None:
    tree.write("jobs/bert.yaml", POINTER)
    tree.git("add", "-A")
    for words in EVERYWHERE:
        said = _said(tree, *words)
        assert "jobs/bert.yaml:1:1" in said
        assert "this file is a pointer of Git LFS" in said
        assert "help: run `git lfs pull`" in said
        assert "not-an-object" not in said


@pytest.mark.slow
def test_a_pointer_that_was_never_rendered_and_a_runtime_as_one(tree: WorkingTree) -> None:
    tree.write("jobs/new.json", POINTER)
    assert "jobs/new.json:1:1" in _said(tree, "validate")
    (tree.folder / "jobs/new.json").unlink()
    tree.write("runtimes/torch-2.yaml", POINTER)
    assert "runtimes/torch-2.yaml:1:1" in _said(tree, "validate")
    tree.write("runtimes/torch.yaml", POINTER)
    assert "runtimes/torch.yaml:1:1" in _said(tree, "validate", "jobs/bert.yaml")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", marks=pytest.mark.slow),
        pytest.param("---\n", marks=pytest.mark.slow),
        "# apiVersion: trainer.kubeflow.org/v1alpha1\n# kind: TrainJob\n",
    ],
)
def test_an_emptied_source_of_a_rendered_job_is_an_error(tree: WorkingTree, text: str) -> None:
    before = tree.read("rendered/research/bert.yaml")
    tree.write("jobs/bert.yaml", text)
    tree.git("add", "-A")
    for words in EVERYWHERE:
        said = _said(tree, *words)
        assert "error[source-lost]" in said
        assert "jobs/bert.yaml:1:1" in said
    assert tree.read("rendered/research/bert.yaml") == before


@pytest.mark.slow
def test_an_empty_file_that_no_job_came_from_and_a_moved_job_are_silent(tree: WorkingTree) -> None:
    tree.write("jobs/empty.yaml", "")
    tree.write("jobs/moved.yaml", tree.read("jobs/bert.yaml"))
    tree.write("jobs/bert.yaml", "# moved.yaml has it\n")
    for words in (("validate",), ("build", "-w"), ("build", "--check")):
        _said(tree, *words, code=0)


@pytest.mark.slow
def test_the_last_job_of_a_repository_is_removed_through_the_hooks(tree: WorkingTree) -> None:
    tree.hooks()
    tree.git("commit", "-qnm", "hooks")
    tree.git("rm", "-q", "jobs/bert.yaml", "jobs/line.yaml")
    assert tree.run("build", "-w", "-q").code == 0
    assert tree.run("build", "--check").code == 0
    done = tree.commit()
    assert done.returncode == 0, done.stdout
    assert tree.git("ls-files", "jobs", "rendered").stdout == ""


@pytest.mark.slow
def test_the_first_commit_of_a_repository_without_jobs_passes_the_hooks(tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path)
    tree.hooks()
    done = tree.commit()
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_left_over_rendering_fails_where_no_job_is_left(tree: WorkingTree) -> None:
    tree.hooks()
    tree.git("commit", "-qnm", "hooks")
    tree.git("rm", "-q", "jobs/bert.yaml", "jobs/line.yaml")
    said = tree.commit().stdout
    assert "`rendered/research/bert.yaml` is left over" in said
    assert "run `git rm rendered/research/bert.yaml`" in said


@pytest.mark.slow
def test_the_help_of_the_hook_names_the_jobs_concerned(tree: WorkingTree) -> None:
    tree.hooks()
    tree.git("commit", "-qnm", "hooks")
    tree.job("curve")
    tree.git("add", "-A")
    tree.write("jobs/draft.yaml", "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n")
    said = tree.command("git", "commit", "-qm", "change").stdout
    assert "run `trainc build -w jobs/curve.yaml` and commit what it writes" in said
    assert tree.run("build", "-w").code == 1
    assert tree.run("build", "-w", "jobs/curve.yaml").code == 0
    tree.git("add", "rendered")
    assert tree.command("git", "commit", "-qm", "change").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("staged", [False, True])
def test_a_deleted_rendering_does_not_end_its_run(tree: WorkingTree, *, staged: bool) -> None:
    before = tree.read("rendered/research/bert.yaml")
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 4")
    shutil.rmtree(tree.folder / "rendered")
    if staged:
        tree.git("add", "-A")
    said = _said(tree, "build", "-w", code=0)
    assert "2 runs keep their rendering (runtimes/torch.yaml changed)" in said
    assert tree.read("rendered/research/bert.yaml") == before
    assert tree.run("build", "--check").code == 0


def _said(tree: WorkingTree, *words: str, code: int = 1) -> str:
    done = tree.run(*words)
    assert done.code == code, done.err
    return done.err
