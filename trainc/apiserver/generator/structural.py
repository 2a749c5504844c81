"""One kind's model as a structural schema."""

from trainc.apiserver.generator.core_schemas import Schema, expand, full_name, over_children
from trainc.apiserver.models.node import Resource

PARTIAL = "x-partial"
_STRICT = (
    "default", "minItems", "minProperties", "required", "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type", "x-kubernetes-validations",
)  # fmt: skip
_DIRECTIVE: Schema = {"enum": ["delete", "replace"], "type": "string"}
"""What `kubectl patch` reads as: put this in the place of what was there, or delete that."""
_NOT_STRUCTURAL = ("title", "$defs", "$ref", "x-without", "x-core", "const")


def structural(kind: type[Resource], *, inline: bool) -> Schema:
    """The schema of a kind, with shapes of Kubernetes written out or left as `$ref` with their full name."""
    schema = kind.model_json_schema(by_alias=True)
    return _node(schema, schema["$defs"], inline=inline)


def without(node: Schema, *keywords: str) -> Schema:
    """A copy that lacks these keywords at every depth."""
    copy = {key: value for key, value in node.items() if key not in keywords}
    return over_children(copy, lambda child: without(child, *keywords))


def relaxed(node: Schema) -> Schema:
    """A copy in which everything below a field marked as partial may be absent, null or a patch directive."""
    copy = {key: value for key, value in node.items() if key != PARTIAL}
    return _loose(copy) if PARTIAL in node else over_children(copy, relaxed)


def loose(node: Schema) -> Schema:
    """A copy in which nothing is required or defaulted, and everything may be null."""
    return {**_loose(node), "nullable": True}


def _loose(node: Schema) -> Schema:
    kept = {key: value for key, value in node.items() if key not in _STRICT}
    if "properties" in kept:
        kept["properties"] = {**kept["properties"], "$patch": _DIRECTIVE}
    return over_children(kept, loose)


def _node(given: Schema, models: dict[str, Schema], *, inline: bool) -> Schema:
    node = _merged(given, models)
    kept = {key: value for key, value in node.items() if key not in _NOT_STRUCTURAL}
    if "x-core" in node:
        name = full_name(node["x-core"])
        return {**(expand(name) if inline else {"$ref": name}), **kept}
    if "const" in node:
        kept["enum"] = [node["const"]]
    if isinstance(kept.get("additionalProperties"), bool) and kept.pop("additionalProperties"):
        kept["x-kubernetes-preserve-unknown-fields"] = True
    if "required" in kept:
        kept["required"] = sorted(kept["required"])
    if "properties" in kept:
        kept["properties"] = dict(sorted(kept["properties"].items()))
    kept = over_children(kept, lambda child: _node(child, models, inline=inline))
    return _dropped(kept, node["x-without"]) if "x-without" in node else kept


def _merged(given: Schema, models: dict[str, Schema]) -> Schema:
    """The node behind references and beside `null`; what stands nearer to the field wins."""
    beside = {key: value for key, value in given.items() if key != "default" or value is not None}
    if "$ref" in beside:
        target = models[beside.pop("$ref").rpartition("/")[2]]
    elif {"type": "null"} in beside.get("anyOf", ()):
        (target,) = (choice for choice in beside.pop("anyOf") if choice != {"type": "null"})
    else:
        return beside
    behind = _merged(target, models)
    rules = [*behind.get("x-kubernetes-validations", ()), *beside.get("x-kubernetes-validations", ())]
    return {**behind, **beside, **({"x-kubernetes-validations": rules} if rules else {})}


def _dropped(node: Schema, path: list[str]) -> Schema:
    if len(path) == 1:
        return {key: value for key, value in node.items() if key != path[0]}
    step, *rest = path
    if step == "[]":
        return {**node, "items": _dropped(node["items"], rest)}
    changed = {**node["properties"], step: _dropped(node["properties"][step], rest)}
    return {**node, "properties": changed}
