"""`trainc run`: the next run of a job in a repository with real Git."""

from pathlib import Path

import pytest

from tests.repository import job
from tests.working_tree import WorkingTree

BERT = "jobs/bert.yaml"
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> WorkingTree:
    """Two jobs with committed renderings, one of them with comments everywhere."""
    tree = WorkingTree(tmp_path_factory.mktemp("committed"), "t5")
    text = job("bert").replace("  name: bert\n", "  name: bert  # ours\n") + "# the end\n"
    tree.write(BERT, f"# about bert\n{text}")
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    return tree


@pytest.fixture
def tree(committed: WorkingTree, tmp_path: Path) -> WorkingTree:
    return committed.copy(tmp_path)


@pytest.mark.slow
def test_a_refused_edit_becomes_a_new_run(tree: WorkingTree) -> None:
    """There was no command for it: people wrote the annotation by hand, and were not told what the new run changes."""
    tree.change(BERT, "numNodes: 2", "numNodes: 3  # more")
    # It said nothing, and the commit failed later.
    assert "error[immutable-change]: run `bert` cannot change 3 fields" in tree.run("validate", BERT).err
    refused = tree.run("build", "-w")
    assert refused.code == 1
    assert "run `bert` cannot change 3 fields" in refused.err
    before = tree.read(BERT)
    done = tree.run("run", "bert")
    assert done.code == 0, done.err
    assert done.out.startswith(
        "run 2 of bert follows bert  jobs/bert.yaml\n"
        "      nodes of node: 2 -> 3  (rendered/research/bert.yaml:39 -> jobs/bert.yaml:11)\n"
    )
    added = '  annotations:\n    trainc.dev/run: "2"\n'
    assert tree.read(BERT).replace(added, "") == before
    assert added in tree.read(BERT)
    assert tree.run("build", "-w").code == 0
    assert "\n  name: bert-r2\n" in tree.rendered()["research/bert.yaml"]
    assert tree.run("build", "--check", "-q").code == 0
    assert tree.commit().returncode == 0
    assert tree.run("run", "bert").out == "run 3 of bert follows bert-r2, only the name changes  jobs/bert.yaml\n"
    assert tree.read(BERT).replace(added.replace("2", "3"), "") == before


@pytest.mark.parametrize("old_run", ["prune", "keep"])
def test_a_run_that_is_not_rendered_yet_is_not_skipped(tree: WorkingTree, old_run: str) -> None:
    """A second `trainc run` went on to run 3, and run 2 was in no commit."""
    tree.change("trainc.yaml", "output: rendered", f"output: rendered\n  oldRun: {old_run}")
    assert tree.run("build", "-w").code == 0
    for number in (2, 3):
        assert tree.run("run", "bert").code == 0
        assert "is not committed yet" in tree.run("run", "bert").err
        assert tree.commit("not rendered").returncode == 0
        again = tree.run("run", "bert")
        assert (again.code, again.err) == (
            2,
            f"trainc: run {number} of bert is not rendered yet: run `trainc build -w` first, which includes every edit made since\n",
        )
        assert f'trainc.dev/run: "{number}"' in tree.read(BERT)
        assert tree.run("build", "-w").code == 0
        assert tree.commit("rendered").returncode == 0


def test_nothing_is_written_on_request(tree: WorkingTree) -> None:
    before = tree.read(BERT)
    done = tree.run("run", "jobs/bert.yaml", "--dry-run")
    assert done.code == 0, done.err
    assert '+    trainc.dev/run: "2"\n' in done.out
    assert tree.read(BERT) == before


def test_several_jobs_at_once(tree: WorkingTree) -> None:
    assert tree.run("run", "*").code == 0
    assert all('trainc.dev/run: "2"' in tree.read(f"jobs/{name}.yaml") for name in ("bert", "t5"))


def test_a_name_that_no_job_has(tree: WorkingTree) -> None:
    done = tree.run("run", "bret")
    assert (done.code, done.err) == (2, "trainc: no job matches `bret`; did you mean `bert`?\n")


