"""Merge keys come from Kubernetes and are the same wherever a list has the same name."""

import pytest

pytest.importorskip("kubernetes_validate", reason="needs the OpenAPI document of Kubernetes")

from trainc.apiserver.generate import keys_of
from trainc.text.merge_keys import MERGE_KEYS


@pytest.mark.parametrize(
    ("field", "key"),
    [
        ("containers", "name"),
        ("env", "name"),
        ("ports", "containerPort"),
        ("volumeMounts", "mountPath"),
        ("topologySpreadConstraints", "topologyKey"),
        ("replicatedJobs", "name"),
        ("finalizers", ""),
    ],
)
def test_merged(field: str, key: str) -> None:
    assert MERGE_KEYS[field] == key


@pytest.mark.parametrize("field", ["tolerations", "command", "args", "matchExpressions", "rules", "envFrom"])
def test_replaced(field: str) -> None:
    assert field not in MERGE_KEYS


def test_a_key_needs_the_strategy() -> None:
    fields = [("a", {"x-kubernetes-patch-merge-key": "name"}), ("b", {"x-kubernetes-patch-strategy": "replace"})]
    assert keys_of(fields) == {}


def test_two_keys_for_one_name_are_refused() -> None:
    merged = {"x-kubernetes-patch-strategy": "merge,retainKeys"}
    fields = [("ports", merged | {"x-kubernetes-patch-merge-key": key}) for key in ("containerPort", "port")]
    with pytest.raises(ValueError, match="lists named ports are merged by 'containerPort' and by 'port'"):
        keys_of(fields)
