"""The functions of CEL, those of its extensions for lists, sets and texts that Kubernetes enables, and Kubernetes' own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise, repeat
from typing import Any

from trainc.apiserver.policy.cel import conversions, kubernetes, texts
from trainc.apiserver.policy.cel.conversions import TIME_FUNCTIONS
from trainc.apiserver.policy.cel.syntax import Uint
from trainc.apiserver.policy.cel.values import (
    NONE,
    Built,
    Duration,
    EvaluationError,
    Optional,
    Paths,
    Timestamp,
    compare,
    equal,
    is_number,
    overload,
)

Function = Callable[..., Any]
_INT, _UINT = 2**63, 2**64


def _whole(number: int, kind: type, *, of: str = "integer") -> Any:
    """A number as its type holds it.

    Raises:
        EvaluationError: where it is out of range.
    """
    if kind is Uint:
        if not 0 <= number < _UINT:
            raise EvaluationError("unsigned integer overflow")
        return Uint(number)
    if not -_INT <= number < _INT:
        raise EvaluationError(f"{of} overflow")
    return number if kind is int else kind(number)


def _built(pairs: list[tuple[Any, Paths]]) -> Built:
    return Built([value for value, _ in pairs], [paths for _, paths in pairs])


def _pairs(held: list[Any]) -> list[tuple[Any, Paths]]:
    return list(zip(held, held.paths if type(held) is Built else repeat(None), strict=False))


def _add(left: Any, right: Any) -> Any:
    kind, other = type(left), type(right)
    if isinstance(left, list) and isinstance(right, list):
        return _built(_pairs(left) + _pairs(right))
    if (kind is Timestamp and other is Duration) or (kind is Duration and other is Timestamp):
        return Timestamp(left + right)
    if kind is not other or kind not in (int, Uint, float, str, bytes, Duration):
        raise overload()
    if kind in (int, Uint, Duration):
        return _whole(int(left) + int(right), kind, of="duration" if kind is Duration else "integer")
    return left + right


def _subtract(left: Any, right: Any) -> Any:
    kind, other = type(left), type(right)
    if kind is Timestamp and other is Timestamp:
        return Duration(left - right)
    if kind is Timestamp and other is Duration:
        return Timestamp(left - right)
    if kind is not other or kind not in (int, Uint, float, Duration):
        raise overload()
    return left - right if kind is float else _whole(int(left) - int(right), kind)


def _multiply(left: Any, right: Any) -> Any:
    kind = type(left)
    if kind is not type(right) or kind not in (int, Uint, float):
        raise overload()
    return left * right if kind is float else _whole(int(left) * int(right), kind)


def _divide(left: Any, right: Any) -> Any:
    kind = type(left)
    if kind is not type(right) or kind not in (int, Uint, float):
        raise overload()
    if kind is float:
        if right == 0:
            return float("nan") if left == 0 or left != left else float("inf") * (1 if left > 0 else -1)  # noqa: PLR0124
        return left / right
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return _whole(quotient if (left < 0) == (right < 0) else -quotient, kind)


def _modulo(left: Any, right: Any) -> Any:
    kind = type(left)
    if kind is not type(right) or kind not in (int, Uint):
        raise overload()
    if right == 0:
        raise EvaluationError("modulus by zero")
    rest = abs(int(left)) % abs(int(right))
    return kind(rest if left >= 0 else -rest)


def _negate(value: Any) -> Any:
    if type(value) is int:
        return _whole(-value, int)
    if type(value) is float:
        return -value
    raise overload()


def _not(value: Any) -> bool:
    if type(value) is not bool:
        raise overload()
    return not value


def _length(value: Any) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    raise overload()


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise overload()
    return value


def _sum(value: Any) -> Any:
    held = _list(value)
    total: Any = held[0] if held else 0
    for item in held[1:]:
        total = _add(total, item)
    if type(total) not in (int, Uint, float, Duration):
        raise overload()
    return total


def _extreme(value: Any, sign: int, name: str) -> Any:
    if not (held := _list(value)):
        raise EvaluationError(f"{name} called on empty list")
    best = held[0]
    compare(best, best)
    for item in held[1:]:
        if compare(item, best) == sign:
            best = item
    return best


def _index_of(value: Any, item: Any, start: Any = 0) -> int:
    if type(value) is str:
        return texts.index_of(value, item, start)
    return next((index for index, one in enumerate(_list(value)) if equal(one, item)), -1)


def _last_index_of(value: Any, item: Any, start: Any = None) -> int:
    if type(value) is str:
        return texts.last_index_of(value, item, start)
    held = _list(value)
    return next((index for index in range(len(held) - 1, -1, -1) if equal(held[index], item)), -1)


def _slice(value: Any, start: Any, end: Any) -> Built:
    held = _list(value)
    if type(start) is not int or type(end) is not int:
        raise overload()
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(held):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(held)}")
    return _built(_pairs(held)[start:end])


def _flatten(value: Any, depth: Any = 1) -> Built:
    if type(depth) is not int or depth < 0:
        raise EvaluationError("level must be non-negative")
    out: list[tuple[Any, Paths]] = []
    for item, paths in _pairs(_list(value)):
        if isinstance(item, list) and depth > 0:
            out += _pairs(_flatten(item, depth - 1))
        else:
            out.append((item, paths))
    return _built(out)


def _distinct(value: Any) -> Built:
    out: list[tuple[Any, Paths]] = []
    for item, paths in _pairs(_list(value)):
        if not any(equal(item, other) for other, _ in out):
            out.append((item, paths))
    return _built(out)


def _range(count: Any) -> list[int]:
    if type(count) is not int:
        raise overload()
    if count > 1_000_000:
        raise EvaluationError("the list has too many elements")
    return list(range(count))


def _end(value: Any, index: int) -> Optional:
    held = _list(value)
    return Optional(True, held[index]) if held else NONE


def _contains_all(held: Any, wanted: Any) -> bool:
    return all(any(equal(one, item) for one in _list(held)) for item in _list(wanted))


def _of_non_zero(value: Any) -> Optional:
    zero = value is None or value is False or (is_number(value) and value == 0)
    return NONE if zero or (isinstance(value, str | bytes | list | dict) and not value) else Optional(True, value)


def _has_value(value: Any) -> bool:
    if type(value) is not Optional:
        raise overload()
    return value.present


def _value_of(value: Any) -> Any:
    if not _has_value(value):
        raise EvaluationError("optional.none() dereference")
    return value.value


NAMESPACES = frozenset({"sets", "ip", "cidr", "format", "optional", "lists", "strings"})

FUNCTIONS: dict[str, Function] = {
    "_+_": _add,
    "_-_": _subtract,
    "_*_": _multiply,
    "_/_": _divide,
    "_%_": _modulo,
    "-_": _negate,
    "!_": _not,
    "_==_": equal,
    "_!=_": lambda left, right: not equal(left, right),
    "_<_": lambda left, right: compare(left, right) < 0,
    "_<=_": lambda left, right: compare(left, right) <= 0,
    "_>_": lambda left, right: compare(left, right) > 0,
    "_>=_": lambda left, right: compare(left, right) >= 0,
    "size": _length,
    "sum": _sum,
    "max": lambda value: _extreme(value, 1, "max"),
    "min": lambda value: _extreme(value, -1, "min"),
    "isSorted": lambda value: all(compare(left, right) <= 0 for left, right in pairwise(_list(value))),
    "indexOf": _index_of,
    "lastIndexOf": _last_index_of,
    "slice": _slice,
    "flatten": _flatten,
    "distinct": _distinct,
    "sort": lambda value: _built(sorted(_pairs(_list(value)), key=lambda pair: cmp_to_key(compare)(pair[0]))),
    "reverse": lambda value: _built(_pairs(_list(value))[::-1]),
    "lists.range": _range,
    "first": lambda value: _end(value, 0),
    "last": lambda value: _end(value, -1),
    "sets.contains": _contains_all,
    "sets.equivalent": lambda left, right: _contains_all(left, right) and _contains_all(right, left),
    "sets.intersects": lambda left, right: any(equal(one, item) for one in _list(left) for item in _list(right)),
    "optional.of": lambda value: Optional(True, value),
    "optional.ofNonZeroValue": _of_non_zero,
    "optional.none": lambda: NONE,
    "value": _value_of,
    "hasValue": _has_value,
    **conversions.FUNCTIONS,
    **texts.FUNCTIONS,
    **TIME_FUNCTIONS,
    **kubernetes.FUNCTIONS,
}
