"""Structural schemas as nodes that a walker asks, and the table that a server's kinds are looked up in."""

from collections.abc import Mapping
from typing import Any

from trainc.model.sourced import SCHEMA_DEFAULT, Sourced
from trainc.model.tree import Path, Tree, stamp, value

METADATA = "metadata"  # what the table holds beside the kinds: the schema of the metadata of all objects
_NUMBERS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_NONE = (1, 0)
_LIMITS = ("minLength", "maxLength", "pattern", "enum", "format")
_loaded: "list[Table]" = []


class SchemaNode:
    """What the walker asks of a schema; children are built when they are first asked for.

    `quick` is the Python type of a scalar that needs no further look, `least` to `most` the whole numbers that need
    none, `short` to `long` the lengths of texts that need none once their values are known, `good` texts that passed
    before, `only` the node of all keys of a map, `tail` whether something is to be done once the children have been
    looked at, `filling` the properties below which a schema default stands, None until somebody asks, as `moves`: whether
    a transition rule stands at it or below. `kind` one of
    object, array, string, integer, number, boolean, int-or-string, partial (a piece of an object) and the empty string
    for a node of any type.
    """

    __slots__ = (
        "defaults", "enum", "extra", "filling", "format", "good", "high", "items", "keys", "kind", "least", "live",
        "low", "most", "moves", "nullable", "only", "preserve", "props", "quick", "raw", "required", "rules",
        "sized", "table", "tail", "tests", "unique",
    )  # fmt: skip

    def __init__(self, raw: Mapping[str, Any], table: "Table") -> None:
        get = raw.get
        self.raw = raw
        self.table = table
        integral = get("x-kubernetes-int-or-string")
        self.kind: str = "partial" if get("x-partial") else "int-or-string" if integral else get("type", "")
        extra = get("additionalProperties")
        self.extra: Any = None if extra is False else extra
        self.props = Props(get("properties", ()), self)
        self.filling: tuple[str, ...] | None = None
        self.items: Any = get("items")
        self.required: tuple[str, ...] = tuple(get("required", ()))
        self.enum: tuple[Any, ...] | None = tuple(raw["enum"]) if "enum" in raw else None
        self.nullable: bool = get("nullable", False) or self.kind == "partial"
        self.preserve: bool = get("x-kubernetes-preserve-unknown-fields", False)
        self.format: str = get("format", "")
        self.low, self.high = _NUMBERS.get(self.format, _NUMBERS["int64"])
        listed = get("x-kubernetes-list-type")
        self.keys: tuple[str, ...] = tuple(get("x-kubernetes-list-map-keys", ())) if listed == "map" else ()
        self.unique: bool = listed == "set"
        self.sized: bool = any(word in raw for word in ("minProperties", "maxProperties", "minItems", "maxItems"))
        self.rules: tuple[Any, ...] = tuple(get("x-kubernetes-validations", ()))
        # A rule of the whole means nothing for a piece of it.
        live = () if self.kind == "partial" else self.rules
        self.live: tuple[Any, ...] = tuple(
            rule for rule in live if "oldSelf" not in rule["rule"] or rule.get("optionalOldSelf")
        )
        is_free = not self.live and not any(word in raw for word in _LIMITS)
        self.quick: type | None = {"string": str, "boolean": bool}.get(self.kind) if is_free else None
        self.least, self.most = _range(self) if not self.live else _NONE
        self.good: set[str] = set()
        self.tests: Any = None
        self.moves: bool | None = None
        # Of each child that has one, with the defaults below it, every leaf saying so.
        self.defaults: tuple[tuple[str, Tree], ...] = tuple(
            (name, complete(child := table.node(index), stamp(child.raw["default"], SCHEMA_DEFAULT)))
            for name, index in self.props.names.items()
            if "default" in table.nodes[index]
        )
        self.only: SchemaNode | None = None if self.props.names else self.other()
        self.tail = bool(self.defaults or self.required or self.sized or self.live)

    def prop(self, name: str) -> "SchemaNode | None":
        """The node of a property, or of any property where the schema names none; None where nothing is known."""
        return self.props[name]

    def other(self) -> "SchemaNode | None":
        """The node of properties that have no name of their own."""
        if self.extra.__class__ is int:
            self.extra = self.table.node(self.extra)
        return self.extra if self.extra.__class__ is SchemaNode else None

    def item(self) -> "SchemaNode | None":
        if self.items.__class__ is int:
            self.items = self.table.node(self.items)
        return self.items if self.items.__class__ is SchemaNode else None


