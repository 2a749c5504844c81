"""Conversions between types: int(), uint(), double(), string(), bool(), bytes(), dyn(), type(). Source: cel-go common/types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trainc.apiserver.policy.cel.syntax import Uint
from trainc.apiserver.policy.cel.values import (
    Duration,
    EvaluationError,
    Opaque,
    Timestamp,
    TypeName,
    overload,
    type_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_INT, _UINT = 2**63, 2**64
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_TRUE, _FALSE = ("1", "t", "T", "true", "TRUE", "True"), ("0", "f", "F", "false", "FALSE", "False")


def _unreadable(kind: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to '{kind}'")


def _int(value: Any) -> int:
    kind = type(value)
    if kind is int:
        return int(value)
    if kind is str:
        number = int(value) if _WHOLE.fullmatch(value) and len(value) < 25 else _INT
        if not -_INT <= number < _INT:
            raise _unreadable("int")
        return number
    if kind is Timestamp:
        return int(value // 1_000_000_000)
    if kind is Uint or (kind is float and value == value and abs(value) < _INT):  # noqa: PLR0124 (NaN)
        if int(value) < _INT:
            return int(value)
    elif kind is not float:
        raise overload()
    raise EvaluationError("integer overflow")


def _uint(value: Any) -> Uint:
    kind = type(value)
    if kind is str:
        if not re.fullmatch("[0-9]+", value) or len(value) > 20 or int(value) >= _UINT:
            raise _unreadable("uint")
        return Uint(value)
    if kind not in (int, Uint, float):
        raise overload()
    if not 0 <= value < _UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _double(value: Any) -> float:
    if type(value) is str:
        if not _DECIMAL.fullmatch(value):
            raise _unreadable("double")
        return float(value)
    if type(value) not in (int, Uint, float):
        raise overload()
    return float(value)


def _bool(value: Any) -> bool:
    if type(value) is bool:
        return value
    if type(value) is not str:
        raise overload()
    if value in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise _unreadable("bool")


def _bytes(value: Any) -> bytes:
    if type(value) is str:
        return value.encode()
    if type(value) is bytes:
        return value
    raise overload()


def to_text(value: Any) -> str:
    """A value as string() writes it."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is Uint:
        return str(int(value))
    if kind is float:
        return _float_text(value)
    if kind is bytes:
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None
    if kind is Duration:
        return _decimal(int(value)) + "s"
    if kind is Timestamp:
        rest = int(value) % 1_000_000_000
        fraction = f".{rest:09d}".rstrip("0") if rest else ""
        return f"{value.at():%Y-%m-%dT%H:%M:%S}{fraction}Z"
    if kind is Opaque and value.kind in ("net.IP", "net.CIDR"):
        return str(value.value)
    raise overload()


def _decimal(nanos: int) -> str:
    whole, rest = divmod(abs(nanos), 1_000_000_000)
    text = f"{whole}" + (f".{rest:09d}".rstrip("0") if rest else "")
    return f"-{text}" if nanos < 0 else text


def _float_text(value: float) -> str:
    """A double as Go's strconv writes it with 'g'."""
    if value != value:  # noqa: PLR0124 (NaN)
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    digits, _, exponent = f"{value:.16e}".partition("e")
    mantissa = re.sub("e.*", "", repr(value)).replace("-", "").replace(".", "").strip("0") or "0"
    power = int(exponent)
    sign = "-" if digits.startswith("-") else ""
    if value == 0:
        return f"{sign}0"
    if power < -4 or power >= 6:
        rest = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
        return f"{sign}{mantissa[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02d}"
    text = f"{abs(value):.{max(0, len(mantissa) - 1 - power)}f}"
    return sign + text


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "int": _int,
    "uint": _uint,
    "double": _double,
    "bool": _bool,
    "bytes": _bytes,
    "string": to_text,
    "dyn": lambda value: value,
    "type": lambda value: TypeName(type_name(value)),
}
