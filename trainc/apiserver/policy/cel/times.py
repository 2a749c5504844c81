"""Durations and points in time: their texts as Go reads them, and the functions that take them apart."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from trainc.apiserver.policy.cel.values import Duration, EvaluationError, Timestamp, overload

if TYPE_CHECKING:
    from collections.abc import Callable

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
    match = _OFFSET.fullmatch(zone)
    if match:
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


FUNCTIONS: dict[str, Callable[..., Any]] = {
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
