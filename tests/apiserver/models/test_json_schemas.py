"""The JSON Schemas are valid and say what the server would say."""

import json
from typing import Any

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from tests.compiling import ROOT
from trainc.api import kinds
from trainc.apiserver.shipped import json_path

SCHEMAS = ROOT / "schemas"
PATHS = {kind.__name__: json_path(kind.NAMES) for kind in kinds()}
TRAINJOB: dict[str, Any] = {
    "apiVersion": "trainer.kubeflow.org/v1alpha1",
    "kind": "TrainJob",
    "metadata": {"name": "bert"},
    "spec": {"runtimeRef": {"name": "torch"}},
}


def load(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / PATHS[name]).read_text(encoding="utf-8"))
    return found


def messages(name: str, document: dict[str, Any]) -> list[str]:
    errors = Draft202012Validator(load(name)).iter_errors(document)
    return sorted(f"{error.json_path}: {error.message}" for error in errors)


def job(**spec: Any) -> dict[str, Any]:
    return {**TRAINJOB, "spec": {**TRAINJOB["spec"], **spec}}


@pytest.mark.parametrize("name", PATHS)
def test_metaschema(name: str) -> None:
    schema = load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize("name", PATHS)
def test_references_lead_somewhere_and_every_definition_is_used(name: str) -> None:
    text = json.dumps(load(name))
    for short in load(name)["$defs"]:
        assert f'"#/$defs/{short}"' in text
    assert text.count('"$ref"') == sum(text.count(f'"#/$defs/{short}"') for short in load(name)["$defs"])


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"trainer": {"resourcesPerNode": {"limits": {"cpu": "4", "nvidia.com/gpu": 8}}}},
        {"trainer": {"numNodes": None}},
        {"trainer": {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}},
        {"initializer": {"dataset": {"secretRef": {}}}},
        {"initializer": {"dataset": {"secretRef": None}}},
    ],
)
def test_accepted(spec: dict[str, Any]) -> None:
    assert messages("TrainJob", job(**spec)) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            {"podSpecOverrides": []},
            "$.spec: Additional properties are not allowed ('podSpecOverrides' was unexpected)",
        ),
        ({"trainer": {"numNodes": "4"}}, "$.spec.trainer.numNodes: '4' is not of type 'integer', 'null'"),
        (
            {"trainer": {"numNodes": 2**31}},
            "$.spec.trainer.numNodes: 2147483648 is greater than the maximum of 2147483647",
        ),
        (
            {"trainer": {"resourcesPerNode": {"limits": {"cpu": 0.5}}}},
            "$.spec.trainer.resourcesPerNode.limits.cpu: 0.5 is not of type 'integer', 'string', 'null'",
        ),
        ({"trainer": {"env": [None]}}, "$.spec.trainer.env[0]: None is not of type 'object'"),
        (
            {"trainer": {"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]}},
            "$.spec.trainer.env[0].valueFrom.fieldRef: 'fieldPath' is a required property",
        ),
        ({"runtimeRef": None}, "$.spec.runtimeRef: None is not of type 'object'"),
        ({"activeDeadlineSeconds": 0}, "$.spec.activeDeadlineSeconds: 0 is less than the minimum of 1"),
    ],
)
def test_refused(spec: dict[str, Any], message: str) -> None:
    assert messages("TrainJob", job(**spec)) == [message]


def test_head_is_fixed() -> None:
    assert messages("TrainJob", {**TRAINJOB, "apiVersion": "kubeflow.org/v2alpha1"}) == [
        "$.apiVersion: 'trainer.kubeflow.org/v1alpha1' was expected"
    ]
    assert messages("TrainJob", {"spec": TRAINJOB["spec"]}) == [
        "$: 'apiVersion' is a required property",
        "$: 'kind' is a required property",
    ]