def test_fix_offers_a_new_run(tree: WorkingTree) -> None:
    """`fix` said that there was nothing to fix."""
    tree.change(BERT, "numNodes: 2", "numNodes: 3")
    done = tree.run("fix", "jobs")
    assert done.code == 1
    assert done.err.endswith(
        "to apply an edit that a run cannot take, start a new run with `trainc fix --unsafe` or `trainc run JOB`\n"
        "0 could be fixed, 1 error left to fix by hand\n"
    )
    assert tree.run("fix", "-w", "--unsafe", "jobs").code == 0
    assert 'trainc.dev/run: "2"' in tree.read(BERT)
    assert tree.run("build", "-w").code == 0


def test_validate_leaves_alone_what_a_run_keeps(tree: WorkingTree) -> None:
    tree.change("runtimes/torch.yaml", "maxRestarts: 3", "maxRestarts: 5")
    tree.change(BERT, "# about bert", "# about bert again")
    assert tree.run("validate", BERT).code == 0
    tree.change(BERT, "spec:\n", "spec:\n  suspend: true\n")
    assert "immutable-change" not in tree.run("validate", BERT).err


LISTED = """\
apiVersion: v1
kind: List
items:
- apiVersion: trainer.kubeflow.org/v1alpha1
  kind: TrainJob
  metadata: {name: one, namespace: ml}
  spec:
    runtimeRef: {name: torch}
    trainer: {numNodes: 2, image: "x:1", command: [python, a.py]}
# the second
- apiVersion: v1
  kind: List
  items:
  - apiVersion: trainer.kubeflow.org/v1alpha1
    kind: TrainJob
    metadata:
      name: two  # mine
      namespace: ml
    spec:
      runtimeRef: {name: torch}
      trainer: {numNodes: 2, image: "x:1", command: [python, a.py]}
"""


def test_a_job_in_a_list_gets_its_run_where_it_stands(tree: WorkingTree) -> None:
    """The annotation was written into the List itself: the answer named a new run, and there was none."""
    tree.write("jobs/listed.yaml", LISTED)
    done = tree.run("run", "one", "two")
    assert done.out.splitlines() == [
        "run 2 of one follows one, which is not rendered: its changes are unknown  jobs/listed.yaml",
        "run 2 of two follows two, which is not rendered: its changes are unknown  jobs/listed.yaml",
    ]
    assert tree.read("jobs/listed.yaml") == LISTED.replace(
        "{name: one, namespace: ml}", '{name: one, namespace: ml, annotations: {trainc.dev/run: "2"}}'
    ).replace("      namespace: ml\n", '      namespace: ml\n      annotations:\n        trainc.dev/run: "2"\n')
    assert tree.run("build", "-w").code == 0
    assert {"ml/one.yaml", "ml/two.yaml"} <= tree.rendered().keys()
    assert all(f"\n  name: {name}-r2\n" in tree.rendered()[f"ml/{name}.yaml"] for name in ("one", "two"))


def test_every_group_of_a_set_gets_its_run(tree: WorkingTree) -> None:
    """One was named, and all of them started anew without a word."""
    tree.write("jobs/sweep.yaml", (EXAMPLES / "leaderworkerset" / "jobs" / "sweep.yaml").read_text("utf-8"))
    done = tree.run("run", "sweep-0")
    assert done.out.splitlines() == [
        "run 2 of sweep-0 follows sweep-0, which is not rendered: its changes are unknown  jobs/sweep.yaml",
        "run 2 of sweep-1 follows sweep-1, which is not rendered: its changes are unknown  jobs/sweep.yaml",
    ]


