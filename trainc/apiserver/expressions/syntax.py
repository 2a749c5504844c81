"""The nodes of the syntax tree of an expression."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Uint(int):
    """An unsigned integer, which CEL tells from an integer."""

    __slots__ = ()


class Const(NamedTuple):
    """A literal."""

    value: Any


class Ident(NamedTuple):
    """A name."""

    name: str


class Select(NamedTuple):
    """A field of an operand; `test` for has()."""

    operand: "Node"
    field: str
    test: bool


class Call(NamedTuple):
    """A function or an operator; a method has a target."""

    target: "Node | None"
    function: str
    args: "tuple[Node, ...]"


class ListOf(NamedTuple):
    """A list; `optional` are the indexes of elements written as `?x`."""

    elements: "tuple[Node, ...]"
    optional: frozenset[int]


class MapOf(NamedTuple):
    """A map: keys, values, and whether the entry is optional."""

    entries: "tuple[tuple[Node, Node, bool], ...]"


class Fold(NamedTuple):
    """A macro such as all() or map(), expanded; `second` is the other variable of those with two, empty for one."""

    variable: str
    second: str
    over: "Node"
    result_name: str
    start: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"


Node = Const | Ident | Select | Call | ListOf | MapOf | Fold


def qualified(node: Node) -> str:
    """The dotted name that a chain of selections is, empty for anything else."""
    if type(node) is Ident:
        return node.name
    if type(node) is Select and not node.test and (above := qualified(node.operand)):
        return f"{above}.{node.field}"
    return ""


def children(node: Node) -> Iterator[Node]:
    """The expressions directly below one."""
    match node:
        case Select(operand, _, _):
            yield operand
        case Call(target, _, args):
            yield from (*(() if target is None else (target,)), *args)
        case ListOf(elements, _):
            yield from elements
        case MapOf(entries):
            for key, value, _ in entries:
                yield from (key, value)
        case Fold():
            yield from (node.over, node.start, node.condition, node.step, node.result)