class Props(dict[str, "SchemaNode | None"]):
    """The children of an object that have been asked for; indexing builds the others, None where nothing is known."""

    __slots__ = ("names", "node")

    def __init__(self, names: Mapping[str, int], node: SchemaNode) -> None:
        super().__init__()
        self.names: Mapping[str, int] = dict(names)
        self.node = node

    def __missing__(self, name: str) -> SchemaNode | None:
        if (index := self.names.get(name)) is None:
            return self.node.other()
        child = self[name] = self.node.table.node(index)
        return child


def _range(node: SchemaNode) -> tuple[int, int]:
    """The whole numbers that need no further look; an empty range where every value does."""
    raw = node.raw
    if node.kind == "int-or-string":
        return _NUMBERS["int64"] if "pattern" in raw else _NUMBERS["int32"]
    if node.kind != "integer" or "enum" in raw or "exclusiveMinimum" in raw or "exclusiveMaximum" in raw:
        return _NONE
    return max(node.low, raw.get("minimum", node.low)), min(node.high, raw.get("maximum", node.high))


def complete(node: SchemaNode, tree: Tree) -> Tree:
    """A tree with the defaults of its schema, sharing what did not change; nothing is checked."""
    out = tree
    if tree.__class__ is dict:
        for key in _filling(node) if node.extra is None else tree:
            held = tree.get(key)
            if held.__class__ is Sourced or held is None:
                continue
            if (child := node.props[key]) is not None and (got := complete(child, held)) is not held:
                out = dict(tree) if out is tree else out
                out[key] = got
        for key, default in node.defaults:
            if key not in tree:
                out = dict(tree) if out is tree else out
                out[key] = default
    elif tree.__class__ is list and node.kind == "array" and (item := node.item()) is not None:
        for index, held in enumerate(tree):
            if held.__class__ is not Sourced and (got := complete(item, held)) is not held:
                out = list(tree) if out is tree else out
                out[index] = got
    return out


def _filling(node: SchemaNode) -> tuple[str, ...]:
    """The properties of a node below which something may be filled in: few of the many that a pod has."""
    if node.filling is None:
        node.filling = tuple([name for name, index in node.props.names.items() if node.table.has_defaults(index)])
    return node.filling


class Table:
    """The kinds of one server; `root(kind)` gives the node that stands for a whole object.

    With `base`, the kinds of this table stand before those of `base`, and where this table has any version of a kind,
    only its versions are served.
    """

    def __init__(self, data: Mapping[str, Any], base: "Table | None" = None) -> None:
        self.data = data
        self.kinds: Mapping[str, int] = data["kinds"]
        self.nodes: list[dict[str, Any]] = data["nodes"]
        self.base = base
        self.own_kinds = frozenset(map(_versionless, self.kinds)) if base is not None else frozenset()
        inherited = [kind for kind in base.whole if _versionless(kind) not in self.own_kinds] if base else []
        self.whole: frozenset[str] = frozenset([*inherited, *data.get("whole", ())])
        self.built: dict[int, SchemaNode] = {}
        self._filled: dict[int, bool] = {}

    def metadata(self) -> SchemaNode:
        """The schema of the metadata of an object, which the built-in table has."""
        return self.node(self.data[METADATA])

    def root(self, kind: str) -> SchemaNode | None:
        """The schema of `<group>/<version>/<Kind>` (`<version>/<Kind>` for the core group), None if not served."""
        if (index := self.kinds.get(kind)) is not None:
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
            if (index := todo.pop()) in seen:
                continue
            if "x-kubernetes-validations" in self.nodes[index]:
                return True
            seen.add(index)
            todo += _children(self.nodes[index])
        return False


def _children(raw: Mapping[str, Any]) -> list[int]:
    """The schemas that stand in one."""
    inner = [raw[key] for key in ("items", "additionalProperties") if type(raw.get(key)) is int]
    return [*raw.get("properties", {}).values(), *inner]


def _versionless(kind: str) -> tuple[str, str]:
    """Group and kind."""
    parts = kind.split("/")
    return (parts[0] if len(parts) > 2 else "", parts[-1])


def load() -> Table:
    """The built-in table, opened once per process."""
    if not _loaded:
        from trainc.apiserver.schema.builtin_table import TABLE  # noqa: PLC0415 (only where an object is judged)

        _loaded.append(Table(TABLE))
    return _loaded[0]