def test_a_job_without_annotations_is_called_otherwise(tree: WorkingTree) -> None:
    """The annotation was written where Armada reads none, and nobody else."""
    text = (EXAMPLES / "armada" / "jobs" / "gang.yaml").read_text("utf-8")
    tree.write("jobs/gang.yaml", text)
    done = tree.run("run", "rank-sweep-g-1")
    words = "trainc: rank-sweep-g-1 has no annotations in its file: rename it to start a new run\n"
    assert (done.code, done.err) == (2, words)
    assert tree.read("jobs/gang.yaml") == text


SPEC = 'spec: {runtimeRef: {name: torch}, trainer: {image: "x:1", command: [python, a.py]}}\n'
HEAD = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"


@pytest.mark.parametrize("empty", ["annotations:\n", "annotations: null\n", "annotations: {}\n"])
def test_annotations_that_are_empty_get_one(tree: WorkingTree, empty: str) -> None:
    """A new run was announced, and nothing was written."""
    tree.write("jobs/new.yaml", f"{HEAD}metadata:\n  name: one\n  namespace: ml\n  {empty}{SPEC}")
    assert tree.run("run", "one").out.startswith("run 2 of one follows one")
    assert "\n  name: one-r2\n" in tree.run("build", "jobs/new.yaml").out


