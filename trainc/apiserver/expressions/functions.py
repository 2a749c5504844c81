"""The functions of CEL, those of its extensions for lists, sets and texts that Kubernetes enables, and Kubernetes' own."""

from collections.abc import Callable, Iterable
from functools import cache, cmp_to_key
from itertools import pairwise, repeat
from math import copysign, isnan
from operator import add, itemgetter, mul, neg, not_, sub
from typing import Any

from trainc.apiserver.expressions import conversions, kubernetes, texts
from trainc.apiserver.expressions.syntax import Uint
from trainc.apiserver.expressions.values import (
    MAX_ELEMENTS,
    NAMES,
    NONE,
    OPAQUE,
    Built,
    Duration,
    EvaluationError,
    NotEvaluatedError,
    Opaque,
    Optional,
    OutOfBudgetError,
    Overload,
    Paths,
    compare,
    equal,
    find,
    function,
    is_number,
    is_ordered,
    overload,
    taking,
)

_INT, _UINT = 2**63, 2**64
NAMESPACES = frozenset({"sets", "ip", "cidr", "format", "optional", "lists", "strings"})
_LIST, _TWO = "list(dyn)", "list(dyn) list(dyn)"


def _bounded(operate: Callable[..., Any], kind: type, of: str = "integer") -> Callable[..., Any]:
    """An operation on whole numbers, whose result its type must hold."""

    def run(*values: int) -> Any:
        number = operate(*map(int, values))
        if kind is Uint and not 0 <= number < _UINT:
            raise EvaluationError("unsigned integer overflow")
        if kind is not Uint and not -_INT <= number < _INT:
            raise EvaluationError(f"{of} overflow")
        return kind(number)

    return run


def _of_numbers(whole: Callable[..., Any], fraction: Callable[..., Any]) -> list[Overload]:
    """The overloads of an operation on two numbers of one type."""
    return [
        *taking(_bounded(whole, int), "int int"),
        *taking(_bounded(whole, Uint), "uint uint"),
        *taking(fraction, "double double"),
    ]


def _built(pairs: Iterable[tuple[Any, Paths]]) -> Built:
    held = list(pairs)
    return Built([value for value, _ in held], [paths for _, paths in held])


