"""Small schemas and objects: what the server would say, and what it would store."""

from typing import Any

import pytest

from tests.apiserver.seeds import seeds
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import SchemaNode, Table, load
from trainc.apiserver.schema.table import compile_table
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.verdict import kind_of
from trainc.model.sourced import SCHEMA_DEFAULT, Sourced
from trainc.model.tree import get, plain, stamp
from trainc.text.re2 import compile_re2

TEXT = {"type": "string"}
NAMED = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "value": TEXT}}
QUANTITY = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
}


def node(schema: dict[str, Any]) -> SchemaNode:
    """The root of a kind whose `x` has this schema."""
    found = Table(compile_table({"t/v1/T": {"type": "object", "properties": {"x": schema}}})).root("t/v1/T")
    assert found is not None
    return found


def messages(schema: dict[str, Any], value: Any) -> list[str]:
    """What is said of `x: value`; the same for sourced and for bare values, warm and cold."""
    root = node(schema)
    found = []
    for tree in ({"x": value}, stamp({"x": value}, "test"), {"x": value}):
        log = Log()
        walk(root, tree, log)
        found.append([fault.message for fault in (*log.unknown, *log.schema, *log.lists)])
    assert found[0] == found[1] == found[2]
    return found[0]


def stored(schema: dict[str, Any], value: Any) -> Any:
    return plain(walk(node(schema), {"x": value}, Log()))


def in_body(kind: str, got: str) -> str:
    return f'x: Invalid value: "{got}": x in body must be of type {kind}: "{got}"'


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (TEXT, "a", []),
        (TEXT, 1, [in_body("string", "integer")]),
        (TEXT, 1.5, [in_body("string", "number")]),
        (TEXT, True, [in_body("string", "boolean")]),
        (TEXT, [], [in_body("string", "array")]),
        (TEXT, {"a": 1}, ['unknown field "x.a"', in_body("string", "object")]),
        ({"type": "boolean"}, "true", [in_body("boolean", "string")]),
        ({"type": "integer"}, 2.0, []),
        ({"type": "integer"}, True, [in_body("integer", "boolean")]),
        ({"type": "integer", "format": "int32"}, True, [in_body("int32", "")]),
        (
            {"type": "integer", "format": "int32"},
            1.5,
            [
                in_body("int32", "float64"),
                '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x',
            ],
        ),
        (
            {"type": "integer", "format": "int32"},
            2**31,
            ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in x'],
        ),
        ({"type": "integer", "format": "int32"}, -(2**31), []),
        ({"type": "integer", "minimum": 1}, 0, ["x: Invalid value: 0: x in body should be greater than or equal to 1"]),
        ({"type": "integer", "maximum": 3}, 4, ["x: Invalid value: 4: x in body should be less than or equal to 3"]),
        (
            {"type": "integer", "minimum": 1, "exclusiveMinimum": True},
            1,
            ["x: Invalid value: 1: x in body should be greater than 1"],
        ),
        ({"type": "number"}, 1, []),
        ({"type": "number"}, 1.5, []),
        ({**TEXT, "enum": ["a", "b"]}, "c", ['x: Unsupported value: "c": supported values: "a", "b"']),
        ({**TEXT, "maxLength": 2}, "abc", ["x: Too long: may not be more than 2 bytes"]),
        ({**TEXT, "maxLength": 2}, "éé", []),
        ({**TEXT, "minLength": 1}, "", ['x: Invalid value: "": x in body should be at least 1 chars long']),
        ({**TEXT, "pattern": "^a$"}, "b", ["x: Invalid value: \"b\": x in body should match '^a$'"]),
        ({**TEXT, "pattern": "^a$"}, "a\n", ["x: Invalid value: \"a\\n\": x in body should match '^a$'"]),
        ({**TEXT, "format": "date-time"}, "2026-01-02T03:04:05Z", []),
        (QUANTITY, "100m", []),
        (QUANTITY, 4, []),
        (
            QUANTITY,
            0.5,
            [
                in_body("integer,string", "number"),
                '<nil>: Invalid value: "": "x" must validate at least one schema (anyOf)',
                in_body("integer", "number"),
                '<nil>: Invalid value: "": Checked value must be of type integer (default format) in x',
            ],
        ),
        ({"type": "array", "items": TEXT}, ["a", None], ['x[1]: Invalid value: "null": x[1] in body must be of type string: "null"']),
        ({"type": "array", "items": TEXT, "maxItems": 1}, ["a", "b"], ["x: Too many: 2: must have at most 1 items"]),
        ({"type": "array", "items": TEXT, "minItems": 1}, [], ["x: Invalid value: 0: x in body should have at least 1 items"]),
        ({"type": "array", "items": TEXT}, {"a": "b"}, ['unknown field "x.a"', in_body("array", "object")]),
        (NAMED, {}, ["x.name: Required value"]),
        (NAMED, {"name": "a", "valeu": "b"}, ['unknown field "x.valeu"']),
        (NAMED, [{"name": "a"}], ['unknown field "x[0].name"', in_body("object", "array")]),
        (
            {**NAMED, "minProperties": 1},
            {},
            ["x: Invalid value: 0: x in body should have at least 1 properties"],
        ),
        ({"type": "object", "additionalProperties": TEXT}, {"a.b/c": 1}, ['x.a.b/c: Invalid value: "integer": x.a.b/c in body must be of type string: "integer"']),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, {"a": {"b": [1]}}, []),
    ],
)  # fmt: skip
def test_values(schema: dict[str, Any], value: Any, expected: list[str]) -> None:
    assert messages(schema, value) == expected


KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": NAMED}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (KEYED, [{"name": "a"}, {"name": "b"}], []),
        (KEYED, [{"name": "a"}, {"name": "a"}, {"name": "a"}], ['x[1]: Duplicate value: {"name":"a"}']),
        (
            KEYED,
            [None, None, {"name": "a"}],
            [
                'x[0]: Invalid value: "null": x[0] in body must be of type object: "null"',
                'x[1]: Invalid value: "null": x[1] in body must be of type object: "null"',
                "x[1]: Duplicate value: {}",
            ],
        ),
        (
            KEYED,
            [{"name": "a"}, 1, "b"],
            [
                'x[1]: Invalid value: "integer": x[1] in body must be of type object: "integer"',
                'x[2]: Invalid value: "string": x[2] in body must be of type object: "string"',
                "x[1]: Invalid value: 1: must be an object for an array of list-type map",
            ],
        ),
        (
            {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
            ["a", "b", "a"],
            ['x[2]: Duplicate value: "a"'],
        ),
    ],
)
def test_lists(schema: dict[str, Any], value: Any, expected: list[str]) -> None:
    assert messages(schema, value) == expected


DEFAULTED = {
    "type": "object",
    "properties": {
        "mode": {**TEXT, "default": "hard"},
        "inner": {"type": "object", "default": {}, "properties": {"n": {"type": "integer", "default": 1}}},
        "kept": {**TEXT, "nullable": True, "default": "d"},
    },
}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, {"mode": "hard", "inner": {"n": 1}, "kept": "d"}),
        ({"mode": None, "inner": {}, "kept": None}, {"mode": "hard", "inner": {"n": 1}, "kept": None}),
        ({"mode": "", "inner": {"n": 0}, "kept": "x"}, {"mode": "", "inner": {"n": 0}, "kept": "x"}),
        ({"mode": "m", "odd": 1, "inner": {"n": 2}, "kept": "x"}, {"mode": "m", "inner": {"n": 2}, "kept": "x"}),
    ],
)
def test_defaults(value: Any, expected: Any) -> None:
    assert stored(DEFAULTED, value) == {"x": expected}


def test_defaults_say_where_they_come_from() -> None:
    tree = stamp({"x": {"mode": "soft"}}, "test")
    out = walk(node(DEFAULTED), tree, Log())
    assert get(out, "x", "mode") is tree["x"]["mode"]
    assert get(out, "x", "inner", "n").origin.by == SCHEMA_DEFAULT


def test_what_does_not_change_is_shared() -> None:
    schema = {"type": "object", "properties": {"same": NAMED, "new": DEFAULTED}}
    tree = stamp({"x": {"same": {"name": "a"}, "new": {}}}, "test")
    out = walk(node(schema), tree, Log())
    assert out["x"]["same"] is tree["x"]["same"]
    assert tree["x"]["new"] == {}
    assert walk(node(schema), out, Log()) is out


def test_unknown_fields_come_with_what_is_known() -> None:
    log = Log()
    walk(node(NAMED), {"x": {"nmae": "a"}}, log)
    assert [(fault.path, fault.candidates) for fault in log.unknown] == [(("x", "nmae"), ("name", "value"))]
    assert not log.unknown[0].blocking


def test_metadata_keeps_its_place() -> None:
    tree = {"apiVersion": "t/v1", "metadata": {"name": "a"}, "kind": "T", "x": {"odd": 1}}
    schema = {
        "type": "object",
        "properties": {"apiVersion": TEXT, "kind": TEXT, "metadata": {"type": "object"}, "x": NAMED},
    }
    root = Table(compile_table({"t/v1/T": schema})).root("t/v1/T")
    assert root is not None
    assert list(walk(root, tree, Log())) == ["apiVersion", "metadata", "kind", "x"]


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^a$", "a\n", False), (r"^a$", "a", True), (r"[$]", "$", True), (r"\$$", "a$", True), (r"a\z", "a\n", False),
        (r"^\d+$", "٣", False), (r"^[[:alpha:]]+$", "ab", True), (r"^[[:alpha:]]+$", "a1", False), (r"[]$]", "$", True),
    ],
)  # fmt: skip
def test_patterns_mean_what_re2_means(pattern: str, text: str, matches: bool) -> None:
    assert bool(compile_re2(pattern).search(text)) is matches


def test_a_pattern_of_a_cluster_means_what_re2_means() -> None:
    log = Log()
    walk(node({**TEXT, "pattern": r"^\p{Greek}$"}), {"x": "a"}, log)
    walk(node({**TEXT, "pattern": r"^\p{Greek}$"}), {"x": "\u03b1"}, log)
    assert [fault.path for fault in log.unchecked] == [("x",)] * 2, "trainc has no table of scripts"
    walk(node({**TEXT, "pattern": r"^\p{Lu}$"}), {"x": "a"}, log)
    walk(node({**TEXT, "pattern": r"^\p{Lu}$"}), {"x": "\u0391"}, log)
    assert [fault.path for fault in log.schema] == [("x",)]


def test_built_in_seeds_are_sound() -> None:
    for seed in seeds():
        root = load().root(kind_of(seed))
        assert root is not None
        log = Log()
        out = walk(root, stamp(seed, "test"), log)
        assert [*log.schema, *log.unknown, *log.lists] == []
        assert type(get(out, "spec")) is dict
        assert all(type(leaf) is Sourced for leaf in (get(out, "kind"), get(out, "apiVersion")))
