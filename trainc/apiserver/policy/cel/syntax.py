"""The syntax tree of an expression, read from the message `cel.expr.ParsedExpr` that cel-cpp serializes."""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

_DEPTH = 200  # nested expressions; the parser allows 32 of what people write


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
    """A macro such as all() or map(), expanded."""

    variable: str
    second: str
    over: "Node"
    result_name: str
    start: "Node"
    condition: "Node"
    step: "Node"
    result: "Node"


Node = Const | Ident | Select | Call | ListOf | MapOf | Fold


def parsed(data: bytes) -> Node:
    """The tree of a serialized ParsedExpr, packed in an Any."""
    packed = dict(_fields(data))[2]
    return _node(dict(_fields(packed))[2], 0)


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


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: numbers of varints, eight bytes of fixed ones, bytes of all others."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        held = 8  # a number, or how many bytes follow
        if tag & 7 != 1:
            held, at = _varint(data, at)
        if tag & 7 == 0:
            yield tag >> 3, held
        else:
            yield tag >> 3, data[at : at + held]
            at += held


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def _node(data: bytes, depth: int) -> Node:
    if depth > _DEPTH:
        raise ValueError("the expression is nested too deeply")
    number, held = next((field for field in _fields(data) if 3 <= field[0] <= 9), (0, b""))
    fields = list(_fields(held))
    part = dict(fields)

    def node(field: int) -> Node:
        return _node(part[field], depth + 1)

    def nodes(field: int) -> tuple[Node, ...]:
        return tuple([_node(value, depth + 1) for key, value in fields if key == field])

    match number:
        case 3:
            return Const(_constant(*fields[0]))
        case 4:
            return Ident(part[1].decode())
        case 5:
            return Select(node(1), part[2].decode(), bool(part.get(3)))
        case 6:
            return Call(node(1) if 1 in part else None, part[2].decode(), nodes(3))
        case 7:
            return ListOf(nodes(1), frozenset(_varints(part.get(2, b""))))
        case 8:
            entries = [dict(_fields(value)) for key, value in fields if key == 2]
            return MapOf(
                tuple([(_node(one[3], depth + 1), _node(one[4], depth + 1), bool(one.get(5))) for one in entries])
            )
        case 9:
            names = part[1].decode(), part.get(8, b"").decode()
            return Fold(*names, node(2), part[3].decode(), node(4), node(5), node(6), node(7))
    raise ValueError("an empty expression")


def _varints(data: bytes) -> Iterator[int]:
    at = 0
    while at < len(data):
        number, at = _varint(data, at)
        yield number


def _constant(number: int, value: Any) -> Any:
    match number:
        case 1:
            return None
        case 2:
            return bool(value)
        case 3:
            return value - 2**64 if value >= 2**63 else value
        case 4:
            return Uint(value)
        case 5:
            return struct.unpack("<d", value)[0]
        case 6:
            return value.decode()
    return bytes(value)
