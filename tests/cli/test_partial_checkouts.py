"""Sparse checkouts, submodules, repositories of others, folders in the way: each has an answer, or one line that says why not."""

import os
from pathlib import Path

import pytest

from tests.repository import job
from tests.working_tree import WorkingTree


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """A rendered job, and a file outside of all that a sparse checkout has."""
    tree = WorkingTree(tmp_path, "bert")
    assert tree.trainc("build", "-w").returncode == 0
    tree.write("other/f", "a")
    assert tree.commit().returncode == 0
    return tree


def sparse(tree: WorkingTree, *patterns: str) -> None:
    tree.git("sparse-checkout", "set", "--no-cone", *patterns)


def test_what_a_sparse_checkout_leaves_out_is_no_change(tree: WorkingTree) -> None:
    tree.write("other/f", "b")
    assert tree.commit().returncode == 0
    sparse(tree, "/jobs", "/runtimes", "/trainc.yaml", "/rendered")
    done = tree.trainc("diff", "HEAD~1")
    assert (done.returncode, done.stdout) == (0, "nothing changes since HEAD~1\n")
    assert tree.trainc("validate", "--against", "HEAD~1").returncode == 0


def test_a_runtime_that_a_sparse_checkout_leaves_out_is_not_copied_anew(tree: WorkingTree) -> None:
    sparse(tree, "/jobs", "/trainc.yaml")
    for words in (("validate",), ("diff",), ("show",)):
        done = tree.trainc(*words)
        assert "the checkout is sparse: add the folder of runtimes with `git sparse-checkout add FOLDER`" in done.stdout
        assert "runtimes copy" not in done.stdout


@pytest.fixture
def with_module(tree: WorkingTree) -> WorkingTree:
    """The same repository with a job in a submodule."""
    module = tree.folder.parent / "module"
    (module / "jobs").mkdir(parents=True)
    (module / "jobs/x.yaml").write_text(job("inside"))
    tree.git("init", "-q", "--template=", str(module))
    tree.git("-C", str(module), "add", "-A")
    tree.git("-C", str(module), "commit", "-qm", "1")
    tree.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(module), "sub")
    assert tree.trainc("build", "-w").returncode == 0
    assert list(tree.rendered()) == ["research/bert.yaml", "research/inside.yaml"]
    tree.git("add", "-A")
    return tree


def test_the_next_commit_has_the_jobs_of_its_submodules(with_module: WorkingTree) -> None:
    assert with_module.trainc("build", "--check", "--staged").returncode == 0
    assert with_module.trainc("validate", "--staged").returncode == 0
    with_module.change("sub/jobs/x.yaml", "numNodes: 2", "numNodes: 3")
    assert with_module.trainc("build", "--check").returncode == 1
    assert with_module.trainc("build", "--check", "--staged").returncode == 0  # it names the commit of before


def test_a_revision_has_the_jobs_of_its_submodules(with_module: WorkingTree) -> None:
    with_module.git("rm", "-rq", "--cached", "rendered")
    with_module.git("commit", "-qm", "2")
    for path in (with_module.folder / "rendered").rglob("*.yaml"):
        path.unlink()
    assert with_module.trainc("diff").stdout == "nothing changes since HEAD\n"
    with_module.change("sub/jobs/x.yaml", "numNodes: 2", "numNodes: 3")
    done = with_module.trainc("diff")
    assert "-/+ research/inside  because of sub/jobs/x.yaml" in done.stdout
    assert "bert" not in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_git_says_why_it_refuses_a_repository_of_others(tree: WorkingTree) -> None:
    for path in (tree.folder, *tree.folder.rglob("*")):
        os.chown(path, 65534, 65534)
    done = tree.trainc("diff")
    assert done.returncode == 2
    assert "detected dubious ownership in repository" in done.stdout
    assert "; run `git config --global --add safe.directory" in done.stdout


def test_a_folder_where_a_rendered_file_belongs(tree: WorkingTree) -> None:
    rendered = tree.folder / "rendered/research/bert.yaml"
    rendered.unlink()
    rendered.mkdir()
    for words in (("-w",), ("--check",)):
        done = tree.trainc("build", *words)
        reason = "rendered/research/bert.yaml is a folder, and a rendered file belongs there; move or remove it"
        assert (done.returncode, done.stdout) == (2, f"trainc: {reason}\n")
