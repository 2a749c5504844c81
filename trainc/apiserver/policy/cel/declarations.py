"""What the type checker knows: variables, fields of `request` and `namespaceObject`, and Kubernetes' functions.

Source: k8s.io/apiserver/pkg/admission/plugin/cel/compile.go and pkg/cel/library (1.34). Functions of any element type
are declared for lists of dyn: their results have no known type. What a call costs at runtime: cel-go
interpreter/runtimecost.go and pkg/cel/library/cost.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any

from trainc.apiserver.policy.cel.kubernetes import FORMATS
from trainc.apiserver.policy.cel.values import Opaque, size

Fields = dict[str, Any]

Overload = tuple[bool, list[str], str]

Cost = Callable[[list[Any], Any], int]
_GVK = {"group": "string", "version": "string", "kind": "string"}
_GVR = {"group": "string", "version": "string", "resource": "string"}
REQUEST: Fields = {
    "kind": _GVK,
    "resource": _GVR,
    "subResource": "string",
    "requestKind": _GVK,
    "requestResource": _GVR,
    "requestSubResource": "string",
    "name": "string",
    "namespace": "string",
    "operation": "string",
    "userInfo": {"username": "string", "uid": "string", "groups": "list(string)", "extra": "map(string, list(string))"},
    "dryRun": "bool",
    "options": "dyn",
}
NAMESPACE: Fields = {
    "metadata": {
        "name": "string",
        "generateName": "string",
        "namespace": "string",
        "labels": "map(string, string)",
        "annotations": "map(string, string)",
        "UID": "string",
        "creationTimestamp": "google.protobuf.Timestamp",
        "deletionGracePeriodSeconds": "int",
        "deletionTimestamp": "google.protobuf.Timestamp",
        "generation": "int",
        "resourceVersion": "string",
        "finalizers": "list(string)",
    },
    "spec": {"finalizers": "list(string)"},
    "status": {"conditions": "dyn", "phase": "string"},
}
TYPED: dict[str, Fields] = {"request": REQUEST, "namespaceObject": NAMESPACE}
_AUTHORIZER, _PATH, _GROUP = (f"kubernetes.authorization.{name}" for name in ("Authorizer", "PathCheck", "GroupCheck"))
RESOURCE, _DECISION = "kubernetes.authorization.ResourceCheck", "kubernetes.authorization.Decision"
VARIABLES = {"object": "dyn", "oldObject": "dyn", "request": "dyn", "namespaceObject": "dyn", "variables": "dyn"}
AUTHORIZER = {"authorizer": _AUTHORIZER, "authorizer.requestResource": RESOURCE}
_Q, _URL, _IP, _CIDR = "kubernetes.Quantity", "kubernetes.URL", "net.IP", "net.CIDR"
_FORMAT, _SEMVER, _ANY = "kubernetes.NamedFormat", "kubernetes.Semver", "list(dyn)"
OPEN = frozenset({"min", "max", "slice", "flatten", "distinct", "sort", "reverse", "first", "last", "value", "orValue"})
_SUMMED = ("int", "uint", "double", "google.protobuf.Duration")


def _each(names: tuple[str, ...], overloads: list[Overload]) -> dict[str, list[Overload]]:
    """The same overloads for several functions."""
    return {name: list(overloads) for name in names}


# name: (is a method, parameters, result), one for each overload.
FUNCTIONS: dict[str, list[Overload]] = {
    "quantity": [(False, ["string"], _Q)],
    "isQuantity": [(False, ["string"], "bool")],
    "asInteger": [(True, [_Q], "int")],
    "isInteger": [(True, [_Q], "bool")],
    "asApproximateFloat": [(True, [_Q], "double")],
    "sign": [(True, [_Q], "int")],
    "add": [(True, [_Q, _Q], _Q), (True, [_Q, "int"], _Q)],
    "sub": [(True, [_Q, _Q], _Q), (True, [_Q, "int"], _Q)],
    **_each(("isGreaterThan", "isLessThan"), [(True, [one, one], "bool") for one in (_Q, _SEMVER)]),
    "compareTo": [(True, [one, one], "int") for one in (_Q, _SEMVER)],
    "url": [(False, ["string"], _URL)],
    "isURL": [(False, ["string"], "bool")],
    **_each(("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"), [(True, [_URL], "string")]),
    "getQuery": [(True, [_URL], "map(string, list(string))")],
    "ip": [(False, ["string"], _IP), (True, [_CIDR], _IP)],
    "isIP": [(False, ["string"], "bool")],
    "ip.isCanonical": [(False, ["string"], "bool")],
    "family": [(True, [_IP], "int")],
    **_each(
        ("isUnspecified", "isLoopback", "isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast"),
        [(True, [_IP], "bool")],
    ),
    "cidr": [(False, ["string"], _CIDR)],
    "isCIDR": [(False, ["string"], "bool")],
    "containsIP": [(True, [_CIDR, _IP], "bool"), (True, [_CIDR, "string"], "bool")],
    "containsCIDR": [(True, [_CIDR, _CIDR], "bool"), (True, [_CIDR, "string"], "bool")],
    "prefixLength": [(True, [_CIDR], "int")],
    "masked": [(True, [_CIDR], _CIDR)],
    "validate": [(True, [_FORMAT, "string"], "optional_type(list(string))")],
    "format.named": [(False, ["string"], f"optional_type({_FORMAT})")],
    **{f"format.{name}": [(False, [], _FORMAT)] for name in FORMATS},
    "semver": [(False, ["string"], _SEMVER), (False, ["string", "bool"], _SEMVER)],
    "isSemver": [(False, ["string"], "bool"), (False, ["string", "bool"], "bool")],
    **_each(("major", "minor", "patch"), [(True, [_SEMVER], "int")]),
    "find": [(True, ["string", "string"], "string")],
    "findAll": [(True, ["string", "string"], "list(string)"), (True, ["string", "string", "int"], "list(string)")],
    "isSorted": [(True, [_ANY], "bool")],
    "sum": [(True, [f"list({one})"], one) for one in _SUMMED],
    **_each(("min", "max"), [(True, [_ANY], "dyn")]),
    "slice": [(True, [_ANY, "int", "int"], _ANY)],
    "flatten": [(True, [_ANY], _ANY), (True, [_ANY, "int"], _ANY)],
    **_each(("distinct", "reverse", "sort"), [(True, [_ANY], _ANY)]),
    "lists.range": [(False, ["int"], "list(int)")],
    **_each(("sets.contains", "sets.equivalent", "sets.intersects"), [(False, [_ANY, _ANY], "bool")]),
    "path": [(True, [_AUTHORIZER, "string"], _PATH)],
    "group": [(True, [_AUTHORIZER, "string"], _GROUP)],
    "serviceAccount": [(True, [_AUTHORIZER, "string", "string"], _AUTHORIZER)],
    "resource": [(True, [_GROUP, "string"], RESOURCE)],
    **_each(
        ("subresource", "namespace", "name", "fieldSelector", "labelSelector"), [(True, [RESOURCE, "string"], RESOURCE)]
    ),
    "check": [(True, [_PATH, "string"], _DECISION), (True, [RESOURCE, "string"], _DECISION)],
    **_each(("allowed", "errored"), [(True, [_DECISION], "bool")]),
    **_each(("reason", "error"), [(True, [_DECISION], "string")]),
}
ASKING: tuple[str, ...] = (
    "path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check", "allowed",
)  # fmt: skip
ASKING += (
    "errored",
    "reason",
    "error",
    "fieldSelector",
    "labelSelector",
)  # of an authorizer, whose answers nobody knows
# The minor versions of Kubernetes in which libraries came (pkg/cel/environment/base.go), and macros with two variables.
SINCE: dict[str, int] = {
    **dict.fromkeys(("check", "allowed", "serviceAccount"), 27),
    **dict.fromkeys(("quantity", "isQuantity", "_?._", "_[?_]", "orValue", "hasValue"), 28),
    **dict.fromkeys(("equivalent", "intersects"), 29),
    **dict.fromkeys(("ip", "isIP", "cidr", "isCIDR", "containsIP", "containsCIDR"), 30),
    **dict.fromkeys(("validate", "named"), 31),
    **dict.fromkeys(("semver", "isSemver"), 33),
    **dict.fromkeys(("slice", "flatten", "distinct", "sort", "range"), 34),
}
TWO_VARIABLES = 32
SHOWN = {"_?._": "`.?` of optionals", "_[?_]": "`[?` of optionals"}
# Methods that cel-cpp's own extension of texts declares for texts alone.
SHARED = ("indexOf", "lastIndexOf")


def qualified(name: str, fields: Fields) -> Iterator[tuple[str, str]]:
    """The dotted names of all typed fields below a variable, with their types."""
    for field, kind in fields.items():
        if type(kind) is dict:
            yield from qualified(f"{name}.{field}", kind)
        else:
            yield f"{name}.{field}", str(kind)


_STRING, _REGEX = 0.1, 0.25  # StringTraversalCostFactor, RegexStringLengthCostFactor
_FORMAT_SIZES = {"labelValue": 40, "dns1123Subdomain": 60, "dns1123SubdomainPrefix": 60, "qualifiedName": 60}


def cost_of(function: str, args: list[Any], result: Any) -> int:
    """The cost of a call with these values."""
    cost = _COSTS.get(function)
    return cost(args, result) if cost is not None and args else 1


def _once(args: list[Any], _: Any) -> int:
    return ceil(size(args[0]) * _STRING)


def _traversed(value: Any) -> int:
    if isinstance(value, str | bytes):
        return int(len(value) * _STRING)
    if isinstance(value, list):
        return sum(map(_traversed, value))
    if type(value) is dict:
        return sum(_traversed(key) + _traversed(held) for key, held in value.items())
    return 1


def _smaller(args: list[Any], _: Any) -> int:
    return 1 if type(args[0]) is Opaque else ceil(min(size(args[0]), size(args[1])) * _STRING)


def _plus(args: list[Any], _: Any) -> int:
    return ceil((size(args[0]) + size(args[1])) * _STRING) if isinstance(args[0], str | bytes) else 1


def _ordered(args: list[Any], _: Any) -> int:
    return ceil(min(size(args[0]), size(args[1])) * _STRING) if isinstance(args[0], str | bytes) else 1


def _contains_ip(args: list[Any], _: Any) -> int:
    own = ceil(2 * size(args[0]) * _STRING)
    return own + (ceil(size(args[1]) * _STRING) if type(args[1]) is str else 0)


def _validate(args: list[Any], _: Any) -> int:
    pattern = _FORMAT_SIZES.get(str(args[0].value), 30) if type(args[0]) is Opaque else 30
    return ceil((1 + size(args[1])) * _STRING) * ceil(pattern * _REGEX)


_COSTS: dict[str, Cost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), lambda args, _: _traversed(args[0])),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _once),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"), _once),
    **dict.fromkeys(("startsWith", "endsWith", "format", "strings.quote"), _once),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), lambda args, _: ceil(size(args[0]) * 2 * _STRING)),
    **dict.fromkeys(
        ("find", "findAll", "matches"),
        lambda args, _: ceil((1 + size(args[0])) * _STRING) * ceil(size(args[1]) * _REGEX),
    ),
    **dict.fromkeys(("_==_", "_!=_"), _smaller),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    **dict.fromkeys(
        ("ip", "bytes", "string"), lambda args, result: _once(args, result) if isinstance(args[0], str | bytes) else 1
    ),
    **dict.fromkeys(("sets.contains", "sets.intersects"), lambda args, _: 1 + size(args[0]) * size(args[1])),
    "sets.equivalent": lambda args, _: 1 + 2 * size(args[0]) * size(args[1]),
    "join": lambda _, result: ceil(size(result) * 2 * _STRING),
    "contains": lambda args, _: ceil(size(args[0]) * _STRING) * ceil(size(args[1]) * _STRING),
    "_+_": _plus,
    "containsIP": _contains_ip,
    "containsCIDR": lambda args, _: _contains_ip(args, None) + ceil(size(args[0]) * _STRING) + 1,
    "validate": _validate,
}
