"""The JSON by which a pod template asks Kueue for slices within slices, read as Go's encoding/json reads it."""

from __future__ import annotations

from trainc.apiserver.fault import quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STRUCT = "PodsetSliceRequiredTopologyConstraint"
_LARGEST = 2**31


class LayersError(Exception):
    """What Go's decoder says of a text that is not a list of layers."""


class _Number(str):
    """A JSON number as it is written."""

    __slots__ = ()


class SliceLevel:
    """Slices of `size` pods, each inside one domain of the level `topology`."""

    __slots__ = ("size", "topology")

    def __init__(self) -> None:
        self.topology = ""
        self.size = 0


def layers_of(text: str) -> list[SliceLevel]:
    """The layers that a text lists; raises `LayersError` with the decoder's words where it lists none."""
    parsed = _parsed(text)
    if parsed is None:
        return []
    if type(parsed) is not list:
        raise LayersError(f"json: cannot unmarshal {_word(parsed)} into Go value of type []v1beta2.{_STRUCT}")
    faults: list[str] = []
    layers = [_layer(item, faults) for item in parsed]
    if faults:
        raise LayersError(faults[0])
    return layers


def _layer(item: Any, faults: list[str]) -> SliceLevel:
    layer = SliceLevel()
    if type(item) is _Pairs:
        for key, value in item.pairs:
            if key.lower() == "topology" and value is not None:
                layer.topology = value if type(value) is str else _mistyped(value, "topology", "string", faults, "")
            elif key.lower() == "size" and value is not None:
                size = _whole(value)
                layer.size = _mistyped(value, "size", "int32", faults, 0) if size is None else size
    elif item is not None:
        faults.append(f"json: cannot unmarshal {_word(item)} into Go value of type v1beta2.{_STRUCT}")
    return layer


def _whole(value: Any) -> int | None:
    digits = value.removeprefix("-") if type(value) is _Number else ""
    number = int(value) if digits.isdigit() and len(digits) < 20 else None
    return number if number is not None and -_LARGEST <= number < _LARGEST else None


def _mistyped(value: Any, field: str, wanted: str, faults: list[str], instead: Any) -> Any:
    faults.append(
        f"json: cannot unmarshal {_word(value, literal=wanted == 'int32')} into Go struct field {_STRUCT}.{field} of type {wanted}"
    )
    return instead


def _word(value: Any, *, literal: bool = False) -> str:
    if type(value) is _Number:
        return f"number {value}" if literal else "number"
    return {str: "string", bool: "bool", list: "array", _Pairs: "object"}[type(value)]


class _Pairs:
    """A JSON object with its members in order, whatever their keys."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def _parsed(text: str) -> Any:
    import json  # noqa: PLC0415 (only this annotation holds JSON)

    def refused(_constant: str) -> Any:
        raise LayersError(f"invalid character {_character(text.lstrip()[0])} looking for beginning of value")

    try:
        return json.loads(
            text, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number, parse_constant=refused
        )
    except json.JSONDecodeError as fault:
        raise LayersError(_syntax(text, fault.msg, fault.pos)) from None
    except RecursionError:
        raise LayersError("exceeded max depth") from None


def _syntax(text: str, message: str, at: int) -> str:
    """What Go's scanner says where Python's stumbles; since 3.13 that is at a trailing comma, and not behind it."""
    at += message.startswith("Illegal trailing comma")
    at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
    if at >= len(text) or message.startswith("Unterminated"):
        return "unexpected end of JSON input"
    return f"invalid character {_character(text[at])} {_context(text, message, at)}"


def _context(text: str, message: str, at: int) -> str:
    known = {
        "Expecting value": "looking for beginning of value",
        "Illegal trailing comma before end of array": "looking for beginning of value",
        "Expecting ':' delimiter": "after object key",
        "Extra data": "after top-level value",
        "Invalid control character at": "in string literal",
        "Expecting ',' delimiter": "after object key:value pair" if _in_object(text[:at]) else "after array element",
    }
    return known.get(message.removesuffix(": "), "looking for beginning of object key string")


def _in_object(text: str) -> bool:
    """Whether what follows such a beginning of a JSON text stands in an object rather than in a list."""
    holders: list[str] = []
    inside = escaped = False
    for char in text:
        if inside:
            inside, escaped = escaped or char != '"', char == "\\" and not escaped
        elif char == '"':
            inside = True
        elif char in "[{":
            holders.append(char)
        elif char in "]}" and holders:
            holders.pop()
    return holders[-1:] == ["{"]


def _character(char: str) -> str:
    """A character in single quotes, as Go's scanner shows it."""
    special = {"'": r"'\''", '"': "'\"'"}
    return special.get(char) or f"'{quoted(char)[1:-1]}'"
