"""A kind takes a module of its own: what the models say becomes a structural schema."""

from typing import Annotated, Any, ClassVar, Literal

import pytest
from annotated_types import Ge, MaxLen
from pydantic import ConfigDict, Field

pytest.importorskip("kubernetes_validate", reason="needs the OpenAPI document of Kubernetes")

from trainc.apiserver.generator.crd import crd, root
from trainc.apiserver.generator.jsonschema import json_schema
from trainc.apiserver.generator.structural import structural, without
from trainc.apiserver.models.core import PodTemplateSpec
from trainc.apiserver.models.node import (
    ATOMIC,
    FIELD_IMMUTABLE,
    ApiObject,
    Column,
    Core,
    Int32,
    Keywords,
    Names,
    Quantity,
    Resource,
    StringMap,
    list_map,
    optional,
    rule,
)

_POSITIVE = rule("self > 0", "must be positive")


class Replica(ApiObject):
    """A role."""

    model_config = ConfigDict(json_schema_extra=rule("has(self.name)", "name it").keywords)

    name: str
    """Name."""
    count: Annotated[Int32, Ge(0)] | None = optional("How many.", default=1)
    policy: Literal["Never"] | None = None
    """Policy."""
    template: PodTemplateSpec | None = None
    """Pods."""


class LoomSpec(ApiObject):
    """What to weave."""

    roles: Annotated[dict[str, Replica], FIELD_IMMUTABLE] | None = None
    """Roles by name."""
    first: Annotated[Replica, FIELD_IMMUTABLE, Keywords({"x-without": ["count", "minimum"]})] | None = None
    """The first role."""
    steps: Annotated[list[Annotated[int, _POSITIVE]], MaxLen(3), ATOMIC] | None = None
    """Steps."""
    parts: Annotated[list[Replica], list_map("name")] | None = None
    """Parts."""
    selector: StringMap | None = None
    """Selector."""
    limits: dict[str, Quantity] | None = None
    """Limits."""
    free_form: Annotated[dict[str, object] | None, Field(alias="freeFORM")] = None
    """Anything."""
    metrics: list[Annotated[dict[str, object], Core("io.k8s.api.autoscaling.v2.MetricSpec")]] | None = None
    """Metrics."""


class Loom(Resource):
    """A loom."""

    NAMES: ClassVar[Names] = Names(
        "weave.example.org", "v1", "Loom", "looms", short=("lo",), columns=(Column("Age", ".age", "date", 1),)
    )

    spec: LoomSpec
    """What to weave."""


class OldLoom(Resource):
    """A loom of old."""

    NAMES: ClassVar[Names] = Names("weave.example.org", "v1alpha1", "Loom", "looms", status=True)


SPEC: dict[str, Any] = structural(Loom, inline=True)["properties"]["spec"]["properties"]
IMMUTABLE = {"message": "field is immutable", "rule": "self == oldSelf"}
NAMED = {"message": "name it", "rule": "has(self.name)"}


def test_what_is_near_the_field_wins_over_the_class() -> None:
    assert SPEC["first"]["description"] == "The first role."
    assert SPEC["first"]["x-kubernetes-validations"] == [NAMED, IMMUTABLE]
    assert SPEC["first"]["required"] == ["name"]


def test_a_fact_can_be_left_out_in_one_place() -> None:
    count = {"type": "integer", "format": "int32", "minimum": 0, "default": 1, "description": "How many."}
    assert SPEC["parts"]["items"]["properties"]["count"] == count
    assert SPEC["first"]["properties"]["count"] == {key: count[key] for key in count if key != "minimum"}


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        (
            "steps",
            {
                "type": "array",
                "items": {
                    "type": "integer",
                    "x-kubernetes-validations": [{"message": "must be positive", "rule": "self > 0"}],
                },
                "maxItems": 3,
                "x-kubernetes-list-type": "atomic",
            },
        ),
        ("selector", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("freeFORM", {"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
    ],
)
def test_fields(field: str, schema: dict[str, Any]) -> None:
    assert without(SPEC[field], "description") == schema


def test_maps_of_objects() -> None:
    assert SPEC["roles"]["x-kubernetes-validations"] == [IMMUTABLE]
    assert SPEC["roles"]["additionalProperties"]["properties"]["policy"]["enum"] == ["Never"]


def test_quantities_are_integers_or_strings() -> None:
    quantity = SPEC["limits"]["additionalProperties"]
    assert quantity["x-kubernetes-int-or-string"] is True
    assert "type" not in quantity


def test_shapes_of_kubernetes_are_written_out() -> None:
    template = SPEC["first"]["properties"]["template"]["properties"]
    assert list(template["metadata"]["properties"]) == ["annotations", "finalizers", "labels", "name", "namespace"]
    container = template["spec"]["properties"]["containers"]["items"]["properties"]
    assert container["ports"]["items"]["properties"]["protocol"]["default"] == "TCP"
    assert "resource" in SPEC["metrics"]["items"]["properties"]


def test_shapes_of_kubernetes_are_referred_to_in_json_schema() -> None:
    schema = json_schema(Loom)
    parts = schema["properties"]["spec"]["properties"]["parts"]["items"]["properties"]
    assert parts["template"]["$ref"] == "#/$defs/PodTemplateSpec"
    assert {"PodSpec", "Container", "ObjectMeta", "MetricSpec"} <= set(schema["$defs"])
    assert schema["required"] == ["apiVersion", "kind", "spec"]


def test_definition() -> None:
    spec = crd(Loom)["spec"]
    assert spec["names"] == {
        "kind": "Loom",
        "listKind": "LoomList",
        "plural": "looms",
        "shortNames": ["lo"],
        "singular": "loom",
    }
    (version,) = spec["versions"]
    assert "subresources" not in version
    assert version["additionalPrinterColumns"] == [{"name": "Age", "jsonPath": ".age", "type": "date", "priority": 1}]
    assert root(Loom)["required"] == ["spec"]


def test_versions_share_a_definition() -> None:
    spec = crd(OldLoom, Loom)["spec"]
    versions = [(version["name"], version["storage"], "subresources" in version) for version in spec["versions"]]
    assert versions == [("v1alpha1", False, True), ("v1", True, False)]
