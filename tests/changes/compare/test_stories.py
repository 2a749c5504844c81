"""`diff` after one edit of anything that a rendering rests on, with real Git, in a project of two clusters."""

import json
from pathlib import Path

import pytest

from tests.repository import job
from tests.working_tree import WorkingTree

PROJECT = (
    "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  output: rendered\n  clusters:\n"
    "    eu: {paths: [jobs/eu], scheduler: kueue, queue: research}\n    us: {paths: [jobs/us]}\n"
)
LABELS = (
    "apiVersion: trainc.dev/v1alpha1\nkind: RuntimeComponent\nmetadata: {name: labels}\n"
    "spec: {runtime: {template: {metadata: {labels: {level: one}}}}}\n"
)
NOTHING = "nothing changes since HEAD\n"
BERT, EU = "jobs/eu/bert.yaml", "eu: {paths: [jobs/eu], scheduler: kueue, queue: research}"
POD = "spec.replicatedJobs[node].template.spec.template"


@pytest.fixture(params=[pytest.param(True, marks=pytest.mark.slow), False], ids=["rendering-committed", "specs-alone"])
def rendered(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def tree(rendered: bool, tmp_path: Path) -> WorkingTree:
    """A job in each of two clusters, and a component that the cluster `us` has."""
    tree = WorkingTree(tmp_path)
    tree.write("trainc.yaml", PROJECT.replace("[jobs/us]", "[jobs/us], components: [labels]"))
    tree.write("runtimes/components/labels.yaml", LABELS)
    tree.change("runtimes/torch.yaml", 'cpu: "4"', "nvidia.com/gpu: 8")
    tree.write(BERT, job("bert"))
    tree.write("jobs/us/t5.yaml", job("t5"))
    if rendered:
        assert tree.run("build", "-w").code == 0
    assert tree.commit().returncode == 0
    assert tree.run("diff").out == NOTHING
    return tree


def written(tree: WorkingTree, rendered: bool) -> bool:
    """Whether `build -w` writes anything, where renderings are committed; `diff` says the same."""
    assert rendered
    assert tree.run("build", "-w", "-q").code == 0
    return bool(tree.git("status", "--short", "rendered").stdout)


@pytest.mark.slow
def test_another_scheduler(tree: WorkingTree, rendered: bool) -> None:
    tree.change("trainc.yaml", "scheduler: kueue, queue: research", "scheduler: volcano")
    out = tree.run("diff").out
    if rendered:
        # It said "nothing changes" and nothing else.
        assert out.startswith(f"{NOTHING}=   eu/research/bert  keeps its rendering, without the edit of trainc.yaml\n")
        assert not written(tree, rendered)
    else:
        assert out.startswith("-/+ eu/research/bert  because of trainc.yaml\n")
    assert f"{POD}.spec.schedulerName: volcano (new)" in out
    # Every field of the PodGroup was a change of its own.
    assert "      object: PodGroup (new)\n" in out
    assert "t5" not in out


@pytest.mark.slow
def test_another_queue(tree: WorkingTree, rendered: bool) -> None:
    tree.change("trainc.yaml", "queue: research", "queue: urgent")
    out = tree.run("diff").out
    # It said "nothing changes": the label of the queue has no line in a file of jobs.
    head = "-/+ eu/research/bert  because of trainc.yaml\n"
    kept = f"{NOTHING}=   eu/research/bert  keeps its rendering, without the edit of trainc.yaml\n"
    assert out.startswith(("~   eu/research/bert  because of trainc.yaml\n", kept if rendered else head))
    assert "      queue: research -> urgent" in out
    assert out.startswith(NOTHING) or "cluster eu, queue urgent: none -> 16 nvidia.com/gpu\n" in out
    if rendered:
        assert written(tree, rendered) != out.startswith(NOTHING)


@pytest.mark.slow
def test_another_delivery(tree: WorkingTree, rendered: bool) -> None:
    tree.change("trainc.yaml", "queue: research", "queue: research, delivery: flux")
    out = tree.run("diff").out
    # It said "nothing changes" where renderings were committed.
    assert out.startswith(
        "~   eu/research/bert  because of trainc.yaml\n"
        "      metadata.annotations[kustomize.toolkit.fluxcd.io/ssa]: IfNotPresent (new)\n"
        "      Flux does not apply this to an existing run; start a new run\n"
    )
    assert not rendered or written(tree, rendered)


def test_a_runtime(tree: WorkingTree, rendered: bool) -> None:
    tree.change("runtimes/torch.yaml", "torch:2.8.0", "torch:2.9.0")
    out = tree.run("diff").out
    head = (
        "=   2 jobs: eu/research/bert, us/research/t5  keep their renderings, without the edit of runtimes/torch.yaml\n"
    )
    again = "-/+ 2 jobs: eu/research/bert, us/research/t5  because of runtimes/torch.yaml\n"
    assert (f"{NOTHING}{head}" if rendered else again) in out
    assert "image of node/node: registry.example.com/ml/torch:2.8.0 -> registry.example.com/ml/torch:2.9.0" in out
    assert "runtimes/torch.yaml:30)\n" in out


@pytest.mark.slow
def test_a_component(tree: WorkingTree, rendered: bool) -> None:
    tree.change("runtimes/components/labels.yaml", "level: one", "level: two")
    out = tree.run("diff").out
    assert out.startswith(
        "~   us/research/t5  because of runtimes/components/labels.yaml\n      metadata.labels.level: one -> two  ("
    )
    assert not rendered or written(tree, rendered)


@pytest.mark.slow
def test_a_component_of_the_library(tree: WorkingTree) -> None:
    assert tree.run("runtimes", "copy", "maintenance-safe").code == 0
    tree.change("trainc.yaml", "components: [labels]", "components: [labels, maintenance-safe]")
    done = tree.run("diff")
    assert done.err == ""
    out = done.out
    assert "us/research/t5" in out
    assert "trainc.yaml\n" in out
    assert "eu/research/bert" not in out


@pytest.mark.slow
def test_a_comment_and_the_order_of_keys(tree: WorkingTree) -> None:
    """An edit that changes nothing was listed, as refused."""
    tree.change("runtimes/torch.yaml", "spec:\n  mlPolicy:\n    numNodes: 1\n    torch: {}\n", "spec:\n")
    tree.write(
        "runtimes/torch.yaml", f"# ours\n{tree.read('runtimes/torch.yaml')}  mlPolicy: {{torch: {{}}, numNodes: 1}}\n"
    )
    tree.change("trainc.yaml", "  output: rendered\n", "  output: 'rendered'  # where\n")
    tree.git("mv", BERT, "jobs/eu/encoder.yaml")
    assert tree.run("diff").out == NOTHING


@pytest.mark.slow
def test_a_job_moves_to_another_cluster(tree: WorkingTree, rendered: bool) -> None:
    """It was one job that is gone and another that is new, with nothing on what else changes."""
    tree.git("mv", BERT, "jobs/us/bert.yaml")
    tree.change("jobs/us/bert.yaml", "numNodes: 2", "numNodes: 3")
    out = tree.run("diff").out
    assert out.startswith(
        "-/+ eu/research/bert -> us/research/bert  3 pods, 24 nvidia.com/gpu  jobs/us/bert.yaml  moved to us: restarts\n"
    )
    assert "      nodes of node: 2 -> 3  (" in out
    assert "cluster us, no queue: 16 nvidia.com/gpu -> 40 nvidia.com/gpu\n" in out
    assert not rendered or written(tree, rendered)


def test_the_causes_are_the_fewest_edits(tree: WorkingTree, rendered: bool) -> None:
    """Every edited file that a job had ever been made of was a cause."""
    tree.change("runtimes/torch.yaml", "owner: platform", "owner: research")
    tree.change(BERT, "spec:\n", "spec:\n  suspend: true\n")
    tree.change("trainc.yaml", "  output: rendered\n", "  output: rendered\n  rules: {moving-tag: off}\n")
    edited = json.loads(tree.run("diff", "--report", "json").out)["edited"]
    assert {one["jobs"][0]: one["causes"] for one in edited} == {
        "eu/research/bert": [BERT, "runtimes/torch.yaml"],
        "us/research/t5": ["runtimes/torch.yaml"],
    }
    assert not rendered or written(tree, rendered)


@pytest.mark.slow
def test_the_next_run_in_one_cluster(tree: WorkingTree, rendered: bool) -> None:
    """A new run showed how large it is, and not what it does otherwise than the one before."""
    tree.change(BERT, "line.py]", "line.py, --seed=11]")
    assert tree.run("run", "bert").code == 0
    out = tree.run("diff").out
    assert out.startswith("-/+ eu/research/bert-r2  2 pods, 16 nvidia.com/gpu  jobs/eu/bert.yaml  next run of bert\n")
    assert "command of node/node: torchrun /opt/line.py -> torchrun /opt/line.py --seed=11" in out
    assert not rendered or written(tree, rendered)
