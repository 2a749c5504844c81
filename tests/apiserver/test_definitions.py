"""CRDs that a cluster brings."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from trainc.apiserver.definitions import read_definition, structural_faults, unchecked
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import Table, load
from trainc.apiserver.schema.table import compile_table
from trainc.apiserver.verdict import verdict
from trainc.model.tree import stamp

CRDS = sorted((Path(__file__).parents[2] / "schemas" / "crds").glob("*.yaml"))
TEXT = {"type": "string"}
IOS = {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}


@pytest.mark.slow
@pytest.mark.parametrize("path", CRDS, ids=lambda path: path.stem)
def test_our_own_definitions_give_the_built_in_table(path: Path) -> None:
    found = read_definition(stamp(yaml.load(path.read_text("utf-8"), yaml.CSafeLoader), "test"))
    assert found.faults == []
    assert found.notes == []
    assert found.schemas
    table = Table(compile_table(found.schemas, whole=found.whole))
    assert table.whole == load().whole & set(found.schemas)
    for kind in found.schemas:
        theirs, ours = table.root(kind), load().root(kind)
        assert theirs is not None
        assert ours is not None
        assert set(theirs.props.names) == set(ours.props.names)


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"properties": {"a": TEXT}}, ("type",)),
        ({"type": "object", "properties": {"a": {}}}, ("properties", "a", "type")),
        ({"type": "object", "properties": {"a": {"type": "text"}}}, ("properties", "a", "type")),
        ({"type": "array"}, ("items",)),
        ({"type": "array", "items": {}}, ("items", "type")),
        ({"type": "array", "items": [TEXT]}, ("items",)),
        ({"type": "object", "additionalProperties": {}}, ("additionalProperties", "type")),
        ({"type": "object", "properties": {}, "additionalProperties": TEXT}, ("additionalProperties",)),
        ({"type": "object", "$ref": "#/x"}, ("$ref",)),
        ({"type": "array", "items": TEXT, "uniqueItems": True}, ("uniqueItems",)),
        ({**IOS, "type": "string"}, ("type",)),
        ({"type": "object", "anyOf": [{"properties": {"b": {}}}]}, ("anyOf", 0, "properties", "b")),
        ({"type": "object", "not": {"type": "object"}}, ("not", "type")),
        ({"type": "string", "allOf": [{"anyOf": [{"default": "x"}]}]}, ("allOf", 0, "anyOf", 0, "default")),
    ],
)
def test_not_structural(schema: dict[str, Any], where: tuple[Any, ...]) -> None:
    assert [path for path, _ in structural_faults(schema)] == [where]


@pytest.mark.parametrize(
    "schema",
    [
        TEXT,
        IOS,
        {"x-kubernetes-preserve-unknown-fields": True},
        {
            "type": "object",
            "properties": {"a": TEXT},
            "anyOf": [{"required": ["a"]}, {"properties": {"a": {"enum": ["x"]}}}],
        },
        {"type": "object", "additionalProperties": {"type": "array", "items": IOS}},
    ],
)
def test_structural(schema: dict[str, Any]) -> None:
    assert list(structural_faults(schema)) == []


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({**TEXT, "anyOf": [{"pattern": "a"}]}, ("anyOf",)),
        ({"type": "array", "items": {**TEXT, "not": {"enum": ["x"]}}}, ("items", "not")),
        ({**TEXT, "x-kubernetes-validations": [{"rule": "isUrl(self)"}]}, ("x-kubernetes-validations", 0)),
    ],
)
def test_what_is_not_checked_is_told(schema: dict[str, Any], where: tuple[Any, ...]) -> None:
    assert [path for path, *_ in unchecked(schema)] == [where]
    assert list(unchecked(IOS)) == []


def definition(schema: Any, **version: Any) -> dict[str, Any]:
    held = {"name": "v1", "served": True, "schema": {"openAPIV3Schema": schema}, **version}
    return {"spec": {"group": "example.org", "names": {"kind": "Thing"}, "versions": [held]}}


@pytest.mark.parametrize("schema", [TEXT, {"type": "array", "items": TEXT}, IOS])
def test_an_object_is_no_text_and_no_list(schema: dict[str, Any]) -> None:
    """The advice on unknown fields looked for the field above them."""
    found = read_definition(definition(schema))
    faults = [path[-1] for path, _ in found.faults]
    assert (faults, bool(found.schemas)) == ((["type"], False) if "type" in schema else ([], True))


def test_a_definition_that_is_not_structural_is_left_out() -> None:
    found = read_definition(definition({"type": "object", "properties": {"spec": {}}}))
    at = ("spec", "versions", 0, "schema", "openAPIV3Schema", "properties", "spec", "type")
    assert found.faults == [(at, "is required")]
    assert found.schemas == {}


@pytest.mark.parametrize(
    "tree", [{}, {"spec": 1}, {"spec": {"group": "g", "names": {}}}, definition(None), definition([])]
)
def test_what_is_no_definition_is_told(tree: dict[str, Any]) -> None:
    assert read_definition(tree).faults


def test_versions_that_are_not_served_do_not_count() -> None:
    assert read_definition(definition({"type": "object"}, served=False)).schemas == {}


def test_rules_of_a_cluster_hold() -> None:
    spec = {"type": "object", "properties": {"a": {"type": "integer"}}}
    rules = [{"rule": "self.a < 3", "message": "too much"}, {"rule": "uri(self.b)", "message": "no url"}]
    schema = {"type": "object", "properties": {"spec": {**spec, "x-kubernetes-validations": rules}}}
    found = read_definition(definition(schema))
    table = Table(compile_table(found.schemas, whole=found.whole), load())
    thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "x"}, "status": {}}
    refused = verdict(stamp({**thing, "spec": {"a": 3}}, "test"), table, Profile(), strict=False)
    assert (refused.by, refused.messages) == ("cel", ["spec: Invalid value: too much"])
    accepted = verdict(stamp({**thing, "spec": {"a": 2}}, "test"), table, Profile(), strict=False)
    assert accepted.accepted
    assert [fault.message for fault in accepted.unchecked] == [
        "the CEL rule `uri(self.b)` is not evaluated: undeclared reference to 'uri'"
    ]


def test_a_rule_with_an_optional_old_self_holds_from_the_start() -> None:
    rules = [{"rule": "oldSelf.hasValue() || self.a < 3", "message": "starts small", "optionalOldSelf": True}]
    spec = {"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rules}
    found = read_definition(definition({"type": "object", "properties": {"spec": spec}}))
    table = Table(compile_table(found.schemas, whole=found.whole), load())
    thing = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "x"}}
    new = stamp({**thing, "spec": {"a": 3}}, "test")
    assert verdict(new, table, Profile(), strict=False).messages == ["spec: Invalid value: starts small"]
    assert verdict(new, table, Profile(), strict=False, old=stamp({**thing, "spec": {"a": 1}}, "test")).accepted
