"""Structural schemas made into one deduplicated table, which opens in a fraction of a millisecond."""

from collections.abc import Collection, Iterator, Mapping
from json import JSONEncoder, dumps, loads
from sys import float_info
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from trainc.model.tree import Path
from trainc.text.memo import Memo

# Words of an OpenAPI schema that say nothing about validity.
_PROSE = frozenset({"description", "title", "example", "externalDocs"})
_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}
_NUMBER = {"type": "number", "minimum": -float_info.max, "maximum": float_info.max}
_SCHEMAS = {"type": "array", "items": {"type": "object"}}
_NAMED = {"type": "object", "additionalProperties": {"type": "object"}}
_ANYTHING: dict[str, object] = {}
_MARKS = ("preserve-unknown-fields", "embedded-resource", "int-or-string")
_REASONS = ["FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", ""]
_TEXTS = {
    "type": "must be of type {}",
    "required": "has to have {}",
    "enum": "must be one of {}",
    "minLength": "must not be empty",
}


def compile_table(roots: Mapping[str, Mapping[str, Any]], *, whole: Collection[str] = ()) -> dict[str, Any]:
    """The table of these schemas: `{"kinds": {"<group>/<version>/<Kind>": index}, "nodes": [...]}`.

    Equal subschemas share one node; `properties`, `items` and `additionalProperties` hold indices, all other keywords
    stand under their CRD names. `whole` names the kinds without a status subresource.
    """
    encode = JSONEncoder(sort_keys=True, separators=(",", ":")).encode
    nodes: list[dict[str, Any]] = []
    known: dict[str, int] = {}

    def add(schema: Mapping[str, Any]) -> int:
        node: dict[str, Any] = {}
        for key, value in sorted(schema.items()):
            if key == "properties":
                node[key] = {name: add(child) for name, child in sorted(value.items())}
            elif key == "items" or (key == "additionalProperties" and type(value) is not bool):
                node[key] = add(value)
            elif key not in _PROSE:
                node[key] = value
        text = encode(node)
        if text not in known:
            known[text] = len(nodes)
            nodes.append(node)
        return known[text]

    kinds = {kind: add(schema) for kind, schema in sorted(roots.items())}
    return {"kinds": kinds, "nodes": nodes, "whole": sorted(set(whole) & set(roots))}


def _record(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": [*required], "properties": properties}


_RULE = _record(
    "rule",
    rule={"type": "string", "minLength": 1},
    message=_TEXT,
    messageExpression=_TEXT,
    fieldPath=_TEXT,
    optionalOldSelf=_FLAG,
    reason={"enum": _REASONS},
)
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("type", "format", "pattern", "title", "description"), _TEXT),
    **dict.fromkeys(("default", "example", "externalDocs"), _ANYTHING),
    "nullable": _FLAG,
    "enum": {"type": "array"},
    "required": {"type": "array", "items": _TEXT},
    "properties": _NAMED,
    "additionalProperties": {"type": ["object", "boolean"]},
    "items": {"type": "object"},
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _SCHEMAS),
    "not": {"type": "object"},
    **dict.fromkeys(("uniqueItems", "exclusiveMinimum", "exclusiveMaximum"), _FLAG),
    **dict.fromkeys(("minimum", "maximum"), _NUMBER),
    "multipleOf": {**_NUMBER, "exclusiveMinimum": 0},
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _COUNT),
    **dict.fromkeys((f"x-kubernetes-{word}" for word in _MARKS), _FLAG),
    "x-kubernetes-list-type": {"enum": ["atomic", "set", "map"]},
    "x-kubernetes-map-type": {"enum": ["granular", "atomic"]},
    "x-kubernetes-list-map-keys": {"type": "array", "items": _TEXT},
    "x-kubernetes-validations": {"type": "array", "items": _RULE},
}
KNOWN = frozenset(_WORDS)
_VERSION = _record(
    "name",
    "served",
    name=_TEXT,
    served=_FLAG,
    schema=_record(openAPIV3Schema={"type": "object"}),
    subresources=_record(status={"type": "object"}),
)
_DEFINITION = _record(
    "spec",
    spec=_record(
        "group",
        "names",
        "versions",
        group={"type": "string", "minLength": 1},
        names=_record("kind", kind=_TEXT),
        versions={"type": "array", "items": _VERSION},
    ),
)
_schema_judge = Draft202012Validator({"type": "object", "properties": _WORDS})
_definition_judge = Draft202012Validator(_DEFINITION)


def definition_misfits(definition: Any) -> tuple[tuple[Path, str], ...]:
    """Where and why a whole definition is none; the schemas of its versions are not looked at."""
    return tuple(_described(_definition_judge.iter_errors(definition)))


def schema_misfits(schema: dict[str, Any]) -> tuple[tuple[Path, str], ...]:
    """Where and why the words of one schema do not have the shape that they must have."""
    shallow = {word: _shallow(word, value) for word, value in schema.items() if word in KNOWN}
    return _misfits[dumps(shallow, sort_keys=True)]


_misfits: Memo[str, tuple[tuple[Path, str], ...]] = Memo(
    lambda schema: tuple(_described(_schema_judge.iter_errors(loads(schema)))), most=10_000
)


def _shallow(word: str, value: Any) -> Any:
    """What a word says, without the schemas in it."""
    if word in ("items", "not", "additionalProperties"):
        return {} if type(value) is dict else value
    if word in ("default", "example", "externalDocs"):
        return None
    if word == "properties" and type(value) is dict:
        return {name: {} if type(child) is dict else child for name, child in value.items()}
    if word in ("allOf", "anyOf", "oneOf") and type(value) is list:
        return [{} if type(child) is dict else child for child in value]
    return value


def _described(errors: Iterator[ValidationError]) -> Iterator[tuple[Path, str]]:
    for error in errors:
        wanted = error.validator_value
        listed = ", ".join(map(str, wanted)) if type(wanted) is list else str(wanted)
        yield tuple(error.absolute_path), _TEXTS.get(str(error.validator), "is out of range").format(listed)
