"""Conversions between types: int(), uint(), double(), string(), bool(), bytes(), dyn(), type(). Source: cel-go common/types.

Durations and points in time: their texts as Go reads them, and the functions that take them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

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


_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_SECOND, _MILLI = 10**9, 10**6
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)


def duration(value: Any) -> Duration:
    """The duration of a text such as `1h30m`."""
    if type(value) is Duration:
        return value
    if type(value) is int:
        return Duration(value)
    if type(value) is not str:
        raise overload()
    body = value.lstrip("+-") if value[:1] in ("+", "-") and value[1:2] not in ("+", "-") else value
    at, nanos = 0, 0
    while match := _PART.match(body, at):
        whole, _, fraction = match.group(1).partition(".")
        unit = _UNITS[match.group(2)]
        nanos += int(whole or 0) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = match.end()
    if (at != len(body) or not body) and body != "0":
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Duration'")
    if nanos >= 2**63:
        raise EvaluationError("duration out of range")
    return Duration(-nanos if value.startswith("-") else nanos)


def timestamp(value: Any) -> Timestamp:
    """The point in time of a text of RFC 3339."""
    if type(value) is Timestamp:
        return value
    if type(value) is int:
        return Timestamp(value * _SECOND)
    if type(value) is not str:
        raise overload()
    match = _TIME.fullmatch(value)
    wrong = EvaluationError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    if match is None:
        raise wrong
    zone = "+00:00" if match.group(3) == "Z" else match.group(3)
    try:
        at = datetime.fromisoformat(match.group(1) + zone)
    except ValueError:
        raise wrong from None
    seconds = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    fraction = (match.group(2) or "")[:9].ljust(9, "0")
    return Timestamp(seconds * _SECOND + int(fraction))


def _local(value: Any, zone: Any) -> datetime:
    if type(value) is not Timestamp:
        raise overload()
    if zone is None:
        return value.at()
    if type(zone) is not str:
        raise overload()
    if match := _OFFSET.fullmatch(zone):
        offset = timedelta(hours=int(match.group(2)), minutes=int(match.group(3)))
        return value.at(-offset if match.group(1) == "-" else offset)
    try:
        return value.at().astimezone(ZoneInfo(zone))
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {zone}") from None


def _part(read: Callable[[datetime], int]) -> Callable[..., int]:
    return lambda value, zone=None: read(_local(value, zone))


def _clock(unit: int, read: Callable[[datetime], int]) -> Callable[..., int]:
    """The part of a point in time, or the whole of a duration in that unit."""

    def part(value: Any, zone: Any = None) -> int:
        if type(value) is Duration and zone is None:
            return int(value / unit) if abs(value) < 2**52 else (abs(value) // unit) * (1 if value > 0 else -1)
        return read(_local(value, zone))

    return part


def _milliseconds(value: Any, zone: Any = None) -> int:
    if type(value) is Duration and zone is None:
        return abs(value) // _MILLI * (1 if value > 0 else -1)
    _local(value, zone)
    return int(value) % _SECOND // _MILLI


TIME_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "duration": duration,
    "timestamp": timestamp,
    "getFullYear": _part(lambda at: at.year),
    "getMonth": _part(lambda at: at.month - 1),
    "getDate": _part(lambda at: at.day),
    "getDayOfMonth": _part(lambda at: at.day - 1),
    "getDayOfWeek": _part(lambda at: at.isoweekday() % 7),
    "getDayOfYear": _part(lambda at: at.timetuple().tm_yday - 1),
    "getHours": _clock(3600 * _SECOND, lambda at: at.hour),
    "getMinutes": _clock(60 * _SECOND, lambda at: at.minute),
    "getSeconds": _clock(_SECOND, lambda at: at.second),
    "getMilliseconds": _milliseconds,
}
