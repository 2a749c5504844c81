"""The fields of every schema that trainc generates, with values that fit them and values that do not."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from tests.compiling import ROOT

Schema = dict[str, Any]
Chain = tuple[
    tuple[str | int, Schema], ...
]  # from the document to a field: each step, and the schema of what lies there

ANY_KEY = "*"
_DEEPEST = 22
_SHALLOW = 9  # steps; what lies deeper is a field of pods, which all kinds have
_EACH = 3  # times that a deep field is looked at, under whatever kind
_MISFITS: tuple[Any, ...] = (None, "x", 1, [], {}, True, "${X}")
_TEXTS = ("", "x" * 300, "a b", "a/b", "9" * 400, "-1", "0", "a.b:1", "$(X)", "2020-01-01T00:00:00Z", "Always")
_NUMBERS = (0, -1, 2, 3, 2**31 - 1, 2**63 - 1, -(2**63), 1.0, 0.5, 1e308)
_AMOUNTS = ("1", "1Gi", "-1", "1e30", "0", 10**30, "1e-9", "50%", "150%", 0, -1)


@cache
def schemas() -> dict[tuple[str, str], Schema]:
    """The schema of each served version of each kind."""
    found = {}
    for path in sorted((ROOT / "schemas/crds").glob("*.yaml")):
        spec = yaml.load(path.read_bytes(), yaml.CSafeLoader)["spec"]
        for version in spec["versions"]:
            key = (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
            found[key] = version["schema"]["openAPIV3Schema"]
    return found


def fields_of_schemas() -> Iterator[tuple[tuple[str, str], Chain]]:
    """Every field of every kind; those of pods, which are the same everywhere, under a few kinds alone."""
    seen: dict[tuple[str | int, ...], int] = {}
    for key, schema in sorted(schemas().items()):
        for chain in _fields(schema, ()):
            mark = tuple(step for step, _ in chain[-4:])
            if len(chain) > _SHALLOW:
                seen[mark] = seen.get(mark, 0) + 1
            if seen.get(mark, 0) <= _EACH and chain[0][0] not in {"apiVersion", "kind", "status"}:
                yield key, chain


def _fields(schema: Schema, chain: Chain) -> Iterator[Chain]:
    if chain:
        yield chain
    if len(chain) == _DEEPEST:
        return
    inner: list[tuple[str | int, Any]] = [*schema.get("properties", {}).items()]
    inner += [(0, schema["items"])] if "items" in schema else []
    inner += [(ANY_KEY, schema["additionalProperties"])] if type(schema.get("additionalProperties")) is dict else []
    for step, child in inner:
        yield from _fields(child, (*chain, (step, child)))


def missing(tree: Any, chain: Chain) -> tuple[tuple[str | int, ...], Chain]:
    """The path to the first step of a chain that a document lacks, or to the last, and the rest of the chain from there."""
    path: list[str | int] = []
    for at, (step, _) in enumerate(chain):
        found: Any = next(iter(tree), "x") if step == ANY_KEY and type(tree) is dict else step
        path.append(found)
        inner = tree.get(found) if type(tree) is dict else tree[0] if tree else None
        if at == len(chain) - 1 or type(inner) not in (dict, list):
            return tuple(path), chain[at:]
        tree = inner
    raise AssertionError("a chain has steps")


def fitting(chain: Chain) -> Iterator[Any]:
    """What may stand at the first step of a chain: the smallest that fits, with one value after another in the last step."""
    for value in (*_MISFITS, *_values(chain[-1][1])):
        yield _holding(chain, value)


def loud(chain: Chain) -> Iterator[Any]:
    """As `fitting`, with what fits and is not what the field has where nobody writes it."""
    schema = chain[-1][1]
    unwritten: tuple[Any, ...] = (None, "", [], {}, {"x": None}, schema.get("default", False))
    for value in (example(schema, 2), *_values(schema)):
        if value not in unwritten:
            yield _holding(chain, value)


def _holding(chain: Chain, value: Any) -> Any:
    (_, schema), *rest = chain
    if not rest:
        return value
    inner = _holding(tuple(rest), value)
    if rest[0][0] == 0:
        return [inner]
    holder = example(schema)
    return {**(holder if type(holder) is dict else {}), ("x" if rest[0][0] == ANY_KEY else rest[0][0]): inner}


def example(schema: Schema, depth: int = 0) -> Any:
    """The smallest value that fits a schema; with a depth, every field that it has down to there."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("x-kubernetes-int-or-string"):
        return "1"
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {})
            out = {
                k: example(one, depth - 1) for k, one in fields.items() if depth > 0 or k in schema.get("required", ())
            }
            any_ = schema.get("additionalProperties")
            return out or ({"x": example(any_)} if depth > 0 and type(any_) is dict else {})
        case "array":
            return [example(schema.get("items", {}), depth)] if depth > 0 or schema.get("minItems") else []
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
        case "string":
            return "x"
    return {}


def _values(schema: Schema) -> Iterator[Any]:
    if schema.get("x-kubernetes-int-or-string"):
        yield from _AMOUNTS
        return
    match schema.get("type"):
        case "string":
            yield from schema.get("enum", _TEXTS)
        case "integer" | "number":
            yield from _NUMBERS
        case "boolean":
            yield False
        case "array":
            small, large = (example(schema.get("items", {}), depth) for depth in (0, 2))
            yield from ([small], [small, small], [large], [large, large], [None], [[]], ["x", "x"], [{}])
        case _:
            yield from (example(schema), example(schema, 2), {"x": "y"}, {"x": None})
            inner = schema.get("additionalProperties")
            if type(inner) is dict:
                yield from (
                    {"x": example(inner, 2)},
                    {"": example(inner)},
                    {"a/b": example(inner), "${X}": example(inner)},
                )
