"""The definitions are structural, described, and small enough for kubectl."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.compiling import ROOT
from tests.sampling import sampled
from trainc.api import Resource, kinds
from trainc.apiserver.generator.structural import structural
from trainc.apiserver.shipped import crd_path

SCHEMAS = ROOT / "schemas"
KINDS = {kind.NAMES.key: kind for kind in kinds() if kind.NAMES.served}

# Keywords of JSONSchemaProps in apiextensions.k8s.io/v1; kubectl refuses any other.
KEYWORDS = frozenset(
    [
        "additionalProperties",
        "anyOf",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "nullable",
        "pattern",
        "properties",
        "required",
        "type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ]
)
OWN_KINDS_OF_LISTS = ("atomic", "map", "set")


def load(key: str) -> dict[str, Any]:
    text = (SCHEMAS / crd_path(KINDS[key].NAMES)).read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return loaded


def schema(key: str) -> dict[str, Any]:
    versions = load(key)["spec"]["versions"]
    (version,) = (version for version in versions if version["name"] == KINDS[key].NAMES.version)
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return found


def walk(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from walk(child, f"{path}.{name}")
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if key in node:
            yield from walk(node[key], path + mark)


@pytest.mark.slow
@pytest.mark.parametrize("key", KINDS)
def test_head(key: str) -> None:
    definition, names = load(key), KINDS[key].NAMES
    spec = definition["spec"]
    assert definition["apiVersion"] == "apiextensions.k8s.io/v1"
    assert definition["metadata"]["name"] == f"{spec['names']['plural']}.{spec['group']}"
    assert (spec["group"], spec["names"]["kind"]) == (names.group, names.kind)
    assert [version["storage"] for version in spec["versions"]].count(True) == 1
    assert schema(key)["properties"]["metadata"] == {"type": "object"}


@pytest.mark.slow
@pytest.mark.parametrize("key", KINDS)
def test_structural(key: str) -> None:
    for path, node in walk(schema(key)):
        assert set(node) <= KEYWORDS, path
        assert ("type" in node) != node.get("x-kubernetes-int-or-string", False), path
        assert not ("properties" in node and "additionalProperties" in node), path
        assert ("items" in node) == (node.get("type") == "array"), path
        assert set(node.get("required", ())) <= set(node.get("properties", ())), path


@pytest.mark.slow
@pytest.mark.parametrize("key", KINDS)
def test_list_types(key: str) -> None:
    for path, node in walk(schema(key)):
        keys = node.get("x-kubernetes-list-map-keys", ())
        assert bool(keys) == (node.get("x-kubernetes-list-type") == "map"), path
        assert node.get("x-kubernetes-list-type", "atomic") in OWN_KINDS_OF_LISTS, path
        for name in keys:
            item = node["items"]
            assert name in item.get("required", ()) or "default" in item["properties"][name], path


@pytest.mark.slow
@pytest.mark.parametrize("key", KINDS)
def test_fits_into_the_annotation_of_kubectl_apply(key: str) -> None:
    assert len(json.dumps(load(key), separators=(",", ":"))) < 262_144


@pytest.mark.parametrize(
    ("key", "path", "facts"),
    [
        ("trainer.kubeflow.org/v1alpha1/TrainJob", ".spec", {"required": ["runtimeRef"]}),
        ("trainer.kubeflow.org/v1alpha1/TrainJob", ".spec.suspend", {"default": False}),
        ("trainer.kubeflow.org/v1alpha1/TrainJob", ".spec.trainer.command[]", {"maxLength": 1_048_576}),
        ("trainer.kubeflow.org/v1alpha1/TrainingRuntime", ".spec.template", {"minProperties": 1}),
        ("jobset.x-k8s.io/v1alpha2/JobSet", ".spec.replicatedJobs[].replicas", {"minimum": 0, "default": 1}),
        ("jobset.x-k8s.io/v1alpha2/JobSet", ".spec.ttlSecondsAfterFinished", {"minimum": 0, "format": "int32"}),
        ("jobset.x-k8s.io/v1alpha2/JobSet", ".spec.volumeClaimPolicies", {"maxItems": 50}),
        ("scheduling.x-k8s.io/v1alpha1/PodGroup", ".spec.minMember", {"minimum": 1, "format": "int32"}),
        ("scheduling.volcano.sh/v1beta1/PodGroup", ".spec.queue", {"default": "default", "maxLength": 253}),
        ("scheduling.volcano.sh/v1beta1/PodGroup", ".spec.networkTopology.highestTierAllowed", {"minimum": 0}),
    ],
)
def test_facts(key: str, path: str, facts: dict[str, Any]) -> None:
    node = dict(walk(schema(key)))[path]
    assert {name: node.get(name) for name in facts} == facts


@pytest.mark.slow
def test_runtimes_embed_a_jobset_without_the_later_bound() -> None:
    nodes = dict(walk(schema("trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime")))
    assert "minimum" not in nodes[".spec.template.spec.replicatedJobs[].replicas"]
    assert nodes[".spec.template.spec.ttlSecondsAfterFinished"]["minimum"] == 0


pytest.importorskip("kubernetes_validate", reason="needs the OpenAPI document of Kubernetes")


def silent(node: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, child in node.get("properties", {}).items():
        if not child.get("description", "").endswith("."):
            yield f"{path}.{name}"
        yield from silent(child, f"{path}.{name}")
    if "items" in node:
        yield from silent(node["items"], f"{path}[]")


@pytest.mark.parametrize("kind", sampled(kinds(), lambda kind: kind.__name__, every=4))
def test_described(kind: type[Resource]) -> None:
    fields = list(silent(structural(kind, inline=False)))
    assert not fields, f"write a description, which ends with a full stop, of {', '.join(fields)}"