def _pairs(held: list[Any]) -> list[tuple[Any, Paths]]:
    return list(zip(held, held.paths if type(held) is Built else repeat(None), strict=False))


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _divide_doubles(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or isnan(left):
            return float("nan")
        return copysign(float("inf"), left) * copysign(1, right)
    return left / right


def _modulo(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    if right == -1 and left == -_INT:
        raise EvaluationError("integer overflow")
    rest = abs(left) % abs(right)
    return rest if left >= 0 else -rest


def _joined(left: list[Any], right: list[Any]) -> Built:
    if len(left) + len(right) > MAX_ELEMENTS:
        raise NotEvaluatedError("a list has too many elements")
    return _built(_pairs(left) + _pairs(right))


_ADD = [
    *_of_numbers(add, add),
    *taking(add, "string string", "bytes bytes"),
    *taking(_bounded(add, Duration, "duration"), "Duration Duration"),
    *taking(lambda at, span: conversions.in_range(at + span, at.offset), "Timestamp Duration"),
    *taking(lambda span, at: conversions.in_range(at + span, at.offset), "Duration Timestamp"),
    *taking(_joined, "list list"),
]


def _sum(held: list[Any]) -> Any:
    total: Any = type(held[0])(0) if held and type(held[0]) in (int, Uint, float, Duration) else 0
    for item in held:
        total = called("_+_", [total, item])
    if type(total) not in (int, Uint, float, Duration):
        raise overload()
    return total


def _extreme(held: list[Any], sign: int, name: str) -> Any:
    if not held:
        raise EvaluationError(f"{name} called on empty list")
    best = held[0]
    compare(best, best)
    for item in held[1:]:
        if compare(item, best) == sign:
            best = item
    return best


def _is_sorted(held: list[Any]) -> bool:
    """Whether no element comes before a greater one; two without an order are passed over, as the server does."""
    if held and not is_ordered(held[0]):
        raise overload()
    for left, right in pairwise(held):
        if not is_ordered(right):
            raise overload()
        try:
            if compare(left, right) > 0:
                return False
        except EvaluationError:
            continue
    return True


def _index_of(held: list[Any], item: Any) -> int:
    return next((index for index, one in enumerate(held) if equal(one, item)), -1)


def _last_index_of(held: list[Any], item: Any) -> int:
    return next((index for index in range(len(held) - 1, -1, -1) if equal(held[index], item)), -1)


def _slice(held: list[Any], start: int, end: int) -> Built:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(held):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(held)}")
    return _built(_pairs(held)[start:end])


def _flatten(held: list[Any], depth: int = 1) -> Built:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    out: list[tuple[Any, Paths]] = []
    for item, paths in _pairs(held):
        out += _pairs(_flatten(item, depth - 1)) if isinstance(item, list) and depth > 0 else [(item, paths)]
    return _built(out)


def _distinct(held: list[Any]) -> Built:
    out: list[tuple[Any, Paths]] = []
    for item, paths in _pairs(held):
        if not any(equal(item, other) for other, _ in out):
            out.append((item, paths))
    return _built(out)


def _range(count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_ELEMENTS:
        raise OutOfBudgetError
    return list(range(count))


def _contains_all(held: list[Any], wanted: list[Any]) -> bool:
    return all(any(equal(one, item) for one in held) for item in wanted)


def _of_non_zero(value: Any) -> Optional:
    zero = value is None or value is False or ((is_number(value) or type(value) is Duration) and value == 0)
    return NONE if zero or (isinstance(value, str | bytes | list | dict) and not value) else Optional(True, value)


def _unwrapped(held: list[Any]) -> Built:
    out = []
    for item, paths in _pairs(held):
        if type(item) is not Optional:
            raise EvaluationError(f"value {item} is not optional")
        if item.present:
            out.append((item.value, paths))
    return _built(out)


def _includes(held: Any, item: Any) -> bool:
    return any(equal(item, one) for one in held) if isinstance(held, list) else equal(held, item)


def _inserted(held: dict[Any, Any], *entry: Any) -> dict[Any, Any]:
    """A map with another entry, or with those of another map."""
    out = dict(held)
    for key, value in entry[0].items() if len(entry) == 1 else [entry]:
        if find(out, key)[0]:
            raise EvaluationError(f"insert failed: key {key} already exists")
        out[key] = value
    return out


def _sorted_by(held: list[Any], keys: list[Any]) -> Built:
    if keys and not is_ordered(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys):
        raise EvaluationError("list elements must have the same type")
    pairs = zip(_pairs(held), map(cmp_to_key(compare), keys), strict=True)
    return _built([pair for pair, _ in sorted(pairs, key=itemgetter(1))])


def _value_of(optional: Optional) -> Any:
    if not optional.present:
        raise EvaluationError("optional.none() dereference")
    return optional.value


FUNCTIONS: dict[str, list[Overload]] = {
    **conversions.FUNCTIONS,
    **texts.FUNCTIONS,
    **kubernetes.FUNCTIONS,
    "_+_": _ADD,
    "_-_": [
        *_of_numbers(sub, sub),
        *taking(_bounded(sub, Duration), "Duration Duration"),
        *taking(lambda left, right: Duration(left - right), "Timestamp Timestamp"),
        *taking(lambda at, span: conversions.in_range(at - span, at.offset), "Timestamp Duration"),
    ],
    "_*_": _of_numbers(mul, mul),
    "_/_": _of_numbers(_divide, _divide_doubles),
    "_%_": _of_numbers(_modulo, _modulo)[:2],
    "-_": [*taking(_bounded(neg, int), "int"), *taking(neg, "double")],
    "!_": taking(not_, "bool"),
    "_==_": taking(equal, "dyn dyn"),
    "_!=_": taking(lambda left, right: not equal(left, right), "dyn dyn"),
    "_<_": taking(lambda left, right: compare(left, right) < 0, "dyn dyn"),
    "_<=_": taking(lambda left, right: compare(left, right) <= 0, "dyn dyn"),
    "_>_": taking(lambda left, right: compare(left, right) > 0, "dyn dyn"),
    "_>=_": taking(lambda left, right: compare(left, right) >= 0, "dyn dyn"),
    "size": taking(len, "string", "bytes", "list", "map"),
    "sum": [function(_sum, f"list({one})", one) for one in ("int", "uint", "double", "google.protobuf.Duration")],
    "max": [function(lambda held: _extreme(held, 1, "max"), _LIST, "dyn")],
    "min": [function(lambda held: _extreme(held, -1, "min"), _LIST, "dyn")],
    "isSorted": [function(_is_sorted, _LIST, "bool")],
    "indexOf": [*texts.FUNCTIONS["indexOf"], *taking(_index_of, "list dyn")],
    "lastIndexOf": [*texts.FUNCTIONS["lastIndexOf"], *taking(_last_index_of, "list dyn")],
    "slice": [function(_slice, f"{_LIST} int int", _LIST)],
    "flatten": [function(_flatten, one, _LIST) for one in (_LIST, f"{_LIST} int")],
    "distinct": [function(_distinct, _LIST, _LIST)],
    "sort": [function(lambda held: _sorted_by(held, held), _LIST, _LIST)],
    "reverse": [function(lambda held: _built(_pairs(held)[::-1]), _LIST, _LIST)],
    "lists.range": [function(_range, "int", "list(int)")],
    "first": taking(lambda held: Optional(True, held[0]) if held else NONE, "list"),
    "last": taking(lambda held: Optional(True, held[-1]) if held else NONE, "list"),
    "sets.contains": [function(_contains_all, _TWO, "bool")],
    "sets.equivalent": [
        function(lambda left, right: _contains_all(left, right) and _contains_all(right, left), _TWO, "bool")
    ],
    "sets.intersects": [
        function(lambda left, right: any(equal(one, item) for one in left for item in right), _TWO, "bool")
    ],
    "optional.of": taking(lambda value: Optional(True, value), "dyn"),
    "optional.ofNonZeroValue": taking(_of_non_zero, "dyn"),
    "optional.none": taking(lambda: NONE, ""),
    "optional.unwrap": taking(_unwrapped, "list"),
    "unwrapOpt": taking(_unwrapped, "list"),
    "includes": taking(_includes, "dyn dyn"),
    "cel.@mapInsert": taking(_inserted, "map map", "map dyn dyn"),
    "@sortByAssociatedKeys": taking(_sorted_by, "list list"),
    "value": taking(_value_of, "optional_type"),
    "hasValue": taking(lambda optional: optional.present, "optional_type"),
}


@cache
def _chosen(name: str, kinds: tuple[object, ...]) -> tuple[Callable[..., Any], bool, str]:
    """What a function does with values of some types (Kubernetes' own by name), whether it gets them bare, and gives one."""
    named = [kind if type(kind) is str else NAMES.get(kind, "dyn") for kind in kinds]
    for run, parameters, result in FUNCTIONS[name]:
        wanted = [parameter.partition("(")[0] for parameter in parameters]
        if len(wanted) == len(kinds) and all(want in (kind, "dyn") for want, kind in zip(wanted, named, strict=True)):
            return run, not OPAQUE.isdisjoint(wanted), result if result in OPAQUE else ""
    raise overload()


def called(name: str, values: list[Any]) -> Any:
    """The result of a function for some values; an EvaluationError where no overload takes their types."""
    kinds: tuple[object, ...] = tuple(map(type, values))
    if Opaque in kinds:
        kinds = tuple([value.kind if type(value) is Opaque else type(value) for value in values])
    run, is_bare, around = _chosen(name, kinds)
    if is_bare:
        values = [value.value if type(value) is Opaque else value for value in values]
    return Opaque(around, run(*values)) if around else run(*values)
