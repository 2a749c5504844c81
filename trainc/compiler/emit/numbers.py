"""Placeholders for numbers, written without quotes: what envsubst fills in between quotes is text to the API server."""

from trainc.apiserver.jobset.defaults import KIND
from trainc.apiserver.schema.node import SchemaNode, load
from trainc.apiserver.verdict import kind_of
from trainc.apiserver.workloads import NODES
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.text.placeholders import is_placeholder
from trainc.yaml.spelling import PlainText

_UNQUOTED = ("integer", "number", "boolean")


def with_plain_numbers(tree: Tree) -> Tree:
    """An object in which each placeholder for a number, a truth value or a port is a `PlainText`."""
    kind, table = kind_of(tree), load()
    node = table.at(KIND, NODES[kind]) if kind in NODES else table.root(kind)
    return tree if node is None else _below(node, tree)


def _below(node: SchemaNode, tree: Tree) -> Tree:
    if type(tree) is dict:
        return {key: tree[key] if (at := node.prop(key)) is None else _below(at, tree[key]) for key in tree}
    if type(tree) is list:
        item = node.item()
        return tree if item is None else [_below(item, child) for child in tree]
    if type(tree) is Sourced and _is_unquoted(node) and is_placeholder(tree.value) and _stands_plain(tree.value):
        return Sourced(PlainText(tree.value), tree.origin)
    return tree


def _is_unquoted(node: SchemaNode) -> bool:
    # A quantity may be a number or text, a port only the one or the other: its schema has no pattern.
    return node.kind in _UNQUOTED or (node.kind == "int-or-string" and "pattern" not in node.raw)


def _stands_plain(text: str) -> bool:
    """Whether YAML reads a placeholder without quotes as the same text."""
    return text[0] in "$0123456789" and not text.endswith(":") and not any(char in text for char in " \t\n")
