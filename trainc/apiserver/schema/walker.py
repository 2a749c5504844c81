"""The API server's look at one object: unknown fields, nulls, defaults, types, bounds, lists; all faults at once.

Order and texts follow k8s.io/apiextensions-apiserver (pruning, defaulting, schema and list-type validation) and
k8s.io/kube-openapi/pkg/validation, Kubernetes 1.36.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from trainc.apiserver.fault import NO_MAP, Fault, compact, invalid, shown
from trainc.apiserver.schema.log import Log, Trail
from trainc.apiserver.schema.node import SchemaNode
from trainc.apiserver.schema.scalar import scalar, type_faults, unsupported
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, dotted, plain, value
from trainc.text.merge_keys import MERGE_KEYS

# What the API server knows of every object besides its schema; `metadata` has rules of its own.
_META = frozenset({"apiVersion", "kind", "metadata"})
DIRECTIVE = "$patch"
DIRECTIVES = ("delete", "replace")


def walk(node: SchemaNode, tree: Tree, log: Log) -> Tree:
    """The object without unknown fields and nulls and with its defaults; what is wrong with it goes into `log`.

    Parts that did not change are shared with `tree`, which is left as it is. `metadata` is passed through.
    """
    rest = {key: value for key, value in tree.items() if key != "metadata"}
    out = _object(node, rest, (), log)
    if "metadata" not in tree:
        return tree if out is rest else out
    if out is rest:
        return tree
    # Keep the place of metadata: what is stored reads like what was written.
    placed = {key: tree[key] if key == "metadata" else out[key] for key in tree if key == "metadata" or key in out}
    placed.update(out)
    return placed


def flat(trail: Trail) -> Path:
    """The path of a trail: on the way down each step is one pair, and paths are only needed where something is wrong."""
    steps: list[str | int] = []
    while trail:
        trail, step = trail
        steps.append(step)
    return tuple(reversed(steps))


def _object(node: SchemaNode, tree: dict[str, Tree], trail: Trail, log: Log) -> dict[str, Tree]:
    props, only = node.props, node.only
    mark = len(log.schema) if node.sized else 0
    fresh: dict[str, Tree] | None = None
    for key, child in tree.items():
        at = only or props[key]
        kind = child.__class__
        if kind is Sourced:
            value = child.value
            kind = value.__class__
        else:
            value = child
        if at is None:
            if not (node.preserve or node.extra is True or (not trail and key in _META)):
                log.unknown.append(unknown(flat((trail, key)), tuple(node.props.names)))
                fresh = dict(tree) if fresh is None else fresh
                del fresh[key]
        elif kind is at.quick or (kind is str and value in at.good) or (kind is int and at.least <= value <= at.most):
            continue
        elif kind is dict or kind is list:
            if kind is dict and at.kind == "object":
                got = _object(at, value, (trail, key), log)
            else:
                got = _branch(at, value, (trail, key), log)
            if got is not child:
                fresh = dict(tree) if fresh is None else fresh
                fresh[key] = got
        elif value is None and not at.nullable and (log.nulls or "default" in at.raw):
            fresh = dict(tree) if fresh is None else fresh
            del fresh[key]
        else:
            scalar(at, value, flat((trail, key)), log)
    if not node.tail:
        return tree if fresh is None else fresh
    for key, default in node.defaults:
        if key not in (tree if fresh is None else fresh):
            fresh = dict(tree) if fresh is None else fresh
            fresh[key] = default
    out = tree if fresh is None else fresh
    for key in node.required:
        if key not in out:
            where = flat((trail, key))
            log.schema.append(Fault(where, "schema", f"{dotted(where)}: Required value", blocking=True))
    if node.sized:
        _size(node, out, trail, log, mark)
    if node.live:
        log.rules.append((node, flat(trail), out))
    return out


def unknown(path: Path, candidates: tuple[str, ...]) -> Fault:
    """The fault of a field that the schema does not know, with the names it knows there."""
    return Fault(path, "unknown", f'unknown field "{dotted(path)}"', candidates=candidates)


def _size(node: SchemaNode, tree: dict[str, Tree], trail: Trail, log: Log, mark: int) -> None:
    least, most = node.raw.get("minProperties", 0), node.raw.get("maxProperties")
    if least <= len(tree) and (most is None or len(tree) <= most):
        return
    path = flat(trail)
    place = dotted(path)
    if len(tree) < least:
        text = f"{place}: Invalid value: {len(tree)}: {place} in body should have at least {least} properties"
    else:
        text = f"{place}: Too many: {len(tree)}: must have at most {most} items"
    # The server's object validator stops here: nothing below this object is reported.
    del log.schema[mark:]
    log.schema.append(Fault(path, "schema", text, blocking="Too many" in text))


def _branch(at: SchemaNode, child: Tree, trail: Trail, log: Log) -> Tree:
    if child.__class__ is dict:
        if at.kind == "object":
            return _object(at, child, trail, log)
    elif at.kind == "array":
        return _array(at, child, trail, log)
    path = flat(trail)
    if at.kind == "partial":
        piece(at, child, path, log)
        return child
    held = child if at.preserve else _prune(child, path, log)
    if at.kind:
        type_faults(at, child, path, log)
        unsupported(at, plain(held), path, log)
    return held


def _prune(tree: Tree, path: Path, log: Log) -> Tree:
    """What pruning leaves of a value where the schema expects another type: every key in it is unknown."""
    if tree.__class__ is dict:
        log.unknown += [unknown((*path, key), ()) for key in tree]
        return {}
    if tree.__class__ is list:
        return [_prune(item, (*path, index), log) for index, item in enumerate(tree)]
    return tree


def _array(node: SchemaNode, tree: list[Tree], trail: Trail, log: Log) -> list[Tree]:
    at: Any = node.item()
    out = tree
    for index, child in enumerate(tree if at is not None else ()):
        kind = child.__class__
        if kind is Sourced:
            value = child.value
            kind = value.__class__
        else:
            value = child
        if kind is at.quick or (kind is str and value in at.good):
            continue
        if kind is dict or kind is list:
            if kind is dict and at.kind == "object":
                got = _object(at, value, (trail, index), log)
            else:
                got = _branch(at, value, (trail, index), log)
            if got is not child:
                if out is tree:
                    out = list(tree)
                out[index] = got
        else:
            scalar(at, value, flat((trail, index)), log)
    if node.sized:
        _length(node, out, trail, log)
    if node.keys and out and (len(out) > 1 or out[0].__class__ is not dict):
        _keyed(node, out, trail, log)
    elif node.unique and len(out) > 1:
        for index in _clashes(map(_bare, out)):
            where = flat((trail, index))
            text = f"{dotted(where)}: Duplicate value: {shown(plain(out[index]))}"
            log.lists.append(Fault(where, "listtype", text))
    if node.live:
        log.rules.append((node, flat(trail), out))
    return out


def _length(node: SchemaNode, tree: list[Tree], trail: Trail, log: Log) -> None:
    least, most = node.raw.get("minItems"), node.raw.get("maxItems")
    if (least or 0) <= len(tree) and (most is None or len(tree) <= most):
        return
    path = flat(trail)
    place = dotted(path)
    if most is not None and len(tree) > most:
        text = f"{place}: Too many: {len(tree)}: must have at most {most} items"
        log.schema.append(Fault(path, "schema", text, blocking=True))
    if least is not None and len(tree) < least:
        text = f"{place}: Invalid value: {len(tree)}: {place} in body should have at least {least} items"
        log.schema.append(Fault(path, "schema", text))


def _keyed(node: SchemaNode, tree: list[Tree], trail: Trail, log: Log) -> None:
    for index, item in enumerate(tree):
        if item.__class__ is not dict and plain(item) is not None:
            # The server looks no further in such a list.
            path = flat((trail, index))
            text = invalid(dotted(path), plain(item), NO_MAP)
            log.lists.append(Fault(path, "listtype", text))
            return
    keys = [_key(item, node.keys) for item in tree]
    if len(set(keys)) == len(keys):
        return
    for index in _clashes([(key.__class__, key) for key in keys]):  # true is not 1
        held = tree[index] if tree[index].__class__ is dict else {}
        text = compact({name: plain(held[name]) for name in sorted(node.keys) if name in held})
        where = flat((trail, index))
        log.lists.append(Fault(where, "listtype", f"{dotted(where)}: Duplicate value: {text}"))


def _clashes(keys: Iterable[object]) -> Iterator[int]:
    """Where a key stands again, once however often it returns."""
    counts: dict[object, int] = {}
    for index, key in enumerate(keys):
        counts[key] = counts.get(key, 0) + 1
        if counts[key] == 2:
            yield index


def _key(item: Tree, names: tuple[str, ...]) -> object:
    if item.__class__ is not dict:
        return (None,) * len(names) if len(names) > 1 else None
    if len(names) == 1:
        return _bare(item.get(names[0]))
    return tuple([_bare(item.get(name)) for name in names])


def _bare(leaf: Tree) -> object:
    if leaf.__class__ is Sourced:
        return leaf.value
    return compact(plain(leaf)) if leaf.__class__ is dict or leaf.__class__ is list else leaf


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
        word = child.value if type(child) is Sourced else None
        if word not in DIRECTIVES:
            text = f'{dotted(path)}: Unsupported value: {shown(word)}: supported values: "delete", "replace"'
            log.schema.append(Fault(path, "schema", text, blocking=True))
    elif (at := node.prop(key)) is not None:
        _child(at, child, path, log)
    elif not (node.preserve or node.extra is True):
        log.unknown.append(unknown(path, tuple(node.props.names)))


def _child(at: SchemaNode, child: Tree, path: Path, log: Log) -> None:
    if type(child) is dict or type(child) is list:
        piece(at, child, path, log)
        return
    content = child.value if type(child) is Sourced else child
    if content is not None and content.__class__ is not at.quick:
        scalar(at, content, path, log)


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
