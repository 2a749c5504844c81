"""What a call costs at runtime: cel-go interpreter/runtimecost.go, k8s.io/apiserver/pkg/cel/library/cost.go (1.34)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from trainc.apiserver.policy.cel.values import Opaque, size

if TYPE_CHECKING:
    from collections.abc import Callable

    Cost = Callable[[list[Any], Any], int]

_STRING, _REGEX = 0.1, 0.25  # StringTraversalCostFactor, RegexStringLengthCostFactor
_FORMAT_SIZES = {"labelValue": 40, "dns1123Subdomain": 60, "dns1123SubdomainPrefix": 60, "qualifiedName": 60}


def cost_of(function: str, args: list[Any], result: Any) -> int:
    """The cost of a call with these values."""
    cost = _COSTS.get(function)
    return cost(args, result) if cost is not None and args else 1


def _once(args: list[Any], _: Any) -> int:
    return ceil(size(args[0]) * _STRING)


def _twice(args: list[Any], _: Any) -> int:
    return ceil(size(args[0]) * 2 * _STRING)


def _result_twice(_: list[Any], result: Any) -> int:
    return ceil(size(result) * 2 * _STRING)


def _traversal(args: list[Any], _: Any) -> int:
    return _traversed(args[0])


def _traversed(value: Any) -> int:
    if isinstance(value, str | bytes):
        return int(len(value) * _STRING)
    if isinstance(value, list):
        return sum(map(_traversed, value))
    if type(value) is dict:
        return sum(_traversed(key) + _traversed(held) for key, held in value.items())
    return 1


def _regex(args: list[Any], _: Any) -> int:
    return ceil((1 + size(args[0])) * _STRING) * ceil(size(args[1]) * _REGEX)


def _contains(args: list[Any], _: Any) -> int:
    return ceil(size(args[0]) * _STRING) * ceil(size(args[1]) * _STRING)


def _smaller(args: list[Any], _: Any) -> int:
    if type(args[0]) is Opaque:
        return 1
    return ceil(min(size(args[0]), size(args[1])) * _STRING)


def _plus(args: list[Any], _: Any) -> int:
    if isinstance(args[0], str | bytes):
        return ceil((size(args[0]) + size(args[1])) * _STRING)
    return 1


def _ordered(args: list[Any], _: Any) -> int:
    if isinstance(args[0], str | bytes):
        return ceil(min(size(args[0]), size(args[1])) * _STRING)
    return 1


def _of_text(args: list[Any], result: Any) -> int:
    return _once(args, result) if isinstance(args[0], str | bytes) else 1


def _contains_ip(args: list[Any], _: Any) -> int:
    own = ceil(2 * size(args[0]) * _STRING)
    return own + (ceil(size(args[1]) * _STRING) if type(args[1]) is str else 0)


def _contains_cidr(args: list[Any], _: Any) -> int:
    return _contains_ip(args, None) + ceil(size(args[0]) * _STRING) + 1


def _validate(args: list[Any], _: Any) -> int:
    pattern = _FORMAT_SIZES.get(str(args[0].value), 30) if type(args[0]) is Opaque else 30
    return ceil((1 + size(args[1])) * _STRING) * ceil(pattern * _REGEX)


def _sets(args: list[Any], _: Any) -> int:
    return 1 + size(args[0]) * size(args[1])


def _equivalent(args: list[Any], _: Any) -> int:
    return 1 + 2 * size(args[0]) * size(args[1])


_COSTS: dict[str, Cost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _traversal),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _once),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _once),
    **dict.fromkeys(("startsWith", "endsWith", "format", "strings.quote"), _once),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _twice),
    **dict.fromkeys(("find", "findAll", "matches"), _regex),
    **dict.fromkeys(("_==_", "_!=_"), _smaller),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    **dict.fromkeys(("ip", "bytes", "string"), _of_text),
    **dict.fromkeys(("sets.contains", "sets.intersects"), _sets),
    "sets.equivalent": _equivalent,
    "join": _result_twice,
    "contains": _contains,
    "_+_": _plus,
    "containsIP": _contains_ip,
    "containsCIDR": _contains_cidr,
    "validate": _validate,
}
