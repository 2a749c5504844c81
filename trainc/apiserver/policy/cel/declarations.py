"""What the type checker knows: variables, fields of `request` and `namespaceObject`, versions of functions, and costs.

Source: k8s.io/apiserver/pkg/admission/plugin/cel/compile.go and pkg/cel/library (1.34). Functions of any element type
are declared for lists of dyn (`OPEN`): their results have no known type. What a call costs at runtime: cel-go
interpreter/runtimecost.go and pkg/cel/library/cost.go.
"""

from collections.abc import Callable, Iterator
from math import ceil
from typing import Any

from trainc.apiserver.policy.cel.values import Opaque, size

Fields = dict[str, Any]

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
VARIABLES = {"object": "dyn", "oldObject": "dyn", "request": "dyn", "namespaceObject": "dyn", "variables": "dyn"}
AUTHORIZER = {
    "authorizer": "kubernetes.authorization.Authorizer",
    "authorizer.requestResource": "kubernetes.authorization.ResourceCheck",
}
OPEN = frozenset({"min", "max", "slice", "flatten", "distinct", "sort", "reverse", "first", "last", "value", "orValue"})
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
_STRING, _REGEX = 0.1, 0.25  # StringTraversalCostFactor, RegexStringLengthCostFactor
_FORMAT_SIZES = {"labelValue": 40, "dns1123Subdomain": 60, "dns1123SubdomainPrefix": 60, "qualifiedName": 60}


def qualified(name: str, fields: Fields) -> Iterator[tuple[str, str]]:
    """The dotted names of all typed fields below a variable, with their types."""
    for field, kind in fields.items():
        if type(kind) is dict:
            yield from qualified(f"{name}.{field}", kind)
        else:
            yield f"{name}.{field}", str(kind)


def cost_of(function: str, args: list[Any], result: Any) -> int:
    """The cost of a call with these values."""
    cost = _COSTS.get(function)
    return cost(args, result) if cost is not None and args else 1


def _traversed(value: Any) -> int:
    if isinstance(value, str | bytes):
        return int(len(value) * _STRING)
    if isinstance(value, list):
        return sum(map(_traversed, value))
    if type(value) is dict:
        return sum(_traversed(key) + _traversed(held) for key, held in value.items())
    return 1


def _for(names: str, cost: Cost, *, of_texts: bool = False) -> dict[str, Cost]:
    """The same cost for several functions; `of_texts` where it is 1 for anything but a text or bytes."""
    of = (lambda args, result: cost(args, result) if isinstance(args[0], str | bytes) else 1) if of_texts else cost
    return dict.fromkeys(names.split(), of)


def _contains_ip(args: list[Any], _: Any) -> int:
    own = ceil(2 * size(args[0]) * _STRING)
    return own + (ceil(size(args[1]) * _STRING) if type(args[1]) is str else 0)


def _validate(args: list[Any], _: Any) -> int:
    pattern = _FORMAT_SIZES.get(str(args[0].value), 30) if type(args[0]) is Opaque else 30
    return ceil((1 + size(args[1])) * _STRING) * ceil(pattern * _REGEX)


def _once(args: list[Any], _: Any) -> int:
    return ceil(size(args[0]) * _STRING)


def _smaller(args: list[Any], _: Any) -> int:
    return ceil(min(size(args[0]), size(args[1])) * _STRING)


_COSTS: dict[str, Cost] = {
    **_for("isSorted sum max min indexOf lastIndexOf", lambda args, _: _traversed(args[0])),
    **_for("url lowerAscii upperAscii substring trim startsWith endsWith format strings.quote", _once),
    **_for("cidr isIP isCIDR quantity isQuantity semver isSemver", _once),
    **_for("ip bytes string", _once, of_texts=True),
    **_for("replace split ip.isCanonical", lambda args, _: ceil(size(args[0]) * 2 * _STRING)),
    **_for("find findAll matches", lambda args, _: ceil((1 + size(args[0])) * _STRING) * ceil(size(args[1]) * _REGEX)),
    **_for("_==_ _!=_", lambda args, _: 1 if type(args[0]) is Opaque else _smaller(args, None)),
    **_for("_<_ _<=_ _>_ _>=_", _smaller, of_texts=True),
    **_for("_+_", lambda args, _: ceil((size(args[0]) + size(args[1])) * _STRING), of_texts=True),
    **_for("sets.contains sets.intersects", lambda args, _: 1 + size(args[0]) * size(args[1])),
    "sets.equivalent": lambda args, _: 1 + 2 * size(args[0]) * size(args[1]),
    "join": lambda _, result: ceil(size(result) * 2 * _STRING),
    "contains": lambda args, _: _once(args, None) * ceil(size(args[1]) * _STRING),
    "containsIP": _contains_ip,
    "containsCIDR": lambda args, _: _contains_ip(args, None) + _once(args, None) + 1,
    "validate": _validate,
}
