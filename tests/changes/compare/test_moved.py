"""A run that a GitOps tool deletes because its job moved: every entry point says so, in the same words.

All of these edits passed `validate`, `validate --against` and `build -w` without a word, and only `diff` said it.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.repository import PROJECT
from tests.sampling import sampled
from tests.working_tree import WorkingTree

BERT = "jobs/bert.yaml"
CLUSTERS = f"{PROJECT}  clusters:\n    eu: {{}}\n    us: {{}}\n"
ON_EU = "  annotations:\n    trainc.dev/cluster: eu\n"


def rendered(folder: Path, project: str = PROJECT, annotations: str = "") -> WorkingTree:
    """A repository in which the run of one job is rendered and committed."""
    tree = WorkingTree(folder, "bert")
    tree.write("trainc.yaml", project)
    tree.change(BERT, "  namespace: research\n", f"  namespace: research\n{annotations}")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("job").returncode == 0
    return tree


def printed(tree: WorkingTree, *argv: str) -> str:
    """All that a command prints."""
    run = tree.run(*argv)
    return run.out + run.err


def without_namespace(tree: WorkingTree) -> None:
    tree.change(BERT, "  namespace: research\n", "")


def other_namespace(tree: WorkingTree) -> None:
    tree.change(BERT, "namespace: research", "namespace: speech")


def other_name(tree: WorkingTree) -> None:
    tree.change(BERT, "name: bert", "name: bert-large")


EDITS: list[tuple[Callable[[WorkingTree], None], str]] = [
    (without_namespace, "default/bert"),
    (other_namespace, "speech/bert"),
    (other_name, "research/bert-large"),
]


@pytest.mark.parametrize(("edit", "after"), sampled(EDITS, quick=("other_name-research/bert-large",)))
def test_every_entry_point_says_that_the_run_ends(
    edit: Callable[[WorkingTree], None], after: str, tmp_path: Path
) -> None:
    tree = rendered(tmp_path)
    edit(tree)
    words = f"warning[moved-run]: run `research/bert` is deleted, and starts again as `{after}`"
    for argv in (
        ("validate", "--against", "HEAD"),
        ("validate", "--against", "HEAD", BERT, "runtimes"),
        ("build", "--check"),
        ("build", "--check", "--only", "rendered"),
        ("build", "--check", "--jobs", "2"),
        ("build", "-w"),
    ):
        text = printed(tree, *argv)
        assert text.count(words) == 1, argv
        assert "not-in-base" not in text
    # `build -w` said it once, and nobody who saw the commit did.
    tree.git("add", "-A")
    assert printed(tree, "build", "--check", "--staged", "--only", "rendered").count(words) == 1
    assert tree.commit("moved").returncode == 0
    for argv in (("build", "--check", "--no-cache"), ("validate", "--against", "HEAD~1")):
        assert printed(tree, *argv).count(words) == 1, argv
    assert "moved-run" not in printed(tree, "validate", "--jobs", "1")  # it is rendered there now


@pytest.mark.slow
@pytest.mark.parametrize(("edit", "after"), EDITS[:2])
def test_validate_looks_at_the_work_tree(edit: Callable[[WorkingTree], None], after: str, tmp_path: Path) -> None:
    tree = rendered(tmp_path)
    edit(tree)
    words = f"warning[moved-run]: run `research/bert` is deleted, and starts again as `{after}`"
    for argv in (("validate",), ("validate", BERT), ("validate", "--whole-project", BERT), ("validate", ".")):
        assert printed(tree, *argv).count(words) == 1, argv
    assert tree.run("validate", "--fail-on", "warning").code == 1


@pytest.mark.slow
def test_a_namespace_of_the_project_moves_every_job_that_names_none(tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path, "bert", "line")
    for name in ("bert", "line"):
        tree.change(f"jobs/{name}.yaml", "  namespace: research\n", "")
    tree.write("trainc.yaml", f"{PROJECT}  clusters:\n    eu:\n      namespace: research\n")
    assert tree.run("build", "-w").code == 0
    tree.commit("jobs")
    tree.change("trainc.yaml", "namespace: research", "namespace: speech")
    for argv in (("validate",), ("validate", "--against", "HEAD"), ("build", "--check"), ("build", "-w")):
        assert printed(tree, *argv).count("warning[moved-run]") == 2, argv


@pytest.mark.slow
def test_a_job_that_leaves_a_cluster_for_another(tmp_path: Path) -> None:
    tree = rendered(tmp_path, CLUSTERS, ON_EU)
    tree.change(BERT, "cluster: eu", "cluster: us")
    for argv in (("validate",), ("validate", "--against", "HEAD"), ("build", "--check"), ("build", "-w")):
        assert "run `eu/research/bert` is deleted, and starts again as `us/research/bert`" in printed(tree, *argv), argv


def quiet(tree: WorkingTree) -> None:
    """No command takes an edit for a move."""
    for argv in (("validate",), ("validate", "--against", "HEAD"), ("build", "--check"), ("build", "-w")):
        assert "moved-run" not in printed(tree, *argv), argv


def test_a_second_cluster_is_no_move(tmp_path: Path) -> None:
    tree = rendered(tmp_path, CLUSTERS, ON_EU)
    tree.change(BERT, "cluster: eu", "cluster: eu,us")
    quiet(tree)


@pytest.mark.slow
def test_who_starts_a_new_run_elsewhere_asked_for_it(tmp_path: Path) -> None:
    tree = rendered(tmp_path)
    other_namespace(tree)
    assert tree.run("run", "bert").code == 0
    quiet(tree)


def test_a_job_beside_another_of_its_name_is_new(tmp_path: Path) -> None:
    tree = rendered(tmp_path)
    text = tree.read(BERT)
    tree.write(BERT, f"{text}---\n{text.replace('namespace: research', 'namespace: speech')}")
    quiet(tree)


def test_a_job_that_is_deleted_on_purpose(tmp_path: Path) -> None:
    tree = rendered(tmp_path)
    tree.job("line")
    (tree.folder / BERT).unlink()
    quiet(tree)
