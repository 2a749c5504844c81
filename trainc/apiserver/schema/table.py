"""Structural schemas as one deduplicated table, opened in a fraction of a millisecond and unfolded on demand."""

from __future__ import annotations

from trainc.apiserver.schema.node import SchemaNode, complete
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from trainc.model.tree import Path, Tree

# Words of an OpenAPI schema that say nothing about validity.
_PROSE = frozenset({"description", "title", "example", "externalDocs"})


def compile_table(roots: Mapping[str, Mapping[str, Any]], *, whole: Collection[str] = ()) -> dict[str, Any]:
    """The table of these schemas: `{"kinds": {"<group>/<version>/<Kind>": index}, "nodes": [...]}`.

    Equal subschemas share one node; `properties`, `items` and `additionalProperties` hold indices, all other keywords
    stand under their CRD names. `whole` names the kinds without a status subresource.
    """
    compiler = _Compiler()
    kinds = {kind: compiler.add(schema) for kind, schema in sorted(roots.items())}
    return {"kinds": kinds, "nodes": compiler.nodes, "whole": sorted(set(whole) & set(roots))}


class _Compiler:
    __slots__ = ("_dumps", "known", "nodes")

    def __init__(self) -> None:
        from json import JSONEncoder  # noqa: PLC0415 (only where a table is made)

        self._dumps = JSONEncoder(sort_keys=True, separators=(",", ":")).encode
        self.nodes: list[dict[str, Any]] = []
        self.known: dict[str, int] = {}

    def add(self, schema: Mapping[str, Any]) -> int:
        node = {key: self._word(key, value) for key, value in sorted(schema.items()) if key not in _PROSE}
        text = self._dumps(node)
        if text not in self.known:
            self.known[text] = len(self.nodes)
            self.nodes.append(node)
        return self.known[text]

    def _word(self, key: str, value: Any) -> Any:
        if key == "properties":
            return {name: self.add(child) for name, child in sorted(value.items())}
        if key == "items" or (key == "additionalProperties" and type(value) is not bool):
            return self.add(value)
        return value


class Table:
    """The kinds of one server; `root(kind)` gives the node that stands for a whole object.

    With `base`, the kinds of this table stand before those of `base`, and where this table has any version of a kind,
    only its versions are served.
    """

    __slots__ = ("_filled", "base", "built", "kinds", "nodes", "own_kinds", "whole")

    def __init__(self, data: Mapping[str, Any], base: Table | None = None) -> None:
        self.kinds: Mapping[str, int] = data["kinds"]
        self.nodes: list[dict[str, Any]] = data["nodes"]
        self.base = base
        self.own_kinds = frozenset(map(_versionless, self.kinds)) if base is not None else frozenset()
        inherited = (
            frozenset(kind for kind in base.whole if _versionless(kind) not in self.own_kinds) if base else frozenset()
        )
        self.whole: frozenset[str] = inherited | frozenset(data.get("whole", ()))
        self.built: dict[int, SchemaNode] = {}
        self._filled: dict[int, bool] = {}

    def root(self, kind: str) -> SchemaNode | None:
        """The schema of `<group>/<version>/<Kind>` (`<version>/<Kind>` for the core group), None if not served."""
        index = self.kinds.get(kind)
        if index is not None:
            return self.node(index)
        if self.base is None or _versionless(kind) in self.own_kinds:
            return None
        return self.base.root(kind)

    def any_version(self, kind: str) -> SchemaNode | None:
        """The schema of a kind in the version asked for, else in another one that this table has."""
        same = [known for known in self.kinds if _versionless(known) == _versionless(kind)]
        return self.root(kind if kind in same else same[0]) if same else None

    def own_types(self, kind: str) -> SchemaNode | None:
        """The built-in schema of a kind for which a cluster's own definition stands, None for every other kind.

        Webhooks and controllers read an object by these types, whatever the definition lets through.
        """
        if self.base is None:
            return None
        built_in = load().root(kind)
        return built_in if built_in is not self.root(kind) else None

    def served(self) -> list[str]:
        """Every kind that has a schema."""
        inherited = self.base.served() if self.base else []
        return sorted({*self.kinds, *(kind for kind in inherited if _versionless(kind) not in self.own_kinds)})

    def at(self, kind: str, path: Path) -> SchemaNode:
        """The schema of the node at `path` of a kind in any version; the path must be one that the kind knows."""
        node = self.any_version(kind)
        for step in path:
            assert node is not None, path
            node = node.prop(step) if isinstance(step, str) else node.item()
        assert node is not None, path
        return node

    def node(self, index: int) -> SchemaNode:
        """The node at `index`, built at its first use."""
        node = self.built.get(index)
        if node is None:
            node = self.built[index] = SchemaNode(self.nodes[index], self)
        return node

    def has_defaults(self, index: int) -> bool:
        """Whether a default stands anywhere below the schema at `index`."""
        known = self._filled.get(index)
        if known is None:
            self._filled[index] = False  # while this one is looked at: a schema may contain itself
            children = _children(self.nodes[index])
            known = any("default" in self.nodes[child] or self.has_defaults(child) for child in children)
            self._filled[index] = known
        return known

    def completed(self, tree: Tree) -> Tree:
        """An object with what the schema of its kind fills in; the very same where it lacks nothing or is not known."""
        node = self.root(f"{value(tree, 'apiVersion')}/{value(tree, 'kind')}")
        return tree if node is None else complete(node, tree)

    def has_rules(self, kind: str) -> bool:
        """Whether any CEL rule can apply to an object of this kind."""
        if kind not in self.kinds:
            return self.base is not None and self.base.has_rules(kind)
        seen: set[int] = set()
        todo = [self.kinds[kind]]
        while todo:
            index = todo.pop()
            if index in seen:
                continue
            seen.add(index)
            raw = self.nodes[index]
            if "x-kubernetes-validations" in raw:
                return True
            todo += _children(raw)
        return False


def _children(raw: Mapping[str, Any]) -> list[int]:
    """The schemas that stand in one."""
    inner = [raw[key] for key in ("items", "additionalProperties") if type(raw.get(key)) is int]
    return [*raw.get("properties", {}).values(), *inner]


def _versionless(kind: str) -> tuple[str, str]:
    """Group and kind."""
    parts = kind.split("/")
    return (parts[0] if len(parts) > 2 else "", parts[-1])


_loaded: list[Table] = []


def load() -> Table:
    """The built-in table, opened once per process."""
    if not _loaded:
        from trainc.apiserver.schema.builtin_table import TABLE  # noqa: PLC0415 (only where an object is judged)

        _loaded.append(Table(TABLE))
    return _loaded[0]
