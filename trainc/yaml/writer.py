"""Writing: one spelling that every reader reads back alike, and the same bytes on every machine.

Block style, two spaces, lists at the indentation of their key, no anchors, no folding. In every map, at every depth and
whatever it holds, the same order: the keys of `FIRST`, then the others by code point.
"""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.yaml.spelling import TEXTS, block, other_text, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from trainc.model.tree import Path, Tree

FIRST = ("apiVersion", "kind", "metadata", "name", "namespace")

_SHAPES = 2_000  # sets of keys remembered per depth
_WIDE = 64
_SIMPLE = 1_000  # characters of a key that YAML lets stand before its colon, less what escapes may add


def dump(tree: Tree) -> str:
    """The YAML text of one tree, sourced or bare, with a line end at the end."""
    out: list[str] = []
    _root(tree, out)
    return "".join(out)


def dump_all(trees: Iterable[Tree]) -> str:
    """The YAML texts of several trees as one stream, `---` between them."""
    return "---\n".join(map(dump, trees))


def dump_json(tree: Tree) -> str:
    """The JSON text of one tree on one line, keys in the order of the YAML text, without a line end."""
    from json import dumps  # noqa: PLC0415 (most output is YAML)

    return dumps(_ordered(tree), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def order(keys: Iterable[str]) -> list[str]:
    """The keys of a map in the order in which they are written."""
    rest = sorted(keys)
    first = [key for key in FIRST if key in rest]
    return first + [key for key in rest if key not in FIRST] if first else rest


def lines(tree: Tree) -> list[Path]:
    """For each line of the YAML text the path of what it shows: of a scalar, or of a container's first line."""
    out: list[Path] = []
    _paths(tree, (), _TOP, out)
    return out


class _Level:
    """What is written alike at one depth: the indentation, and keys in order with all that precedes their value."""

    __slots__ = ("deeper", "indent", "shapes")

    deeper: _Level  # made when it is first asked for

    def __init__(self, indent: str) -> None:
        self.indent = indent
        self.shapes: dict[tuple[str, ...], list[tuple[str, str]]] = {}

    def __getattr__(self, name: str) -> _Level:
        self.deeper = _Level(self.indent + "  ")
        return self.deeper

    def shape(self, keys: tuple[str, ...]) -> list[tuple[str, str]]:
        """The keys in order, each with the text up to its colon."""
        rows = [(key, self._head(_key(key))) for key in order(keys)]
        if len(keys) <= _WIDE:
            if len(self.shapes) >= _SHAPES:
                self.shapes.clear()
            self.shapes[keys] = rows
        return rows

    def _head(self, text: str) -> str:
        return f"{self.indent}{text}:" if len(text) < _SIMPLE else f"{self.indent}? {text}\n{self.indent}:"


_TOP = _Level("")


def _root(tree: Tree, out: list[str]) -> None:
    if type(tree) is dict and tree:
        _map(tree, _TOP, out)
    elif type(tree) in {list, tuple} and tree:
        _seq(tree, _TOP, out)
    else:
        out.append(_scalar(tree, _TOP) + "\n")


def _map(node: dict[str, Tree], level: _Level, out: list[str]) -> None:
    keys = tuple(node)
    write = out.append
    for key, head in level.shapes.get(keys) or level.shape(keys):
        value = node[key]
        kind = type(value)
        if kind is Sourced:
            value = value.value
            kind = type(value)
        if kind is str:
            write(f"{head} {TEXTS[value] or block(value, level.deeper.indent)}\n")
        elif kind is dict and value:
            write(head + "\n")
            _map(value, level.deeper, out)
        elif (kind is list or kind is tuple) and value:
            write(head + "\n")
            _seq(value, level, out)
        else:
            write(f"{head} {other_text(value)}\n")


def _seq(node: Sequence[Tree], level: _Level, out: list[str]) -> None:
    indent = level.indent
    for value in node:
        kind = type(value)
        if (kind is dict or kind is list or kind is tuple) and value:
            start = len(out)
            (_map if kind is dict else _seq)(value, level.deeper, out)
            out[start] = f"{indent}- {out[start][len(indent) + 2 :]}"
        else:
            out.append(f"{indent}- {_scalar(value, level.deeper)}\n")


def _scalar(value: Tree, level: _Level) -> str:
    if type(value) is Sourced:
        value = value.value
    if type(value) is str:
        return TEXTS[value] or block(value, level.indent or "  ")
    return other_text(value)


def _key(key: str) -> str:
    return TEXTS[key] or quoted(key)


def _ordered(tree: Tree) -> Any:
    kind = type(tree)
    if kind is Sourced:
        return tree.value
    if kind is dict:
        return {key: _ordered(tree[key]) for key in order(tree)}
    if kind is list or kind is tuple:
        return [_ordered(item) for item in tree]
    return tree


def _paths(tree: Tree, path: Path, level: _Level, out: list[Path]) -> None:
    """Append a path for each line, walking as the writer does."""
    kind = type(tree)
    if kind is dict and tree:
        for key, head in level.shape(tuple(tree)):
            _entry(tree[key], (*path, key), head, level, out)
    elif (kind is list or kind is tuple) and tree:
        for index, item in enumerate(tree):
            nested = type(item) in {dict, list, tuple} and item
            if nested:
                _paths(item, (*path, index), level.deeper, out)
            else:
                out.extend([(*path, index)] * (_scalar(item, level.deeper).count("\n") + 1))
    else:
        out.extend([path] * (_scalar(tree, level).count("\n") + 1))


def _entry(value: Tree, path: Path, head: str, level: _Level, out: list[Path]) -> None:
    out.extend([path] * head.count("\n"))
    if type(value) in {dict, list, tuple} and value:
        out.append(path)
        _paths(value, path, level.deeper if type(value) is dict else level, out)
    else:
        out.extend([path] * (_scalar(value, level.deeper).count("\n") + 1))
