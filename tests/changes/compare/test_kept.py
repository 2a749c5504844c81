"""A run keeps its rendering where its own job changes nothing that is fixed, and every command says so."""

from pathlib import Path

import pytest

from tests.working_tree import WorkingTree

pytestmark = pytest.mark.slow

BERT, RENDERED, RUNTIME = "jobs/bert.yaml", "rendered/research/bert.yaml", "runtimes/torch.yaml"
PATCH = "  runtimePatches: [{manager: example.com/me, trainingRuntimeSpec: {template: {metadata: {%s}}}}]\n"
KEPT = "run `bert` keeps its rendering (runtimes/torch.yaml changed)"


@pytest.fixture
def tree(tmp_path: Path) -> WorkingTree:
    """A rendering is committed, and after that an edit of the runtime that no run can take."""
    tree = WorkingTree(tmp_path, "bert")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("job").returncode == 0
    tree.change(RUNTIME, "maxRestarts: 3", "maxRestarts: 5")
    assert KEPT in tree.run("build", "-w").err
    assert tree.commit("runtime").returncode == 0
    tree.git("checkout", "-q", "-b", "edit")
    tree.git("branch", "-f", "base")
    return tree


def _body(tree: WorkingTree) -> str:
    return tree.read(RENDERED).partition("\n")[2]


def _says_nothing_changes(tree: WorkingTree) -> None:
    """What `--against` and `diff` say of a rendering that stays as it is."""
    judged = tree.run("validate", "--against", "base")
    assert judged.code == 0, judged.err
    assert "changed-in-place" not in judged.err
    assert tree.run("diff", "base").out == "nothing changes since base\n"


def test_a_comment_changes_nothing(tree: WorkingTree) -> None:
    tree.write(BERT, f"# a comment\n{tree.read(BERT)}")
    kept = "=   research/bert  keeps its rendering, without the edit of runtimes/torch.yaml\n"
    assert tree.run("diff", "base~1").out.startswith(f"nothing changes since base~1\n{kept}")
    # `validate --against` refused `maxRestarts`, and `diff` said that the API server refuses it in place.
    _says_nothing_changes(tree)
    assert "wrote 0, removed 0, unchanged 1" in tree.run("build", "-w").err
    _says_nothing_changes(tree)
    assert tree.run("build", "--check", "-q").code == 0


def test_a_move_changes_the_first_line_alone(tree: WorkingTree) -> None:
    before = _body(tree)
    tree.git("mv", BERT, "jobs/x.yaml")
    _says_nothing_changes(tree)
    assert KEPT in tree.run("build", "-w").err
    assert _body(tree) == before
    # Both refused `maxRestarts`, as above.
    _says_nothing_changes(tree)
    assert tree.commit().returncode == 0
    assert tree.run("build", "--check", "-q").code == 0
    _says_nothing_changes(tree)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  namespace:", "  labels: {team: x}\n  namespace:"),
        ("numNodes: 2", "numNodes: 2.0"),
        ("    numNodes: 2", "    numNodes: 0x2"),
        ("  runtimeRef:\n    name: torch\n", "  runtimeRef: {kind: ClusterTrainingRuntime, name: torch}\n"),
    ],
)
def test_an_edit_without_effect_changes_nothing(tree: WorkingTree, old: str, new: str) -> None:
    before = _body(tree)
    tree.change(BERT, old, new)
    _says_nothing_changes(tree)
    # `build -w` refused `maxRestarts`, "a run keeps its rendering only while nothing but runtimes/torch.yaml changes".
    done = tree.run("build", "-w")
    assert done.code == 0, done.err
    assert _body(tree) == before
    assert tree.run("build", "--check", "-q").code == 0
    # The rendering that is not committed yet was made from a job that Git does not have.
    tree.change(BERT, "  namespace:", "  annotations: {note: later}\n  namespace:")
    done = tree.run("build", "-w")
    assert done.code == 0, done.err
    assert _body(tree) == before
    assert tree.commit().returncode == 0
    # A clone without history, or an archive, needs no former job: the first line names the present one.
    assert tree.run("build", "--check", "-q").code == 0
    _says_nothing_changes(tree)


