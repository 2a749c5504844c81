"""`trainc validate --against` never compares with nothing in silence."""

import json
from pathlib import Path

import pytest

from tests.repository import job
from tests.working_tree import WorkingTree

BERT, RUNTIME = "jobs/bert.yaml", "runtimes/torch.yaml"


@pytest.fixture
def project(tmp_path: Path) -> WorkingTree:
    tree = WorkingTree(tmp_path, "bert")
    assert tree.commit().returncode == 0
    return tree


def test_a_new_job_is_said_to_be_new(project: WorkingTree) -> None:
    project.write("jobs/gpt.yaml", job("gpt"))
    done = project.run("validate", "--against", "HEAD", "--only", "admission")
    assert done.code == 0
    assert "note[not-in-base]: `gpt` is not in the base: it is new, and checked as a creation" in done.err
    assert "`bert` is not in the base" not in done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "old", "new", "reason"),
    [
        (BERT, "kind: TrainJob", "kind: Trainjob", "unknown kind `Trainjob`"),
        (BERT, "name: torch", "name: troch", "no ClusterTrainingRuntime `troch`"),
        (BERT, "apiVersion:", "<<<<<<< ours\napiVersion:", f"`{BERT}` names it and cannot be read at line 1"),
        (
            BERT,
            job("bert", image="registry.example.com/ml/line:1.0.0"),
            "version https://git-lfs.github.com/spec/v1\n",
            "a Git LFS pointer",
        ),
        (RUNTIME, "name: torch\n", "name: other\n", "no ClusterTrainingRuntime `torch`"),
        ("trainc.yaml", "output: rendered", "outpt: rendered", "trainc.yaml of the base cannot be used"),
    ],
)
def test_a_base_that_cannot_be_known_fails(tmp_path: Path, path: str, old: str, new: str, reason: str) -> None:
    tree = WorkingTree(tmp_path, "bert")
    right = tree.read(path)
    tree.change(path, old, new)
    assert tree.commit().returncode == 0
    tree.write(path, right)
    for more in ((), ("--only", "admission")):
        done = tree.run("validate", "--against", "HEAD", *more)
        assert done.code == 1
        assert "error[not-compared]: not compared: `bert`" in done.err
        assert reason in done.err


def test_the_answer_to_a_document_is_that_to_its_change(project: WorkingTree) -> None:
    project.change(BERT, "numNodes: 2", "numNodes: 4")
    done = project.run("validate", "--against", "HEAD", "--report", "json")
    said = json.loads(done.out)
    answer = next(one for one in said["documents"] if one["kind"] == "TrainJob")["admission"]
    refusal = next(one for one in said["findings"] if one["rule"] == "immutable-change")["admission"]
    assert (answer["verdict"], answer["by"]) == ("rejected", refusal["by"])
    assert answer["messages"] == [refusal["message"]]


def test_a_placeholder_does_not_keep_a_job_from_being_compared(project: WorkingTree) -> None:
    project.change(BERT, "numNodes: 2", "numNodes: ${NODES}")
    project.change(BERT, "line:1.0.0", "line:2.0.0")
    done = project.run("validate", "--against", "HEAD")
    assert "error[immutable-change]" in done.err
    assert "image" in done.err
