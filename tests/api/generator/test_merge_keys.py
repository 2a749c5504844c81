"""Merge keys come from Kubernetes and are the same wherever a list has the same name."""

import pytest

pytest.importorskip("kubernetes_validate", reason="needs the OpenAPI document of Kubernetes")

from trainc.api.generator import merge_keys
from trainc.model.merge_keys import MERGE_KEYS


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


def test_two_keys_for_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge_keys, "_OWN", {"ports": "name"})
    with pytest.raises(ValueError, match="lists named ports are merged by 'name' and by 'containerPort'"):
        merge_keys.merge_keys()
