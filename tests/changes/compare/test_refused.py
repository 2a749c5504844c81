"""An edit that a rendered run cannot take is said by every command that reads the job, with the fields."""

from pathlib import Path

import pytest

from tests.repository import job
from tests.sampling import sampled
from tests.working_tree import WorkingTree

BERT = "jobs/bert.yaml"
REFUSED = "error[immutable-change]: run `bert` cannot change 3 fields"


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> WorkingTree:
    """Two jobs with committed renderings, one of them edited since."""
    tree = WorkingTree(tmp_path_factory.mktemp("edited"), "bert", "t5")
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    tree.change(BERT, "numNodes: 2", "numNodes: 3")
    return tree


@pytest.fixture
def tree(edited: WorkingTree, tmp_path: Path) -> WorkingTree:
    return edited.copy(tmp_path)


@pytest.mark.parametrize(
    "words",
    sampled(
        [
            (words,)
            for words in [
                ("validate",),  # it said nothing for folders, and the commit failed later
                ("validate", "jobs"),
                ("validate", "--jobs", "2"),
                ("validate", BERT),
                ("validate", "--whole-project", BERT),
                ("validate", "--staged"),
                ("validate", "--staged", BERT),
                ("build", "-w"),
                ("build", "--check"),
            ]
        ],
        lambda row: " ".join(row[0]),
        quick=("validate",),
    ),
)
def test_every_entry_point_says_it(tree: WorkingTree, words: tuple[str, ...]) -> None:
    tree.git("add", "-A")
    done = tree.run(*words)
    assert done.code == 1
    assert done.err.count(REFUSED) == 1
    assert 'set `trainc.dev/run: "2"` (`trainc run bert`)' in done.err
    assert "= note: spec.replicatedJobs[node].template.spec.parallelism: 2 -> 3\n" in done.err


def test_other_files_of_a_commit_do_not_say_it(tree: WorkingTree) -> None:
    tree.git("add", "-A")
    assert tree.run("validate", "--whole-project", "jobs/t5.yaml").code == 0


def test_who_asks_for_servers_alone_gets_no_more(tree: WorkingTree) -> None:
    assert tree.run("validate", "--only", "admission").code == 0


def test_a_new_run_and_a_rendering_anew_end_it(tree: WorkingTree) -> None:
    assert tree.run("run", "bert").code == 0
    assert tree.run("validate").code == 0
    tree.git("checkout", "-q", BERT)
    tree.change(BERT, "numNodes: 2", "numNodes: 3")
    assert tree.run("validate").code == 1
    assert tree.run("build", "-w", "--rerender", "bert").code == 0
    assert tree.run("validate").code == 0


def test_what_a_run_keeps_is_not_said(tree: WorkingTree) -> None:
    tree.git("checkout", "-q", BERT)
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 5")
    tree.change(BERT, "spec:\n", "spec:\n  suspend: true\n")
    assert tree.run("validate").code == 0


@pytest.mark.slow
def test_the_file_of_a_later_run_counts_where_earlier_ones_stay(tree: WorkingTree) -> None:
    """The file of the first run was compared, whose name no object of the second has: every edit passed."""
    tree.setting("oldRun: keep")
    assert tree.run("run", "bert").code == 0
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    assert tree.run("validate", BERT).code == 0
    tree.change(BERT, "numNodes: 3", "numNodes: 4")
    for path in (BERT, "."):
        assert "run `bert-r2` cannot change 3 fields" in tree.run("validate", path).err


@pytest.mark.slow
def test_a_job_among_many_of_one_form(tmp_path: Path) -> None:
    """Jobs that are alike are filled in; the rendering of each is looked at all the same."""
    tree = WorkingTree(tmp_path)
    for number in range(30):
        tree.write(f"jobs/b-{number}.yaml", job(f"b-{number}"))
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    assert tree.run("validate").code == 0
    for number in range(30):
        tree.change(f"jobs/b-{number}.yaml", "numNodes: 2", "numNodes: 3")
    done = tree.run("validate", "-v")
    assert sum("error[immutable-change]" in line for line in done.err.splitlines()) == 30


def test_a_line_that_goes_is_refused_by_validate_as_by_build(tmp_path: Path) -> None:
    """The image came from the runtime then: `validate` said nothing, and the next hook refused the commit."""
    tree = WorkingTree(tmp_path, "bert")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("job").returncode == 0
    tree.change("jobs/bert.yaml", "    image: registry.example.com/ml/line:1.0.0\n", "")
    for argv in (("validate",), ("validate", "jobs/bert.yaml"), ("build", "-w")):
        run = tree.run(*argv)
        assert run.code == 1, argv
        assert "error[immutable-change]" in run.err + run.out, argv
