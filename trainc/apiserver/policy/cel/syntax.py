"""The syntax tree of an expression, read from the message `cel.expr.ParsedExpr` that cel-cpp serializes."""

from __future__ import annotations

import struct
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

    operand: Node
    field: str
    test: bool


class Call(NamedTuple):
    """A function or an operator; a method has a target."""

    target: Node | None
    function: str
    args: tuple[Node, ...]


class ListOf(NamedTuple):
    """A list; `optional` are the indexes of elements written as `?x`."""

    elements: tuple[Node, ...]
    optional: frozenset[int]


class MapOf(NamedTuple):
    """A map: keys, values, and whether the entry is optional."""

    entries: tuple[tuple[Node, Node, bool], ...]


class Fold(NamedTuple):
    """A macro such as all() or map(), expanded."""

    variable: str
    second: str
    over: Node
    result_name: str
    start: Node
    condition: Node
    step: Node
    result: Node


Node = Const | Ident | Select | Call | ListOf | MapOf | Fold
_DEPTH = 200  # nested expressions; the parser allows 32 of what people write


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
        kind = tag & 7
        if kind == 0:
            value: Any
            value, at = _varint(data, at)
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        else:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


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
    deeper = depth + 1
    for number, held in _fields(data):
        if number == 3:
            return _constant(held)
        if number == 4:
            return Ident(dict(_fields(held))[1].decode())
        if number == 5:
            part = dict(_fields(held))
            return Select(_node(part[1], deeper), part[2].decode(), bool(part.get(3)))
        if number == 6:
            target: Node | None = None
            name = ""
            args: list[Node] = []
            for key, value in _fields(held):
                if key == 1:
                    target = _node(value, deeper)
                elif key == 2:
                    name = value.decode()
                else:
                    args.append(_node(value, deeper))
            return Call(target, name, tuple(args))
        if number == 7:
            fields = list(_fields(held))
            elements = tuple([_node(value, deeper) for key, value in fields if key == 1])
            return ListOf(elements, frozenset(_indexes(fields)))
        if number == 8:
            return MapOf(tuple([_entry(value, deeper) for key, value in _fields(held) if key == 2]))
        if number == 9:
            part = dict(_fields(held))
            return Fold(
                part[1].decode(),
                part.get(8, b"").decode(),
                _node(part[2], deeper),
                part[3].decode(),
                _node(part[4], deeper),
                _node(part[5], deeper),
                _node(part[6], deeper),
                _node(part[7], deeper),
            )
    raise ValueError("an empty expression")


def _indexes(fields: list[tuple[int, Any]]) -> Iterator[int]:
    for key, value in fields:
        if key == 2 and type(value) is int:
            yield value
        elif key == 2:
            at = 0
            while at < len(value):
                index, at = _varint(value, at)
                yield index


def _entry(data: bytes, depth: int) -> tuple[Node, Node, bool]:
    part = dict(_fields(data))
    return _node(part[3], depth), _node(part[4], depth), bool(part.get(5))


def _constant(data: bytes) -> Const:
    for key, value in _fields(data):
        if key == 1:
            return Const(None)
        if key == 2:
            return Const(bool(value))
        if key == 3:
            return Const(value - 2**64 if value >= 2**63 else value)
        if key == 4:
            return Const(Uint(value))
        if key == 5:
            return Const(struct.unpack("<d", value)[0])
        if key == 6:
            return Const(value.decode())
        return Const(bytes(value))
    raise ValueError("an empty constant")