def test_an_edit_that_was_committed_before_it_is_built(tree: WorkingTree) -> None:
    before = _body(tree)
    tree.change(BERT, "  namespace:", "  labels: {team: x}\n  namespace:")
    assert tree.commit().returncode == 0
    _says_nothing_changes(tree)
    check = tree.run("build", "--check")
    assert check.code == 1
    assert "needs another first line" in check.err
    assert "immutable-change" not in check.err
    assert tree.run("build", "-w").code == 0
    assert _body(tree) == before


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("spec:\n", "spec:\n  suspend: true\n", "  suspend: true"),
        ("spec:\n", "spec:\n" + PATCH % "labels: {team: nlp}", "    team: nlp"),
        ("spec:\n", "spec:\n" + PATCH % "annotations: {note: slow}", "    note: slow"),
    ],
)
def test_an_edit_in_place_is_laid_on_what_stays(tree: WorkingTree, old: str, new: str, line: str) -> None:
    before = _body(tree)
    tree.change(BERT, old, new)
    # `build -w` refused `maxRestarts`: a job that ran away could not be paused.
    done = tree.run("build", "-w")
    assert done.code == 0, done.err
    assert KEPT in done.err
    after = _body(tree)
    assert "maxRestarts: 3" in after
    added = [one for one in after.splitlines() if one not in before.splitlines()]
    assert line in added
    assert len(added) <= 2
    assert all(one in after.splitlines() for one in before.splitlines())
    for _ in range(2):
        judged = tree.run("validate", "--against", "base")
        assert judged.code == 0, judged.err
        assert judged.err.count("note[changed-in-place]") == 1
        assert "--> jobs/bert.yaml:" in judged.err
        out = tree.run("diff", "base").out
        assert out.startswith("~   research/bert  because of jobs/bert.yaml\n")
        assert "maxRestarts" not in out
        assert "refuses" not in out
        assert tree.run("build", "--check", "-q").code == 0
        assert "wrote 0" in tree.run("build", "-w").err
        assert tree.commit().returncode in (0, 1)
    tree.change(BERT, new, old)
    assert tree.run("build", "-w").code == 0
    assert _body(tree) == before
    _says_nothing_changes(tree)


def test_the_next_edit_starts_from_what_is_committed(tree: WorkingTree) -> None:
    tree.change(BERT, "spec:\n", "spec:\n  suspend: true\n")
    assert tree.run("build", "-w").code == 0
    tree.change(BERT, "spec:\n", "spec:\n" + PATCH % "labels: {team: nlp}")
    done = tree.run("build", "-w")
    assert done.code == 0, done.err
    assert "  suspend: true" in _body(tree)
    assert "    team: nlp" in _body(tree)
    tree.change(BERT, "  suspend: true\n", "")
    assert tree.run("build", "-w").code == 0
    assert "suspend" not in _body(tree)


def test_an_edit_of_what_is_fixed_is_refused(tree: WorkingTree) -> None:
    before = tree.read(RENDERED)
    tree.change(BERT, "numNodes: 2", "numNodes: 3")
    for command in (("build", "-w"), ("build", "--check"), ("validate", "--against", "base")):
        done = tree.run(*command)
        assert done.code == 1
        assert "error[immutable-change]: run `bert` cannot change" in done.err
    assert "the API server rejects this change in place" in tree.run("diff", "base").out
    assert tree.read(RENDERED) == before


def test_a_rendering_anew_is_refused(tree: WorkingTree) -> None:
    tree.write(BERT, f"# a comment\n{tree.read(BERT)}")
    assert tree.run("build", "-w", "--rerender", "bert").code == 0
    assert "error[immutable-change]" in tree.run("validate", "--against", "base").err
    assert "the API server rejects this change in place" in tree.run("diff", "base").out


def test_who_is_to_blame(tree: WorkingTree) -> None:
    note = "= note: the job was edited: a run keeps its rendering only while nothing but"
    tree.change(BERT, "numNodes: 2", "numNodes: 3")
    assert f"{note} runtimes/torch.yaml changes" in tree.run("build", "-w").err
    tree.change(RUNTIME, "maxRestarts: 5", "maxRestarts: 3")
    # It blamed runtimes/torch.yaml, which is as it was.
    done = tree.run("build", "-w")
    assert "error[immutable-change]" in done.err
    assert note not in done.err


def test_without_git_an_edit_is_refused(tree: WorkingTree) -> None:
    tree.change(BERT, "spec:\n", "spec:\n  suspend: true\n")
    (tree.folder / ".git").rename(tree.folder.parent / "git")
    done = tree.run("build", "-w")
    assert done.code == 1
    assert "error[immutable-change]" in done.err


_OWN = """\
apiVersion: trainc.dev/v1alpha1
kind: Runtime
metadata: {name: torch-fast}
spec:
  extends: torch
  components: [{name: fast}]
"""
_COMPONENT = """\
apiVersion: trainc.dev/v1alpha1
kind: RuntimeComponent
metadata: {name: fast}
spec:
  job:
    spec:
      template:
        spec:
          containers:
            - name: node
              env: [{name: MODE, value: fast}]
"""


def test_what_a_runtime_sets_no_more_is_blamed_on_the_file_that_was_edited(tmp_path: Path) -> None:
    """The nearest line that is left may be in a file that it extends, which nobody touched."""
    tree = WorkingTree(tmp_path, "bert")
    tree.write("runtimes/torch-fast.yaml", _OWN)
    tree.write("runtimes/components/fast.yaml", _COMPONENT)
    tree.change(BERT, "name: torch\n", "name: torch-fast\n")
    assert tree.run("build", "-w").code == 0
    said = "run `bert` keeps its rendering (%s changed): "
    assert tree.commit("job").returncode == 0
    tree.change("runtimes/torch-fast.yaml", "  components: [{name: fast}]\n", "")
    assert said % "runtimes/torch-fast.yaml" in tree.run("build", "--check").err
    assert tree.commit("runtime").returncode == 0
    assert said % "runtimes/torch-fast.yaml" in tree.run("build", "-w").err