SHARED = (
    "- apiVersion: trainer.kubeflow.org/v1alpha1\n  kind: TrainJob\n  metadata: {{name: {name}, namespace: ml, {more}}}\n"
    '  spec: {{runtimeRef: {{name: torch}}, trainer: {{image: "x:1", command: [python, a.py]}}}}\n'
)
REFUSED = {
    "annotations that two jobs share": "apiVersion: v1\nkind: List\nitems:\n"
    + SHARED.format(name="one", more="annotations: &an {k: v}")
    + SHARED.format(name="two", more="annotations: *an"),
    "labels that are the annotations": "apiVersion: v1\nkind: List\nitems:\n"
    + SHARED.format(name="one", more="labels: &an {k: v}, annotations: *an"),
    "comments in braces": "{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: one}, # meta\n"
    ' spec: {runtimeRef: {name: torch},\n  # about it\n  trainer: {image: "x:1", command: [python, a.py]}}}\n',
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_edited_alone_stays(tree: WorkingTree, name: str) -> None:
    """Another job was started as well, labels got a run, comments that silence a rule were lost; all with exit 0."""
    tree.write("jobs/new.yaml", REFUSED[name])
    done = tree.run("run", "one")
    assert (done.code, tree.read("jobs/new.yaml")) == (2, REFUSED[name])
    assert "set the annotation by hand" in done.err


def test_many_changes_show_how_to_see_the_rest(tree: WorkingTree) -> None:
    """Nothing listed the rest."""
    environment = ", ".join(f"{{name: N{number}, value: v}}" for number in range(12))
    tree.change(BERT, "numNodes: 2", f"numNodes: 2\n    env: [{environment}]")
    for command in (["run", "bert", "--dry-run"], ["diff"]):
        assert " more (`--details` lists each)\n" in tree.run(*command).out
        every = tree.run(*command, "--details").out
        assert all(f"N{number}" in every for number in range(12))
        assert "--details" not in every


def test_the_last_run_is_pruned_unless_it_is_kept(tree: WorkingTree) -> None:
    pruned = "it replaces the last runs, whose objects Argo CD and Flux prune"
    assert pruned in tree.run("run", "bert", "--dry-run").err
    tree.change("trainc.yaml", "spec:\n", "spec:\n  oldRun: keep\n")
    assert pruned not in tree.run("run", "bert", "--dry-run").err


def test_diff_shows_what_changes_beside_an_error_that_lets_every_job_compile(tree: WorkingTree) -> None:
    """It printed the error alone, and no diff."""
    case = EXAMPLES.parent / "tests/cases/verify/mpi-processes-exceed-slots/slots-below-accelerators/input/job.yaml"
    tree.write("jobs/mpi.yaml", case.read_text("utf-8").replace("slotsPerWorker: 4", "slotsPerWorker: 8"))
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    tree.change("jobs/mpi.yaml", "slotsPerWorker: 8", "slotsPerWorker: 4")
    done = tree.run("diff")
    assert (done.code, "error[mpi-processes-exceed-slots]" in done.err) == (1, True)
    assert "env OMPI_MCA_orte_set_default_slots of launcher/mpi: 8 -> 4" in done.out
    tree.change("jobs/mpi.yaml", "slotsPerWorker: 4", "slotsPerWorker: four")
    assert (tree.run("diff").code, tree.run("diff").out) == (1, "")


def test_a_run_under_another_namespace_is_compared_with_nothing(tree: WorkingTree) -> None:
    """`only the name changes` was said of a job that moved to another namespace, with whatever was edited besides."""
    tree.change("jobs/bert.yaml", "namespace: research", "namespace: vision")
    tree.change("jobs/bert.yaml", "numNodes: 2", "numNodes: 4")
    done = tree.run("run", "bert", "--dry-run")
    assert ", which is not rendered: its changes are unknown" in done.out


@pytest.mark.parametrize("name", ["~x", "Train_1", "$", "?"])
def test_a_later_run_of_a_refused_name_ends(tree: WorkingTree, name: str) -> None:
    """The search for hosts of the first run stood still on a name that begins with what no host has."""
    tree.change("jobs/bert.yaml", "name: bert", f'name: "{name}"\n  annotations: {{trainc.dev/run: "2"}}')
    tree.change("jobs/bert.yaml", "numNodes: 2", f'args: ["--host={name}-node-0-0.{name}"]\n    numNodes: 2')
    done = tree.run("validate")
    assert (done.code, "metadata.name" in done.err) == (1, True)


@pytest.mark.parametrize("name", ["train", "job", "trainer"])
def test_a_name_that_a_label_holds_changes_no_label(tree: WorkingTree, name: str) -> None:
    """`trainer.kubeflow.org/...` of job `train` was `train-r2er.kubeflow.org/...`, removed and new."""
    tree.job(name)
    assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    assert tree.run("run", name).code == 0
    assert "kubeflow.org" not in tree.run("diff").out


def test_a_number_is_never_used_twice(tmp_path: Path) -> None:
    """After a revert the name of run 2 came again, with another image, while the cluster might still have it."""
    tree = WorkingTree(tmp_path, "bert")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("first").returncode == 0
    assert tree.run("run", "bert").code == 0
    for words in (("run", "bert"), ("build", "-w"), ("run", "bert")):
        done = tree.run(*words)
        if words[0] == "run":
            assert (done.code, "run 2 of bert is not committed yet" in done.err) == (2, True), done.err
    assert tree.commit("second").returncode == 0
    tree.git("revert", "--no-edit", "HEAD")
    tree.change("jobs/bert.yaml", "line:1.0.0", "line:1.1.0")
    done = tree.run("run", "bert")
    assert (done.code, done.out.startswith("run 3 of bert follows bert")) == (0, True), done.out
    assert 'trainc.dev/run: "3"' in tree.read("jobs/bert.yaml")


def test_branches_and_dumps_count(tmp_path: Path) -> None:
    tree = WorkingTree(tmp_path, "bert")
    project = tree.read("trainc.yaml")
    tree.write("trainc.yaml", f"{project}  clusters:\n    main: {{folder: clusters/main}}\n")
    tree.write("clusters/main/dump.yaml", "")
    assert tree.run("build", "-w").code == 0
    assert tree.commit("first").returncode == 0
    tree.git("checkout", "-q", "-b", "other")
    assert tree.run("run", "bert").code == 0
    assert tree.commit("second").returncode == 0
    tree.git("checkout", "-q", "-")
    assert "run 3 of bert" in tree.run("run", "bert", "--dry-run").out
    workload = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\nmetadata: {name: NAME, namespace: research}\n"
    tree.write("clusters/main/dump.yaml", workload.replace("NAME", "jobset-bert-r7-12ab3"))
    assert "run 8 of bert" in tree.run("run", "bert", "--dry-run").out
