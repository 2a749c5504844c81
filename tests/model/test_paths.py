"""Paths as people write them lead to the places they were printed for."""

import pytest

from trainc.model.paths import at_path, keyed, keyed_leaves, matches, parsed, shown
from trainc.model.report import Report
from trainc.model.tree import Tree, get, leaves
from trainc.yaml.reader import read

TEXT = """
spec:
  numNodes: 2
  replicatedJobs:
    - name: node
      containers:
        - name: node
          image: a
          command: [python, train.py]
          env:
            - {name: A.B, value: x}
            - {name: A, value: y}
          ports:
            - {containerPort: 80}
          volumeMounts:
            - {mountPath: /dev/shm, name: shm}
          limits: {nvidia.com/gpu: 8, cpu: 4}
"""


def tree(text: str = TEXT) -> Tree:
    (document,) = read(text.encode(), "a.yaml", Report())
    return document.tree


@pytest.mark.parametrize(
    "path",
    [
        "spec.numNodes",
        "spec.replicatedJobs[node].containers[node].image",
        "spec.replicatedJobs[node].containers[node].command[1]",
        "spec.replicatedJobs[node].containers[node].env[A.B].value",
        "spec.replicatedJobs[node].containers[node].env[A].value",
        "spec.replicatedJobs[node].containers[node].ports[80].containerPort",
        "spec.replicatedJobs[node].containers[node].volumeMounts[/dev/shm].name",
        "spec.replicatedJobs[node].containers[node].limits[nvidia.com/gpu]",
        "spec.replicatedJobs[node].containers[node].limits.cpu",
    ],
)
def test_a_printed_path_leads_back(path: str) -> None:
    steps = parsed(path, tree())
    assert steps is not None
    assert shown(steps) == path
    assert at_path(tree(), steps) is not None


def test_a_key_with_dots_needs_no_brackets() -> None:
    bare = parsed("spec.replicatedJobs[node].containers[node].limits.nvidia.com/gpu", tree())
    assert bare == parsed("spec.replicatedJobs[node].containers[node].limits[nvidia.com/gpu]", tree())


@pytest.mark.parametrize(
    "path",
    [
        "spec.nodes",
        "spec.replicatedJobs[other]",
        "spec.numNodes.more",
        "numNodes",
        "spec.replicatedJobs[node].containers[node].env[B]",
    ],
)
def test_a_path_that_leads_nowhere(path: str) -> None:
    assert parsed(path, tree()) is None


def test_every_leaf_has_one_keyed_path() -> None:
    whole = tree()
    paths = [keyed(whole, path) for path, _ in leaves(whole)]
    assert paths == [steps for steps, _ in keyed_leaves(whole)]
    assert len(set(paths)) == len(paths)
    for path, leaf in leaves(whole):
        assert at_path(whole, keyed(whole, path)) is leaf is get(whole, *path)
        assert parsed(shown(keyed(whole, path)), whole) == keyed(whole, path)


@pytest.mark.parametrize(
    ("wanted", "hits"),
    [
        ("image", 1),
        ("env[A]", 2),
        ("env[A.B].value", 1),
        ("env.A", 2),
        ("limits", 2),
        ("nvidia.com/gpu", 1),
        ("mage", 0),
        ("", 15),
    ],
)
def test_what_is_asked_for_is_a_run_of_whole_steps(wanted: str, hits: int) -> None:
    whole = tree()
    assert sum(matches(keyed(whole, path), wanted) for path, _ in leaves(whole)) == hits
