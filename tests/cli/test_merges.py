"""Merge conflicts in rendered files, as the real Git leaves them, are repaired by the next build."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

BERT = "rendered/research/bert.yaml"
PATCH = "{manager: example.com/team, trainingRuntimeSpec: {template: {metadata: {labels: {team: nlp}}}}}"
LABEL = ("spec:\n", f"spec:\n  runtimePatches: [{PATCH}]\n")


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path, "bert", "line")
    assert tree.trainc("build", "-w").returncode == 0
    _commit(tree)
    tree.git("branch", "other")
    return tree


def _commit(tree: WorkingTree) -> None:
    tree.git("add", "-A")
    tree.git("commit", "-qm", "change")


def _build(tree: WorkingTree, *words: str) -> str:
    done = tree.trainc("build", "-w", *words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def _edit_both(tree: WorkingTree) -> None:
    """Two branches that each change the job in place, at places that Git can merge in the job alone."""
    tree.change("jobs/bert.yaml", *LABEL)
    _build(tree)
    _commit(tree)
    tree.git("checkout", "-q", "other")
    tree.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    _build(tree)
    _commit(tree)
    tree.git("checkout", "-q", "-")
    assert tree.command("git", "merge", "-q", "other").returncode == 1


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("attributes", ["", "rendered/** -merge\n"], ids=["marks", "one side"])
@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_a_build_makes_it_whole(tree: WorkingTree, style: str, attributes: str, added: bool) -> None:
    tree.git("config", "merge.conflictStyle", style)
    tree.write(".git/info/attributes", attributes)
    _edit_both(tree)
    assert tree.read(BERT).startswith("<<<<<<<") is not bool(attributes)
    if added:
        tree.git("add", "-A")
    check = tree.trainc("build", "--check")
    assert check.returncode == 1
    if not attributes:
        assert f"`{BERT}` is left over from a merge conflict" in check.stdout
    _build(tree)
    text = tree.read(BERT)
    assert "<<<<" not in text
    assert "team: nlp" in text
    assert "owner: research" in text
    _commit(tree)
    assert tree.trainc("build", "--check", "--staged").returncode == 0


def test_what_the_merge_would_change_in_a_run_needs_a_new_run(tree: WorkingTree) -> None:
    tree.change("jobs/bert.yaml", "line:1.0.0", "line:1.1.0")
    _build(tree, "--rerender", "bert")
    _commit(tree)
    tree.git("checkout", "-q", "other")
    tree.change("jobs/bert.yaml", "/opt/line.py", "/opt/other.py")
    _build(tree, "--rerender", "bert")
    _commit(tree)
    tree.git("checkout", "-q", "-")
    assert tree.command("git", "merge", "-q", "other").returncode == 1
    done = tree.trainc("build", "-w")
    assert done.returncode == 1
    assert done.stdout.count("error[immutable-change]") == 1
    assert "containers[node].command[1]" in done.stdout
    assert "containers[node].image" not in done.stdout  # so this branch has it


def test_a_run_that_was_kept_stays_kept(tree: WorkingTree) -> None:
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 9")
    assert "keep their rendering" in _build(tree)
    _commit(tree)
    tree.git("branch", "-f", "other")
    tree.git("mv", "jobs/bert.yaml", "jobs/a.yaml")
    _build(tree)
    _commit(tree)
    tree.git("checkout", "-q", "other")
    tree.git("mv", "jobs/bert.yaml", "jobs/b.yaml")
    _build(tree)
    _commit(tree)
    tree.git("checkout", "-q", "-")
    assert tree.command("git", "merge", "-q", "other").returncode == 1
    tree.git("rm", "-qf", "--ignore-unmatch", "jobs/b.yaml", "jobs/bert.yaml")
    assert "runs keep their rendering" in _build(tree)
    text = tree.read(BERT)
    assert text.startswith("# trainc: from jobs/a.yaml ")
    assert "maxRestarts: 3" in text
    assert tree.trainc("build", "--check").returncode == 0


def test_a_run_that_one_side_rendered_anew_is_new(tree: WorkingTree) -> None:
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 9")
    _build(tree, "--rerender", "bert")
    _commit(tree)
    tree.git("checkout", "-q", "other")
    tree.git("mv", "jobs/bert.yaml", "jobs/b.yaml")
    _build(tree)
    _commit(tree)
    tree.git("checkout", "-q", "-")
    assert tree.command("git", "merge", "-q", "other").returncode == 1
    _build(tree)
    assert tree.read(BERT).startswith("# trainc: from jobs/b.yaml ")
    assert "maxRestarts: 9" in tree.read(BERT)


def test_a_conflict_of_a_job_that_is_gone_is_removed(tree: WorkingTree) -> None:
    _edit_both(tree)
    tree.git("rm", "-qf", "jobs/bert.yaml")
    assert "removed 1" in _build(tree)
    assert not (tree.folder / BERT).exists()


def test_in_a_rebase(tree: WorkingTree) -> None:
    tree.change("jobs/bert.yaml", *LABEL)
    _build(tree)
    _commit(tree)
    tree.git("checkout", "-q", "other")
    tree.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    _build(tree)
    _commit(tree)
    assert tree.command("git", "rebase", "-q", "-").returncode == 1
    _build(tree)
    tree.git("add", "-A")
    done = tree.command("git", "rebase", "--continue", GIT_EDITOR="true")
    assert done.returncode == 0, done.stdout
    assert tree.trainc("build", "--check", "--staged").returncode == 0


def test_marks_outside_of_git_count_as_absent(tree: WorkingTree) -> None:
    tree.write(BERT, f"<<<<<<< ours\n{tree.read(BERT)}=======\n>>>>>>> theirs\n")
    tree.command("rm", "-rf", ".git")
    _build(tree)
    assert tree.trainc("build", "--check").returncode == 0


def test_a_renamed_job_rewrites_the_first_line_of_a_kept_rendering(tree: WorkingTree) -> None:
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 9")
    tree.git("mv", "jobs/bert.yaml", "jobs/moved.yaml")
    check = tree.trainc("build", "--check")
    assert check.returncode == 1
    assert f"`{BERT}` needs another first line: its job moved to `jobs/moved.yaml`" in check.stdout
    _build(tree)
    assert tree.read(BERT).startswith("# trainc: from jobs/moved.yaml ")
    assert "maxRestarts: 3" in tree.read(BERT)
    assert tree.trainc("build", "--check").returncode == 0
    assert tree.trainc("why", f"{BERT}:20").returncode == 0


def test_a_rendering_names_the_job_where_it_is_now(tree: WorkingTree) -> None:
    tree.git("mv", "jobs/bert.yaml", "jobs/moved.yaml")
    done = tree.trainc("why", f"{BERT}:20")
    assert done.returncode == 0
    assert "its job is in jobs/moved.yaml now" in done.stdout
    tree.git("rm", "-qf", "jobs/moved.yaml")
    done = tree.trainc("why", f"{BERT}:20")
    assert done.returncode == 2
    assert "is left over: jobs/bert.yaml is gone, and no other job renders to it" in done.stdout


def test_what_a_sparse_checkout_leaves_out_is_not_gone(tree: WorkingTree) -> None:
    tree.write("teams/a/jobs/extra.yaml", tree.read("jobs/line.yaml").replace("name: line", "name: extra"))
    _build(tree)
    _commit(tree)
    tree.git("sparse-checkout", "set", "--no-cone", "/*", "!/teams/", "!/rendered/research/line.yaml")
    assert not (tree.folder / "teams").exists()
    assert not (tree.folder / "rendered/research/line.yaml").exists()
    check = tree.trainc("build", "--check")
    assert check.returncode == 0, check.stdout
    assert "removed 0, unchanged 2" in _build(tree)
    assert not (tree.folder / "rendered/research/line.yaml").exists()
    assert (tree.folder / "rendered/research/extra.yaml").exists()
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 9")
    assert "2 runs keep their rendering" in _build(tree)
    assert tree.trainc("build", "--check", "--staged").returncode == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("own", "error[missing-runtime]: no ClusterTrainingRuntime `own`"),
        (
            "torch-distributed",
            "error[shipped-runtime]: `torch-distributed` is in none of the files that are checked out",
        ),
    ],
)
def test_a_runtime_that_a_sparse_checkout_leaves_out_is_named(tree: WorkingTree, name: str, said: str) -> None:
    tree.change("runtimes/torch.yaml", "name: torch\n", f"name: {name}\n")
    for job in ("bert", "line"):
        tree.change(f"jobs/{job}.yaml", "name: torch\n", f"name: {name}\n")
    _build(tree)
    _commit(tree)
    before = tree.rendered()
    tree.git("sparse-checkout", "set", "--no-cone", "/*", "!/runtimes/")
    done = tree.trainc("build", "-w")
    assert (done.returncode, tree.rendered()) == (1, before)
    assert said in done.stdout
    assert "add the folder of runtimes with `git sparse-checkout add FOLDER`" in done.stdout
