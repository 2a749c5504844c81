"""CustomResourceDefinitions that a cluster brings: their kinds, and what in them cannot be taken at its word.

Rules of structural schemas: k8s.io/apiextensions-apiserver pkg/apiserver/schema (validation.go), Kubernetes 1.36.
"""

from __future__ import annotations

import re

from trainc.model.definitions import Definitions
from trainc.model.tree import dotted, plain
from trainc.schema.cel import UntranslatableError, translate
from trainc.schema.scalar import compile_re2
from trainc.schema.table import compile_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from trainc.model.document import Document
    from trainc.model.tree import Path, Tree

_FORBIDDEN = [
    "$ref",
    "definitions",
    "dependencies",
    "deprecated",
    "discriminator",
    "id",
    "patternProperties",
    "readOnly",
    "writeOnly",
    "xml",
    "$schema",
]
_TYPES = frozenset(["array", "boolean", "integer", "number", "object", "string"])
_JUNCTORS = ("allOf", "anyOf", "oneOf")
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]
# What may not stand inside allOf, anyOf, oneOf and not.
_OUTSIDE = ("default", "nullable", "description", "title", "additionalProperties", "type")


class Definition:
    """One CRD: its schemas by `<group>/<version>/<Kind>`, and remarks on them.

    `whole` are the kinds without a status subresource. `faults` say why a schema is not structural: a server would not
    have taken it, and it is left out of `schemas`. `notes` name what the walker does not check. Both are pairs of a
    path into the CRD and a text.
    """

    __slots__ = ("faults", "notes", "schemas", "whole")

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
        found = read_definition(document.tree)
        schemas |= found.schemas
        whole += found.whole
        name = document.name
        faults += [(document.span(path), f"`{name}`: `{dotted(path[-2:])}` {text}") for path, text in found.faults]
        notes += [(document.span(path), f"`{name}`: {text}") for path, text in found.notes]
    return Definitions(compile_table(schemas, whole=whole), tuple(faults), tuple(notes))


def read_definition(tree: Tree) -> Definition:
    """What a CustomResourceDefinition of `apiextensions.k8s.io/v1` says; versions that are not served are left out."""
    found = Definition()
    spec = plain(tree).get("spec")
    held = spec if type(spec) is dict else {}
    names, group, versions = held.get("names"), held.get("group"), held.get("versions")
    if type(names) is not dict or type(names.get("kind")) is not str or type(group) is not str:
        found.faults.append((("spec",), "has no group or no names.kind"))
        return found
    for index, version in enumerate(versions if type(versions) is list else ()):
        if type(version) is dict and version.get("served") is True:
            key = f"{group}/{version.get('name')}/{names['kind']}"
            _add_version(found, key, version, ("spec", "versions", index))
    return found


def _add_version(found: Definition, key: str, version: dict[str, Any], at: Path) -> None:
    where: Path = (*at, "schema", "openAPIV3Schema")
    held = version.get("schema")
    schema = held.get("openAPIV3Schema") if type(held) is dict else None
    if type(schema) is not dict:
        found.faults.append((at, "has no schema.openAPIV3Schema"))
        return
    faults = [*structural_faults(schema, where)]
    found.faults += faults
    if faults:
        return
    found.notes += unchecked(schema, where)
    found.schemas[key] = with_meta(schema)
    subresources = version.get("subresources")
    if type(subresources) is not dict or "status" not in subresources:
        found.whole.append(key)


def with_meta(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a whole object with the fields that every object has."""
    props = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, **schema.get("properties", {})}
    return {**schema, "properties": {**props, "metadata": {"type": "object"}}}


def structural_faults(schema: Any, at: Path = ()) -> Iterator[tuple[Path, str]]:
    """Where and why a schema is not structural."""
    if type(schema) is not dict:
        yield at, "must be a schema"
        return
    for word in _FORBIDDEN:
        if word in schema:
            yield (*at, word), "is forbidden in a structural schema"
    yield from _type_faults(schema, at)
    if "properties" in schema and schema.get("additionalProperties") not in (None, False):
        yield (*at, "additionalProperties"), "is forbidden beside properties"
    if schema.get("uniqueItems") is True:
        yield (*at, "uniqueItems"), "is forbidden to be true"
    for path, inner in _inside(schema, at):
        yield from _value_faults(inner, schema, path)
    for path, child in _children(schema, at):
        yield from structural_faults(child, path)


def _type_faults(schema: dict[str, Any], at: Path) -> Iterator[tuple[Path, str]]:
    kind = schema.get("type")
    if schema.get("x-kubernetes-int-or-string") is True:
        if kind is not None:
            yield (*at, "type"), "must be empty beside x-kubernetes-int-or-string"
    elif kind is None:
        if schema.get("x-kubernetes-preserve-unknown-fields") is not True:
            yield (*at, "type"), "is required"
    elif kind not in _TYPES:
        yield (*at, "type"), f"must be one of {', '.join(sorted(_TYPES))}"
    elif kind == "array" and "items" not in schema:
        yield (*at, "items"), "is required for an array"


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
        found = schema.get(word)
        for index, inner in enumerate(found if type(found) is list else ()):
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


def unchecked(schema: dict[str, Any], at: Path = ()) -> Iterator[tuple[Path, str]]:
    """What the walker cannot check in a structural schema."""
    for word in (*_JUNCTORS, "not"):
        plain_choice = word == "anyOf" and schema.get("x-kubernetes-int-or-string") and schema[word] == _INT_OR_STRING
        if word in schema and not plain_choice:
            yield (*at, word), f"`{word}` is not checked"
    if "multipleOf" in schema:
        yield (*at, "multipleOf"), "`multipleOf` is not checked"
    if schema.get("x-kubernetes-embedded-resource"):
        yield (*at, "x-kubernetes-embedded-resource"), "metadata of embedded objects is not checked"
    for index, rule in enumerate(schema.get("x-kubernetes-validations", ())):
        reason = _untranslatable(rule)
        if reason:
            yield (*at, "x-kubernetes-validations", index), f"the rule is not checked: {reason}"
    if not _compiles(schema.get("pattern", "")):
        yield (*at, "pattern"), f"the pattern is not checked: `{schema['pattern']}`"
    for path, child in _children(schema, at):
        if type(child) is dict:
            yield from unchecked(child, path)


def _untranslatable(rule: dict[str, Any]) -> str:
    if rule.get("optionalOldSelf"):
        return "optionalOldSelf"
    try:
        translate(rule["rule"])
    except UntranslatableError as error:
        return str(error)
    return ""


def _compiles(pattern: str) -> bool:
    try:
        compile_re2(pattern)
    except re.error:
        return False
    return True
