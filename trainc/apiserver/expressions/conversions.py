"""Conversions between types: int(), uint(), double(), string(), bool(), bytes(), dyn(), type(). Source: cel-go common/types.

Durations and points in time: their texts as Go reads them, and the functions that take them apart.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from trainc.apiserver.expressions.syntax import Uint
from trainc.apiserver.expressions.values import (
    Duration,
    EvaluationError,
    Opaque,
    Overload,
    Timestamp,
    TypeName,
    overload,
    taking,
    type_name,
)

_INT, _UINT = 2**63, 2**64
_WHOLE = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}
_SECOND, _MILLI = 10**9, 10**6
_FIRST, _LAST = -62135596800, 253402300799  # seconds since 1970
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": _MILLI,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3600 * _SECOND,
}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_OFFSET = re.compile(r"([+-]?\d{1,9}):([+-]?\d{1,9})", re.ASCII)


def _unreadable(kind: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to '{kind}'")


def _read_int(text: str) -> int:
    number = int(text) if _WHOLE.fullmatch(text) and len(text) < 25 else _INT
    if not -_INT <= number < _INT:
        raise _unreadable("int")
    return number


def _int(value: float) -> int:
    if not -_INT < value < _INT:
        raise EvaluationError("integer overflow")
    return int(value)


def _read_uint(text: str) -> Uint:
    if not re.fullmatch("[0-9]+", text) or len(text) > 20 or int(text) >= _UINT:
        raise _unreadable("uint")
    return Uint(text)


def _uint(value: float) -> Uint:
    if not 0 <= value < _UINT:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _read_double(text: str) -> float:
    if not _DECIMAL.fullmatch(text):
        raise _unreadable("double")
    return float(text)


def _read_bool(text: str) -> bool:
    if text not in _BOOLS:
        raise _unreadable("bool")
    return _BOOLS[text]


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
        seconds = abs(value) // _SECOND + abs(value) % _SECOND / _SECOND  # a double, as in Go
        return f"{'-' if value < 0 else ''}{Decimal(repr(seconds)).normalize():f}s"
    if kind is Timestamp:
        zone = f"{value.at(value.offset).astimezone(timezone(value.offset)):%z}" if value.offset else ""
        return (
            f"{value.at(value.offset):%Y-%m-%dT%H:%M:%S}{_fraction(value)}{f'{zone[:3]}:{zone[3:]}' if zone else 'Z'}"
        )
    if kind is Opaque and value.kind in ("net.IP", "net.CIDR"):
        return str(value.value)
    raise overload()


def _fraction(nanos: int) -> str:
    """The part of a second, empty where there is none."""
    return f".{nanos % _SECOND:09d}".rstrip("0").rstrip(".")


def _float_text(value: float) -> str:
    """A double as Go's strconv writes it with 'g'."""
    if value != value:  # noqa: PLR0124 (NaN)
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    exact = Decimal(repr(value))
    mantissa = "".join(map(str, exact.as_tuple().digits)).strip("0") or "0"
    power = exact.adjusted()
    sign = "-" if exact.is_signed() else ""
    if value == 0:
        return f"{sign}0"
    if power < -4 or power >= 6:
        rest = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
        return f"{sign}{mantissa[0]}{rest}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return f"{sign}{abs(value):.{max(0, len(mantissa) - 1 - power)}f}"


def duration(text: str) -> Duration:
    """The duration of a text such as `1h30m`."""
    body = text.lstrip("+-") if text[:1] in ("+", "-") and text[1:2] not in ("+", "-") else text
    at, nanos = 0, 0
    while match := _PART.match(body, at):
        whole, _, fraction = match.group(1).partition(".")
        unit = _UNITS[match.group(2)]
        nanos += int(whole or 0) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
        at = match.end()
    if (at != len(body) or not body) and body != "0":
        raise _unreadable("google.protobuf.Duration")
    if nanos >= _INT:
        raise EvaluationError("duration out of range")
    return Duration(-nanos if text.startswith("-") else nanos)


def timestamp(text: str) -> Timestamp:
    """The point in time of a text of RFC 3339."""
    if (match := _TIME.fullmatch(text)) is None:
        raise _unreadable("google.protobuf.Timestamp")
    try:
        at = datetime.fromisoformat(match.group(1) + match.group(3))
    except ValueError:
        raise _unreadable("google.protobuf.Timestamp") from None
    seconds = (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    nanos = seconds * _SECOND + int((match.group(2) or "")[:9].ljust(9, "0"))
    return in_range(nanos, at.utcoffset() or timedelta())


def in_range(nanos: int, offset: timedelta) -> Timestamp:
    """A point in time between the years 1 and 9999; an EvaluationError for any other."""
    if not _FIRST <= nanos // _SECOND <= _LAST:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos, offset)


def _local(at: Timestamp, zone: str) -> datetime:
    if match := _OFFSET.fullmatch(zone):
        hours, minutes = map(int, match.groups())
        try:
            return at.at(timedelta(hours=hours, minutes=-minutes if zone.startswith("-") else minutes))
        except OverflowError:
            raise EvaluationError("timestamp overflow") from None
    if not zone:
        return at.at()
    try:
        return at.at().astimezone(ZoneInfo(zone))
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {zone}") from None


def _part(read: Callable[[datetime], int], unit: int = 0) -> list[Overload]:
    """A part of a point in time; with a unit also the whole of a duration in it."""
    overloads = [
        *taking(lambda at: read(at.at()), "Timestamp"),
        *taking(lambda at, zone: read(_local(at, zone)), "Timestamp string"),
    ]
    whole = taking(lambda span: abs(span) // unit * (1 if span > 0 else -1), "Duration")
    return [*overloads, *whole] if unit else overloads


def _same(value: Any) -> Any:
    return value


FUNCTIONS: dict[str, list[Overload]] = {
    "int": [
        *taking(_same, "int"),
        *taking(_int, "uint", "double"),
        *taking(_read_int, "string"),
        *taking(lambda at: at // _SECOND, "Timestamp"),
        *taking(int, "Duration"),
    ],
    "uint": [*taking(_uint, "int", "uint", "double"), *taking(_read_uint, "string")],
    "double": [*taking(float, "int", "uint", "double"), *taking(_read_double, "string")],
    "bool": [*taking(_same, "bool"), *taking(_read_bool, "string")],
    "bytes": [*taking(_same, "bytes"), *taking(str.encode, "string")],
    "string": taking(to_text, "dyn"),
    "dyn": taking(_same, "dyn"),
    "type": taking(lambda value: TypeName(type_name(value)), "dyn"),
    "duration": [*taking(_same, "Duration"), *taking(Duration, "int"), *taking(duration, "string")],
    "timestamp": [
        *taking(_same, "Timestamp"),
        *taking(lambda seconds: in_range(seconds * _SECOND, timedelta()), "int"),
        *taking(timestamp, "string"),
    ],
    "getFullYear": _part(lambda at: at.year),
    "getMonth": _part(lambda at: at.month - 1),
    "getDate": _part(lambda at: at.day),
    "getDayOfMonth": _part(lambda at: at.day - 1),
    "getDayOfWeek": _part(lambda at: at.isoweekday() % 7),
    "getDayOfYear": _part(lambda at: at.timetuple().tm_yday - 1),
    "getHours": _part(lambda at: at.hour, 3600 * _SECOND),
    "getMinutes": _part(lambda at: at.minute, 60 * _SECOND),
    "getSeconds": _part(lambda at: at.second, _SECOND),
    "getMilliseconds": _part(lambda at: at.microsecond // 1000, _MILLI),
}
