"""Edits of objects in a List are made where they stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

JOBS = {
    "an unknown field": (
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"},
        {"runtimeRef": {"name": "torch"}, "trainer": {"numnodes": 2, "image": "x:1", "command": ["a"]}},
        ("spec", "trainer", "numNodes"),
        2,
    ),
    "a number for a text": (
        {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob"},
        {
            "runtimeRef": {"name": "torch"},
            "trainer": {"image": "x:1", "command": ["a"], "env": [{"name": "A", "value": 1}]},
        },
        ("spec", "trainer", "env", 0, "value"),
        "1",
    ),
    "a version that nobody serves": (
        {"apiVersion": "kubeflow.org/v1", "kind": "TrainJob"},
        {"runtimeRef": {"name": "torch"}, "trainer": {"image": "x:1", "command": ["a"]}},
        ("apiVersion",),
        "trainer.kubeflow.org/v1alpha1",
    ),
    "a role in small letters": (
        {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob"},
        {
            "pytorchReplicaSpecs": {
                "worker": {
                    "replicas": 1,
                    "template": {"spec": {"containers": [{"name": "pytorch", "image": "x:1", "command": ["a"]}]}},
                }
            }
        },
        ("spec", "pytorchReplicaSpecs", "Worker", "replicas"),
        1,
    ),
}


@pytest.mark.parametrize("layout", ["yaml", "json"])
@pytest.mark.parametrize("name", JOBS)
def test_the_item_is_mended_and_nothing_else(tmp_path: Path, name: str, layout: str) -> None:
    """There was no edit for most of them, and the others would have changed the List itself."""
    names, spec, (*above, last), value = JOBS[name]
    job = {**names, "metadata": {"name": "demo", "namespace": "ml"}, "spec": spec}
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
    whole = {"apiVersion": "v1", "kind": "List", "items": [other, job]}
    file = f"listed.{layout}"
    text = json.dumps(whole, indent=2) if layout == "json" else yaml.safe_dump(whole, sort_keys=False)
    repository = Repository(tmp_path)
    repository.write(file, text)
    done = repository.run("fix", "--write", file)
    assert done.code == 0, done.err
    found = yaml.safe_load((tmp_path / file).read_text("utf-8"))
    assert (found["kind"], found["items"][0], set(found)) == ("List", other, set(whole))
    node = found["items"][1]
    for step in above:
        node = node[step]
    assert node[last] == value
    assert repository.run("validate", file).code == 0
