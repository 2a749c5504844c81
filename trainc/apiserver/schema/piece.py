"""A look at a piece of an object: its fields must exist and fit, but none is required and none gets a default.

Nulls stay, because in a merge they remove; `$patch` is understood as `kubectl patch` does.
"""

from __future__ import annotations

from trainc.apiserver.fault import Fault, compact, shown
from trainc.apiserver.schema.scalar import scalar, type_faults
from trainc.model.sourced import Sourced
from trainc.model.tree import dotted, value
from trainc.text.merge_keys import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.schema.log import Log
    from trainc.apiserver.schema.node import SchemaNode
    from trainc.model.tree import Path, Tree

DIRECTIVE = "$patch"
DIRECTIVES = ("delete", "replace")


def piece(node: SchemaNode, tree: Tree, path: Path, log: Log) -> None:
    """What is wrong with a map or list that is merged into another; it goes into `log`."""
    if type(tree) is dict and node.kind in ("object", "partial"):
        for key, child in tree.items():
            _field(node, key, child, (*path, key), log)
    elif type(tree) is list and node.kind == "array":
        _items(node, tree, path, log)
    elif node.kind:
        type_faults(node, tree, path, log)


def _field(node: SchemaNode, key: str, child: Tree, path: Path, log: Log) -> None:
    if key == DIRECTIVE and not node.preserve:
        _directive(child, path, log)
        return
    at = node.prop(key)
    if at is None:
        if not (node.preserve or node.extra is True):
            text = f'unknown field "{dotted(path)}"'
            log.unknown.append(Fault(path, "unknown", text, candidates=tuple(node.props.names)))
        return
    _child(at, child, path, log)


def _child(at: SchemaNode, child: Tree, path: Path, log: Log) -> None:
    if type(child) is dict or type(child) is list:
        piece(at, child, path, log)
        return
    content = child.value if type(child) is Sourced else child
    if content is not None and content.__class__ is not at.quick:
        scalar(at, content, path, log)


def _directive(child: Tree, path: Path, log: Log) -> None:
    word = child.value if type(child) is Sourced else None
    if word not in DIRECTIVES:
        text = f'{dotted(path)}: Unsupported value: {shown(word)}: supported values: "delete", "replace"'
        log.schema.append(Fault(path, "schema", text, blocking=True))


def _items(node: SchemaNode, tree: list[Tree], path: Path, log: Log) -> None:
    at = node.item()
    key = MERGE_KEYS.get(str(path[-1]), "")
    seen: set[tuple[object, ...]] = set()
    for index, item in enumerate(tree):
        where = (*path, index)
        if at is not None:
            _child(at, item, where, log)
        if not key or type(item) is not dict or DIRECTIVE in item:
            continue
        if value(item, key) is None:
            log.schema.append(Fault((*where, key), "schema", f"{dotted((*where, key))}: Required value", blocking=True))
        names = tuple(value(item, name) for name in node.keys or (key,))
        if names in seen:
            text = f"{dotted(where)}: Duplicate value: {compact(dict(zip(node.keys or (key,), names, strict=True)))}"
            log.lists.append(Fault(where, "listtype", text))
        seen.add(names)
