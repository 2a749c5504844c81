"""Whether the compiler can read an object at all, whatever the definition says that a cluster has of its kind."""

from trainc.apiserver.fault import Fault
from trainc.apiserver.schema.log import Log
from trainc.apiserver.schema.node import SchemaNode, Table, load
from trainc.apiserver.schema.walker import walk
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.text.placeholders import is_placeholder


def readable(tree: Tree, kind: str, table: Table) -> tuple[Tree, list[Fault]]:
    """The object as the compiler takes it apart, and the values of types that it cannot read.

    Stages behind admission rely on trainc's own schema of a kind. A definition that a cluster brings may allow other
    shapes, and a version that trainc does not know has no schema here: both are looked at by the schema of the kind
    that trainc has. Nulls are absent fields, as they are to every controller.
    """
    root = table.root(kind)
    own = load()
    if (root is not None and root.table is own) or (known := own.any_version(kind)) is None:
        return tree, []
    log = Log()
    kept = _without_nulls(tree)
    walk(known, kept, log)
    return kept, [f for f in log.schema if "must be of type" in f.message and not is_placeholder(f.value)]


def read_by_go(root: SchemaNode, tree: Tree) -> Tree:
    """A JobSet that its server takes, without nulls: one in a list is an item that says nothing, as it is to the webhook."""
    log = Log()
    kept = walk(root, tree, log)
    return _with_items(root, kept) if log.schema else kept


def _with_items(node: SchemaNode, tree: Tree) -> Tree:
    """The tree with an empty object or text in the place of every null in a list."""
    if type(tree) is dict:
        return {key: child if (at := node.prop(key)) is None else _with_items(at, child) for key, child in tree.items()}
    item = node.item()
    if type(tree) is not list or item is None:
        return tree
    return [_empty(item, child) if _is_null(child) else _with_items(item, child) for child in tree]


def _empty(node: SchemaNode, leaf: Tree) -> Tree:
    if node.kind == "object":
        return {}
    from trainc.apiserver.golang.decoding import zero  # noqa: PLC0415 (nobody means to write nulls into lists)

    return Sourced(zero(node, ""), leaf.origin) if type(leaf) is Sourced else leaf


def _without_nulls(tree: Tree) -> Tree:
    if type(tree) is list:
        return [_without_nulls(item) for item in tree]
    if type(tree) is dict:
        return {key: _without_nulls(child) for key, child in tree.items() if not _is_null(child)}
    return tree


def _is_null(tree: Tree) -> bool:
    return type(tree) is Sourced and tree.value is None
