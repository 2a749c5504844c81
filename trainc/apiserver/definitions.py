"""CustomResourceDefinitions that a cluster brings: their kinds, and what in them cannot be taken at its word.

Rules of structural schemas: k8s.io/apiextensions-apiserver pkg/apiserver/schema (validation.go), Kubernetes 1.36.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from trainc.apiserver.cel.builtin import RULES
from trainc.apiserver.schema import engine
from trainc.apiserver.schema.patterns import ORDINARY
from trainc.apiserver.schema.table import KNOWN, compile_table, definition_misfits, schema_misfits
from trainc.model.cluster import Definitions
from trainc.model.document import Document
from trainc.model.tree import Path, Tree, dotted, plain

_FORBIDDEN = [
    "$ref", "definitions", "dependencies", "deprecated", "discriminator", "id", "patternProperties", "readOnly",
    "writeOnly", "xml", "$schema",
]  # fmt: skip
_PYTHON: dict[str, tuple[type, ...]] = {
    "array": (list,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
    "string": (str,),
}
DEPTH = 64  # schemas within schemas; pod templates take 20
_JUNCTORS = ("allOf", "anyOf", "oneOf")
_TEXT = {"type": "string"}
_INT_OR_STRING = [{"type": "integer"}, _TEXT]
# What may not stand inside allOf, anyOf, oneOf and not.
_OUTSIDE = ("default", "nullable", "description", "title", "additionalProperties", "type")


class Definition:
    """One CRD: its schemas by `<group>/<version>/<Kind>`, and remarks on them.

    `whole` are the kinds without a status subresource. `faults` say why a schema is not structural: a server would not
    have taken it, and it is left out of `schemas`. `notes` name what the walker does not check. Both are pairs of a
    path into the CRD and a text.
    """

    def __init__(self) -> None:
        self.schemas: dict[str, dict[str, Any]] = {}
        self.whole: list[str] = []
        self.faults: list[tuple[Path, str]] = []
        self.notes: list[tuple[Path, str]] = []


def read_definitions(documents: Iterable[Document]) -> Definitions:
    """What the CustomResourceDefinitions of one file say; of two for one kind and version the last one counts."""
    schemas: dict[str, Any] = {}
    whole: list[str] = []
    faults, notes = [], []
    for document in documents:
        definition = read_definition(document.tree)
        schemas |= definition.schemas
        whole += definition.whole
        name = document.name
        faults += [(document.span(path), f"`{name}`: `{dotted(path[-2:])}` {text}") for path, text in definition.faults]
        notes += [(document.span(path), f"`{name}`: {text}") for path, text in definition.notes]
    return Definitions(compile_table(schemas, whole=whole), tuple(faults), tuple(notes))


def read_definition(tree: Tree) -> Definition:
    """What a CustomResourceDefinition of `apiextensions.k8s.io/v1` says; versions that are not served are left out."""
    read = Definition()
    definition = plain(tree)
    read.faults += definition_misfits(definition)
    if read.faults:
        return read
    spec = definition["spec"]
    for index, version in enumerate(spec["versions"]):
        if not version["served"]:
            continue
        at: Path = ("spec", "versions", index, "schema", "openAPIV3Schema")
        schema = version.get("schema", {}).get("openAPIV3Schema")
        faults = [(at[:3], "has no schema.openAPIV3Schema")] if schema is None else [*structural_faults(schema, at)]
        if not faults and schema.get("type", "object") != "object":
            faults = [((*at, "type"), "must be object at the root")]
        remarks = [] if faults else [*unchecked(schema, at)]
        faults += [(path, text) for path, text, is_refused in remarks if is_refused]
        read.faults += faults
        if faults:
            continue
        read.notes += [(path, text) for path, text, _ in remarks]
        schema = known_words(schema)
        # What every object has.
        fields = {"apiVersion": _TEXT, "kind": _TEXT, **schema.get("properties", {}), "metadata": {"type": "object"}}
        key = f"{spec['group']}/{version['name']}/{spec['names']['kind']}"
        read.schemas[key] = {**schema, "properties": fields}
        if "status" not in version.get("subresources", {}):
            read.whole.append(key)
    return read


def known_words(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of the right shape with the words of structural schemas alone, in it and in those below it."""
    words = {word: value for word, value in schema.items() if word in KNOWN}
    if "properties" in words:
        words["properties"] = {name: known_words(child) for name, child in words["properties"].items()}
    for word in ("items", "additionalProperties"):
        if type(words.get(word)) is dict:
            words[word] = known_words(words[word])
    return words


def structural_faults(schema: Any, at: Path = (), depth: int = 0) -> Iterator[tuple[Path, str]]:
    """Where and why a schema is not structural; its own words come first, and only where they fit the rules on them."""
    if type(schema) is not dict or depth > DEPTH:
        yield at, "must be a schema" if depth <= DEPTH else f"is nested deeper than {DEPTH} schemas"
        return
    misfits = [((*at, *path), text) for path, text in schema_misfits(schema)]
    yield from misfits
    if not misfits:
        yield from _own_faults(schema, at)
    for path, inner in _inside(schema, at):
        shapes = [*_shape_faults(inner, path)]
        yield from shapes
        if not shapes and not misfits:
            yield from _value_faults(inner, schema, path)
    for path, child in _children(schema, at):
        if type(child) is dict:  # anything else is a misfit of this schema
            yield from structural_faults(child, path, depth + 1)


