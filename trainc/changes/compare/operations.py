"""What an API server gets when a changed object is written again: put as a whole, or applied by client or server.

Source: structured merge (server-side apply of one manager, without force) and kubectl's three-way JSON merge patch, which
is what kubectl and Argo CD do for kinds that are not Kubernetes' own.
"""

from __future__ import annotations

from trainc.apiserver.jobset import defaults as jobset
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.walker import walk
from trainc.apiserver.verdict import kind_of, verdict
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.apiserver.schema.node import SchemaNode
    from trainc.apiserver.served import Served
    from trainc.model.tree import Tree

SERVER_SIDE, CLIENT_SIDE, PUT, SERVER_SIDE_FILES = (
    "server-side-apply",
    "client-side-apply",
    "put",
    "server-side-apply-files",
)
OF_FILES = (PUT, SERVER_SIDE_FILES)  # what is written goes to the server, not what trainc builds of it


def stored(tree: Tree, server: Served) -> Tree:
    """An object as it is kept once it was created, before any queue touched it."""
    known = server.profile
    major, minor = known.jobset
    profile = Profile(kubernetes=known.kubernetes, jobset=f"{major}.{minor}", gates=known.gates, state=known.state)
    judged = verdict(tree, server.table, profile)
    if judged.accepted or kind_of(tree) != jobset.KIND:
        return judged.stored
    root = server.table.root(jobset.KIND)
    return judged.stored if root is None else walk(root, jobset.with_defaults(walk(root, tree, Log())), Log())


def sent(operation: str, last: Tree, live: Tree, new: Tree, node: SchemaNode) -> Tree:
    """What reaches the server's validation when `new` is written over `live`, which came from `last`."""
    if operation == PUT:
        return new
    return _by_client(last, live, new) if operation == CLIENT_SIDE else _by_server(node, last, live, new)


def _by_client(last: Tree, live: Tree, new: Tree) -> Tree:
    """A merge in which lists are replaced, and what the last text had and the new one lacks is gone."""
    if type(new) is not dict or type(live) is not dict:
        return new
    before = last if type(last) is dict else {}
    out = {key: live[key] for key in live if key in new or key not in before}
    for key, node in new.items():
        out[key] = _by_client(before.get(key), live[key], node) if key in live else node
    return out


def _by_server(node: SchemaNode | None, last: Tree, live: Tree, new: Tree) -> Tree:
    """A merge along the schema: keyed lists by their keys, other lists as a whole."""
    if node is None:
        return new
    if type(new) is dict and type(live) is dict:
        return _maps(node, last if type(last) is dict else {}, live, new)
    if type(new) is list and type(live) is list and node.keys:
        return _items(node, last if type(last) is list else [], live, new)
    return new


def _maps(node: SchemaNode, last: dict[str, Tree], live: dict[str, Tree], new: dict[str, Tree]) -> Tree:
    out: dict[str, Tree] = {}
    for key, held in live.items():
        if key in new:
            out[key] = _by_server(node.prop(key), last.get(key), held, new[key])
        elif key not in last:
            out[key] = held
        else:
            left = _without(node.prop(key), last[key], held)
            if left is not None:
                out[key] = left
    return {**out, **{key: tree for key, tree in new.items() if key not in live}}


def _without(node: SchemaNode | None, last: Tree, live: Tree) -> Tree:
    """What is left of a field that is no longer applied: what others wrote below it; None for nothing."""
    if node is None or type(last) is not dict or type(live) is not dict:
        return None
    kept = {}
    for key, held in live.items():
        left = _without(node.prop(key), last[key], held) if key in last else held
        if left is not None:
            kept[key] = left
    return kept or None


def _items(node: SchemaNode, last: list[Tree], live: list[Tree], new: list[Tree]) -> Tree:
    before, held = ({_key(node, item): item for item in items} for items in (last, live))
    item = node.item()
    merged = [
        _by_server(item, before.get(_key(node, tree)), held[_key(node, tree)], tree)
        if _key(node, tree) in held
        else tree
        for tree in new
    ]
    names = {_key(node, tree) for tree in new}
    return [*merged, *(tree for key, tree in held.items() if key not in names and key not in before)]


def _key(node: SchemaNode, item: Tree) -> tuple[object, ...]:
    return tuple(value(item, name) for name in node.keys)
