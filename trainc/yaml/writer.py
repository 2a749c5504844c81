"""Writing: one spelling that every reader reads back alike, and the same bytes on every machine.

Block style, two spaces, lists at the indentation of their key, no anchors, no folding. In every map, at every depth and
whatever it holds, the same order: the keys of `FIRST`, then the others by code point.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.yaml.spelling import LINES, block, other_text, text_of

# A key at one depth, the text up to a scalar and up to what stands on lines of its own.
Row = tuple[str, str, str]
Shapes = dict[tuple[str, ...], list[Row]]

FIRST = ("apiVersion", "kind", "metadata", "name", "namespace")

_SHAPES = 2_000  # sets of keys remembered per depth
_WIDE = 64
_SIMPLE = 1_000  # characters of a key that YAML lets stand before its colon, less what escapes may add


def dump(tree: Tree) -> str:
    """The YAML text of one tree, sourced or bare, with a line end at the end."""
    return dump_all((tree,))


def dump_all(trees: Iterable[Tree]) -> str:
    """The YAML texts of several trees as one stream, `---` between them."""
    out: list[str] = []
    for tree in trees:
        if out:
            out.append("---\n")
        node = tree.value if type(tree) is Sourced else tree
        if type(node) is dict and node:
            _map(node, _TOP, _TOP.shapes, out)
        elif type(node) in {list, tuple} and node:
            _seq(node, _TOP, out)
        elif type(node) is str:
            out.append(LINES[node] or block(node, "  "))
        else:
            out.append(f"{other_text(node)}\n")
    return "".join(out)


def dump_json(tree: Tree) -> str:
    """The JSON text of one tree on one line, keys in the order of the YAML text, without a line end."""
    from json import dumps  # noqa: PLC0415 (most output is YAML)

    return dumps(_ordered(tree), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def order(keys: Iterable[str]) -> list[str]:
    """The keys of a map in the order in which they are written."""
    rest = sorted(keys)
    first = [key for key in FIRST if key in rest]
    return first + [key for key in rest if key not in FIRST] if first else rest


class _Level:
    """What is written alike at one depth: the indentation, and keys in order with all that precedes their value."""

    deeper: "_Level"  # made when it is first asked for

    def __init__(self, indent: str) -> None:
        self.indent = indent
        self.dash = f"{indent}- "
        self.shapes: Shapes = {}
        self.items: Shapes = {}  # of maps that stand in a list: the first key follows a dash

    def __getattr__(self, name: str) -> "_Level":
        self.deeper = _Level(self.indent + "  ")
        return self.deeper

    def shape(self, keys: tuple[str, ...], *, item: bool) -> list[Row]:
        start = f"{self.indent[2:]}- " if item else self.indent
        rows = []
        for key in order(keys):
            text = text_of(key)
            head = f"{start}{text}:" if len(text) < _SIMPLE else f"{start}? {text}\n{self.indent}:"
            rows.append((key, f"{head} ", f"{head}\n"))
            start = self.indent
        shapes = self.items if item else self.shapes
        if len(keys) <= _WIDE:
            if len(shapes) >= _SHAPES:
                shapes.clear()
            shapes[keys] = rows
        return rows


_TOP = _Level("")


def _map(node: dict[str, Tree], level: _Level, shapes: Shapes, out: list[str]) -> None:
    keys = tuple(node)
    write = out.append
    for key, head, line in shapes.get(keys) or level.shape(keys, item=shapes is level.items):
        value = node[key]
        kind = value.__class__
        if kind is Sourced:
            value = value.value
            kind = value.__class__
        if kind is str:
            write(head + (LINES[value] or block(value, level.deeper.indent)))
        elif kind is int:
            write(f"{head}{value}\n")
        elif value and (kind is dict or kind is list or kind is tuple):
            write(line)
            if kind is dict:
                deeper = level.deeper
                _map(value, deeper, deeper.shapes, out)
            else:
                _seq(value, level, out)
        else:
            write(f"{head}{other_text(value)}\n")


def _seq(node: Sequence[Tree], level: _Level, out: list[str]) -> None:
    deeper = level.deeper
    items = deeper.items
    write = out.append
    for value in node:
        kind = value.__class__
        if kind is Sourced:
            value = value.value  # noqa: PLW2901 (what the leaf holds)
            kind = value.__class__
        if kind is str:
            write(level.dash)
            write(LINES[value] or block(value, deeper.indent))
        elif kind is dict and value:
            _map(value, deeper, items, out)
        elif (kind is list or kind is tuple) and value:
            start = len(out)
            _seq(value, deeper, out)
            out[start] = f"{level.dash}{out[start][len(deeper.indent) :]}"
        else:
            write(f"{level.dash}{other_text(value)}\n")


def _ordered(tree: Tree) -> Any:
    kind = type(tree)
    if kind is Sourced:
        return tree.value
    if kind is dict:
        return {key: _ordered(tree[key]) for key in order(tree)}
    if kind is list or kind is tuple:
        return [_ordered(item) for item in tree]
    return tree