def _own_faults(schema: dict[str, Any], at: Path) -> Iterator[tuple[Path, str]]:
    for word in _FORBIDDEN:
        if word in schema:
            yield (*at, word), "is forbidden in a structural schema"
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string") is True:
        if kind is not None:
            yield (*at, "type"), "must be empty beside x-kubernetes-int-or-string"
    elif kind is None:
        if schema.get("x-kubernetes-preserve-unknown-fields") is not True:
            yield (*at, "type"), "is required"
    elif kind not in _PYTHON:
        yield (*at, "type"), f"must be one of {', '.join(_PYTHON)}"
    elif kind == "array" and "items" not in schema:
        yield (*at, "items"), "is required for an array"
    if "properties" in schema and schema.get("additionalProperties") not in (None, False):
        yield (*at, "additionalProperties"), "is forbidden beside properties"
    if schema.get("uniqueItems") is True:
        yield (*at, "uniqueItems"), "is forbidden to be true"
    keys, listed = schema.get("x-kubernetes-list-map-keys"), schema.get("x-kubernetes-list-type")
    if (listed == "map") != bool(keys):
        yield (*at, "x-kubernetes-list-map-keys"), "belongs beside x-kubernetes-list-type: map, and nowhere else"
    properties = schema.get("items", {}).get("properties", {}) if listed == "map" else {}
    for index, key in enumerate(keys or () if listed == "map" else ()):
        if key not in properties:
            yield (*at, "x-kubernetes-list-map-keys", index), "must name a property of the items"
    default, wanted = schema.get("default"), _PYTHON.get(schema.get("type", ""))
    is_null = default is None and schema.get("nullable") is True
    if "default" in schema and not (wanted is None or type(default) in wanted or is_null):
        yield (*at, "default"), f"must be of type {schema.get('type')}"


def _shape_faults(inner: Any, at: Path, depth: int = 0) -> Iterator[tuple[Path, str]]:
    """The misfits of a schema that only restricts values, and of those in it."""
    if type(inner) is not dict or depth > DEPTH:
        yield at, "must be a schema" if depth <= DEPTH else f"is nested deeper than {DEPTH} schemas"
        return
    for path, text in schema_misfits(inner):
        yield (*at, *path), text
    for path, child in (*_children(inner, at), *_inside(inner, at)):
        if type(child) is dict:
            yield from _shape_faults(child, path, depth + 1)


def _children(schema: dict[str, Any], at: Path) -> Iterator[tuple[Path, Any]]:
    props = schema.get("properties")
    for name, child in props.items() if type(props) is dict else ():
        yield (*at, "properties", name), child
    if "items" in schema:
        yield (*at, "items"), schema["items"]
    if type(schema.get("additionalProperties")) is dict:
        yield (*at, "additionalProperties"), schema["additionalProperties"]


def _inside(schema: dict[str, Any], at: Path) -> Iterator[tuple[Path, Any]]:
    """The schemas that only restrict values."""
    for word in _JUNCTORS:
        below = schema.get(word)
        for index, inner in enumerate(below if type(below) is list else ()):
            yield (*at, word, index), inner
    if "not" in schema:
        yield (*at, "not"), schema["not"]


def _value_faults(inner: Any, outer: dict[str, Any], at: Path) -> Iterator[tuple[Path, str]]:
    if outer.get("x-kubernetes-int-or-string") is True or type(inner) is not dict:
        return
    for word in _OUTSIDE:
        if word in inner:
            yield (*at, word), "is forbidden here: it belongs outside of allOf, anyOf, oneOf and not"
    outside = outer.get("properties", {})
    for name, child in inner.get("properties", {}).items():
        if name not in outside:
            yield (*at, "properties", name), "has to be specified outside of allOf, anyOf, oneOf and not as well"
        else:
            yield from _value_faults(child, outside[name], (*at, "properties", name))
    for path, deeper in _inside(inner, at):
        yield from _value_faults(deeper, outer, path)


def unchecked(schema: dict[str, Any], at: Path = ()) -> Iterator[tuple[Path, str, bool]]:
    """What is not checked of the objects of a structural schema, each with whether no server would take the schema."""
    for word in (*_JUNCTORS, "not"):
        plain_choice = word == "anyOf" and schema.get("x-kubernetes-int-or-string") and schema[word] == _INT_OR_STRING
        if word in schema and not plain_choice:
            yield (*at, word), f"`{word}` is not checked", False
    if "multipleOf" in schema:
        yield (*at, "multipleOf"), "`multipleOf` is not checked", False
    if schema.get("x-kubernetes-embedded-resource"):
        yield (*at, "x-kubernetes-embedded-resource"), "metadata of embedded objects is not checked", False
    for index, rule in enumerate(schema.get("x-kubernetes-validations", ())):
        where = (*at, "x-kubernetes-validations", index)
        if rule["rule"] not in RULES:
            reason, refused = engine.rule_trouble(rule["rule"])
            if reason:
                yield where, f"the rule {'is not CEL' if refused else 'is skipped'}: {reason}", refused
    if (pattern := schema.get("pattern", "")) and pattern not in ORDINARY:
        reason, refused = engine.pattern_trouble(pattern)
        if reason:
            verdict = "is not a regular expression" if refused else "is not checked"
            yield (*at, "pattern"), f"the pattern `{pattern}` {verdict}: {reason}", refused
    for path, child in _children(schema, at):
        if type(child) is dict:
            yield from unchecked(child, path)
