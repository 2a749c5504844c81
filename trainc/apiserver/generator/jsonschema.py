"""A kind as JSON Schema (draft 2020-12), for editors and for tools that know nothing of Kubernetes."""

from trainc.apiserver.generator.core_schemas import Schema, below, definition
from trainc.apiserver.generator.structural import PARTIAL, loose, relaxed, structural
from trainc.apiserver.models.node import Resource

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SPELLINGS = "list, text or map"  # in the description of a field that names components
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def json_schema(kind: type[Resource]) -> Schema:
    """The schema of a whole manifest, closed as under kubectl's strict validation.

    Optional fields and values of maps may be null, because the server drops those before it looks. What JSON Schema
    has no word for is left out: CEL rules, the unique keys of lists, the metadata rules of the server.
    """
    names = kind.NAMES
    written = structural(kind, inline=False)
    given = relaxed(written)
    schema = _node({**given, "required": ["apiVersion", "kind", *given.get("required", ())]})
    schema["properties"]["apiVersion"] |= {"const": names.api_version}
    schema["properties"]["kind"] |= {"const": names.kind}
    return {"$schema": DIALECT, "title": names.kind, **schema, "$defs": _definitions(given, partial=_partial(written))}


def _partial(node: Schema) -> bool:
    """Whether the kind holds pieces of other kinds; all its shapes of Kubernetes stand in such pieces."""
    return PARTIAL in node or any(_partial(child) for child in below(node))


def _definitions(given: Schema, *, partial: bool) -> dict[str, Schema]:
    """Every shape of Kubernetes that the kind refers to, directly or through another shape."""
    definitions: dict[str, Schema] = {}
    todo = _references(given)
    while todo:
        name = todo.pop()
        short = name.rpartition(".")[2]
        if short in definitions:
            continue
        shape = loose(definition(name)) if partial else definition(name)
        definitions[short] = {"description": f"{short} of Kubernetes 1.36 ({name}).", **_node(shape, nullable=True)}
        todo += _references(shape)
    return definitions


def _references(node: Schema) -> list[str]:
    own = [node["$ref"]] if "$ref" in node else []
    return own + [name for child in below(node) for name in _references(child)]


def _node(given: Schema, *, nullable: bool = False) -> Schema:
    node = {key: value for key, value in given.items() if not key.startswith("x-")}
    if "$ref" in node:
        # Definitions allow null, so that what is wrong inside one is said in its own words and not as `anyOf`.
        name = node["$ref"]
        strict = {} if nullable else {"type": _node(definition(name))["type"]}
        return {**node, **strict, "$ref": f"#/$defs/{name.rpartition('.')[2]}"}
    if given.get("x-kubernetes-int-or-string"):
        del node["anyOf"]
        node["type"] = ["integer", "string"]
    if given.get("x-kubernetes-list-type") == "set":
        node["uniqueItems"] = True
    # Bounds in place of a width, which JSON Schema does not check.
    low, high = _RANGES.get(node.get("format", ""), (None, None))
    if low is not None:
        del node["format"]
        node.setdefault("minimum", low)
        node.setdefault("maximum", high)
    if "properties" in node:
        required = node.get("required", ())
        node["properties"] = {
            name: _spelled(_node(child, nullable=name not in required)) for name, child in node["properties"].items()
        }
    if "items" in node:
        node["items"] = _node(node["items"])
    if "additionalProperties" in node:
        node["additionalProperties"] = _node(node["additionalProperties"], nullable=True)
    elif node.get("type") == "object" and not given.get("x-kubernetes-preserve-unknown-fields"):
        node["additionalProperties"] = False
    if nullable:
        node["type"] = [*(node["type"] if isinstance(node["type"], list) else [node["type"]]), "null"]
        if "enum" in node:
            node["enum"] = [*node["enum"], None]
    return node


def _spelled(node: Schema) -> Schema:
    """A field as it is; components as a list, as a text and as a map."""
    if SPELLINGS not in node.get("description", ""):
        return node
    text, about = {"type": "string"}, {"description": node.pop("description")}
    listed = {**node, "items": {"anyOf": [node["items"], text]}}
    return {**about, "anyOf": [listed, text, {"type": "object"}]}
