"""Tables: equal schemas stand once, and a cluster's kinds stand before the built-in ones."""

from typing import Any

from trainc.apiserver.schema.node import Table, load
from trainc.apiserver.schema.table import compile_table

TEXT = {"type": "string", "description": "Prose is left out."}
PAIR: dict[str, Any] = {"type": "object", "properties": {"a": TEXT, "b": {"type": "string"}}}


def test_equal_nodes_are_one() -> None:
    data = compile_table({"g/v1/A": PAIR, "g/v1/B": {"type": "array", "items": PAIR}})
    assert data["nodes"] == [
        {"type": "string"},
        {"properties": {"a": 0, "b": 0}, "type": "object"},
        {"items": 1, "type": "array"},
    ]
    assert data["kinds"] == {"g/v1/A": 1, "g/v1/B": 2}


def test_the_built_in_table_is_small_and_read_once() -> None:
    assert load() is load()
    assert len(load().nodes) < 600
    assert load().root("jobset.x-k8s.io/v1alpha2/JobSet") is not None
    assert load().root("v1/Pod") is None


def test_a_clusters_kinds_replace_the_built_in_ones() -> None:
    newer = "jobset.x-k8s.io/v1/JobSet"
    table = Table(compile_table({newer: PAIR, "g/v1/A": PAIR}, whole=["g/v1/A"]), load())
    assert table.root(newer) is not None
    assert table.root("jobset.x-k8s.io/v1alpha2/JobSet") is None
    assert table.root("trainer.kubeflow.org/v1alpha1/TrainJob") is load().root("trainer.kubeflow.org/v1alpha1/TrainJob")
    assert table.whole == load().whole | {"g/v1/A"}
    assert not table.has_rules(newer)
    assert table.has_rules("trainer.kubeflow.org/v1alpha1/TrainJob")
