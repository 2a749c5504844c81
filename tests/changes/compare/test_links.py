"""Symbolic links of the repository lead to the same files in a revision and in the index as in the work tree."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree


@pytest.fixture(params=["file", "folder"])
def linked(request: pytest.FixtureRequest, tmp_path: Path) -> WorkingTree:
    """A job whose runtime is behind a link to a hidden folder of the repository."""
    tree = WorkingTree(tmp_path)
    tree.job("bert")
    folder = tree.folder
    hidden = folder / ".shared"
    if request.param == "folder":
        (folder / "runtimes").rename(hidden)
        (folder / "runtimes").symlink_to(".shared")
    else:
        hidden.mkdir()
        (folder / "runtimes/torch.yaml").rename(hidden / "torch.yaml")
        (folder / "runtimes/torch.yaml").symlink_to("../.shared/torch.yaml")
    assert tree.commit().returncode == 0
    return tree


def test_a_clean_work_tree_changes_nothing(linked: WorkingTree) -> None:
    assert linked.run("validate").code == 0
    assert linked.run("diff", "--exit-code").out == "nothing changes since HEAD\n"
    against = linked.run("validate", "--against", "HEAD")
    assert (against.code, against.findings) == (0, [])


def test_the_index_has_what_the_link_leads_to(linked: WorkingTree) -> None:
    assert linked.run("validate", "--staged").code == 0
    (linked.folder / ".shared/torch.yaml").write_text("apiVersion: [\n")
    assert linked.run("validate").code == 1
    assert linked.run("validate", "--staged").code == 0
    linked.git("add", "-A")
    assert linked.run("validate", "--staged").code == 1


def test_an_edit_behind_the_link_is_seen(linked: WorkingTree) -> None:
    linked.change(".shared/torch.yaml", "memory: 16Gi", "memory: 8Gi")
    assert "limits memory of node/node: 16Gi -> 8Gi" in linked.run("diff").out


def test_a_runtime_whose_text_no_longer_says_what_it_is_reaches_its_jobs(tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path)
    tree.job("bert")
    assert tree.commit().returncode == 0
    tree.write("runtimes/torch.yaml", "a: 1\n")
    tree.git("add", "-A")
    staged = tree.run("validate", "--staged")
    assert (staged.code, "missing-runtime" in staged.err) == (1, True)
