"""Fast path for objects that are plainly valid: they pass as they are with their defaults, or are walked in full.

It notes neither places nor complaints and gives up at the first doubt. Objects of one node come with few sets of keys,
and the node keeps those.
"""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.server.cel.rules import holds
from trainc.server.schema.node import Shape
from trainc.server.schema.scalar import REMEMBERED, scalar
from trainc.server.schema.walker import Log, completed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainc.model.tree import Tree
    from trainc.server.schema.node import SchemaNode

_SHAPES = 128  # that a node remembers


class DoubtError(Exception):
    """Something that only the walker can tell."""


def walk_valid(node: SchemaNode, tree: Tree) -> Tree:
    """What is stored of an object to which neither its schema nor its CEL rules have anything to say.

    Raises:
        DoubtError: for an object that has to be walked.
    """
    rest = dict(tree)
    metadata = rest.pop("metadata", None)
    out = _object(node, rest)
    if out is rest:
        out = tree
    elif metadata is not None:
        out = {**tree, **out}
    _keep_rules(node, out)
    return out


def _object(node: SchemaNode, tree: Tree) -> Tree:
    if tree.__class__ is not dict:
        raise DoubtError
    try:
        shape = node.shapes[tuple(tree)]
    except KeyError:
        shape = _shape(node, tuple(tree))
    for key, quick, at in shape.leaves:
        leaf = tree[key]
        if leaf.__class__ is not Sourced:
            raise DoubtError
        value = leaf.value
        kind = value.__class__
        # Inlined here and in maps: a call per scalar dominates.
        if kind is quick or (kind is str and value in at.good) or (kind is int and at.least <= value <= at.most):
            continue
        _scalar(at, value)
    out = tree
    for key, at in shape.branches:
        child = tree[key]
        got = at.look(at, child)
        if got is not child:
            out = dict(tree) if out is tree else out
            out[key] = got
    return {**out, **shape.defaults} if shape.defaults else out


def _shape(node: SchemaNode, keys: tuple[str, ...]) -> Shape:
    """What objects with these keys have in common."""
    leaves: list[tuple[str, type | None, SchemaNode]] = []
    branches: list[tuple[str, SchemaNode]] = []
    for key in keys:
        at = node.prop(key)
        if at is None:
            if not (node.preserve or node.extra is True):
                raise DoubtError
        elif at.kind in _LOOKS:
            at.look = at.look or _look(at)
            branches.append((key, at))
        else:
            leaves.append((key, at.quick, at))
    full = _complete(node, dict.fromkeys(keys))
    shape = Shape(tuple(leaves), tuple(branches), {key: full[key] for key in full if key not in keys})
    if len(node.shapes) < _SHAPES:
        node.shapes[keys] = shape
    return shape


def _complete(node: SchemaNode, tree: Tree) -> Tree:
    """An object with the defaults it lacks."""
    log = Log()
    out = completed(node, tree, None, (), log, 0)
    if log.schema:
        raise DoubtError
    return out


def _map(node: SchemaNode, tree: Tree) -> Tree:
    at = node.only
    if tree.__class__ is not dict or at is None:
        raise DoubtError
    out = tree
    for key, child in tree.items():
        if child.__class__ is Sourced:
            value = child.value
            kind = value.__class__
            if kind is at.quick or (kind is str and value in at.good) or (kind is int and at.least <= value <= at.most):
                continue
            _scalar(at, value)
        elif (got := _look(at)(at, child)) is not child:
            out = dict(tree) if out is tree else out
            out[key] = got
    if node.tail:
        out = _complete(node, out)
    return out


def _array(node: SchemaNode, tree: Tree) -> Tree:
    if tree.__class__ is not list or not node.shortest <= len(tree) <= node.longest:
        raise DoubtError
    at = node.items if node.items.__class__ is not int else node.item()
    if at is None:
        raise DoubtError
    out = tree
    if at.kind in _LOOKS:
        look = at.look = at.look or _look(at)
        for index, child in enumerate(tree):
            got = look(at, child)
            if got is not child:
                out = list(tree) if out is tree else out
                out[index] = got
    else:
        _leaves(at, tree)
    if len(out) > 1 and (node.keys or node.unique):
        _be_distinct(node.keys, out)
    return out


def _leaves(at: SchemaNode, items: list[Tree]) -> None:
    quick, short, long = at.quick, at.short, at.long
    for leaf in items:
        if leaf.__class__ is not Sourced:
            raise DoubtError
        value = leaf.value
        kind = value.__class__
        if kind is quick or (kind is str and short <= len(value) <= long and "$" not in value):
            continue
        if kind is not str or value not in at.good:
            _scalar(at, value)


def _be_distinct(keys: tuple[str, ...], items: list[Tree]) -> None:
    """Nothing, if all items differ, in their keys where they have any."""
    seen: set[object]
    if len(keys) > 1:
        seen = {tuple([_known(item.get(key)) for key in keys]) for item in items}
    elif keys:
        key = keys[0]
        try:
            seen = {item[key].value for item in items}
        except (KeyError, AttributeError, TypeError):
            raise DoubtError from None
    else:
        seen = {_known(item) for item in items}
    if len(seen) != len(items):
        raise DoubtError


def _known(leaf: Tree) -> object:
    if leaf.__class__ is not Sourced:
        raise DoubtError
    return leaf.value


def _other(node: SchemaNode, tree: Tree) -> Tree:
    """A node of a kind of its own: a piece of an object, or anything at all."""
    if node.kind == "partial":
        from trainc.server.schema.piece import piece  # noqa: PLC0415 (few objects hold a piece of another one)

        log = Log()
        piece(node, tree, (), log)
        if log.schema or log.unknown or log.lists or log.unchecked:
            raise DoubtError
    elif node.kind or not node.preserve or tree.__class__ is Sourced:
        raise DoubtError
    return tree


def _ruled(node: SchemaNode, tree: Tree) -> Tree:
    """A node with rules, which are tested once everything else is known to be right."""
    got = _unruled(node)(node, tree)
    _keep_rules(node, got)
    return got


def _keep_rules(node: SchemaNode, value: Tree) -> None:
    if node.live and not holds(node, value):
        raise DoubtError


def _scalar(node: SchemaNode, value: Any) -> None:
    if value.__class__ is str and node.short <= len(value) <= node.long and "$" not in value:
        if len(node.good) < REMEMBERED:
            node.good.add(value)
        return
    if value is None:
        raise DoubtError
    log = Log()
    scalar(node, value, (), log)
    if log.schema or log.unchecked or log.loose:
        raise DoubtError
    _keep_rules(node, value)
    if node.live and value.__class__ is str and len(node.good) < REMEMBERED:
        node.good.add(value)


_LOOKS: dict[str, Callable[[SchemaNode, Tree], Tree]] = {
    "object": _object,
    "array": _array,
    "partial": _other,
    "": _other,
}


def _look(node: SchemaNode) -> Callable[[SchemaNode, Tree], Tree]:
    return _ruled if node.live else _unruled(node)


def _unruled(node: SchemaNode) -> Callable[[SchemaNode, Tree], Tree]:
    return _LOOKS.get(node.kind, _other) if node.only is None else _map
