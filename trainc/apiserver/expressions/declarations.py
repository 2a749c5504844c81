"""What expressions of a policy see: variables, the fields of `request` and `namespaceObject`; and what calls cost.

Source: k8s.io/apiserver/pkg/admission/plugin/cel/compile.go. What a call costs at runtime: cel-go
interpreter/runtimecost.go and pkg/cel/library/cost.go.
"""

from collections.abc import Callable
from math import ceil
from typing import Any

from trainc.apiserver.expressions.checker import Type, read_type
from trainc.apiserver.expressions.values import Opaque, size, step

Cost = Callable[[list[Any], Any], int]
DYN = Type("dyn")
_STRUCTURES = {
    "kubernetes.GroupVersionKind": {"group": "string", "version": "string", "kind": "string"},
    "kubernetes.GroupVersionResource": {"group": "string", "version": "string", "resource": "string"},
    "kubernetes.UserInfo": {
        "username": "string",
        "uid": "string",
        "groups": "list(string)",
        "extra": "map(string, list(string))",
    },
    "kubernetes.AdmissionRequest": {
        "kind": "kubernetes.GroupVersionKind",
        "resource": "kubernetes.GroupVersionResource",
        "subResource": "string",
        "requestKind": "kubernetes.GroupVersionKind",
        "requestResource": "kubernetes.GroupVersionResource",
        "requestSubResource": "string",
        "name": "string",
        "namespace": "string",
        "operation": "string",
        "userInfo": "kubernetes.UserInfo",
        "dryRun": "bool",
        "options": "dyn",
    },
    "kubernetes.NamespaceMetadata": {
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
    "kubernetes.NamespaceCondition": {
        "status": "string",
        "type": "string",
        "lastTransitionTime": "google.protobuf.Timestamp",
        "message": "string",
        "reason": "string",
    },
    "kubernetes.NamespaceSpec": {"finalizers": "list(string)"},
    "kubernetes.NamespaceStatus": {"conditions": "list(kubernetes.NamespaceCondition)", "phase": "string"},
    "kubernetes.Namespace": {
        "metadata": "kubernetes.NamespaceMetadata",
        "spec": "kubernetes.NamespaceSpec",
        "status": "kubernetes.NamespaceStatus",
    },
}
STRUCTURES: dict[str, dict[str, Type]] = {
    name: {field: read_type(text) for field, text in fields.items()} for name, fields in _STRUCTURES.items()
}
VARIABLES = {
    "object": DYN,
    "oldObject": DYN,
    "request": Type("kubernetes.AdmissionRequest"),
    "namespaceObject": Type("kubernetes.Namespace"),
    "variables": Type("kubernetes.variables"),
}
AUTHORIZER = {
    "authorizer": Type("kubernetes.authorization.Authorizer"),
    "authorizer.requestResource": Type("kubernetes.authorization.ResourceCheck"),
}
_LISTED = 11  # a call that makes a list
_STRING, _REGEX = 0.1, 0.25  # StringTraversalCostFactor, RegexStringLengthCostFactor
_FORMAT_SIZES = {"labelValue": 40, "dns1123Subdomain": 60, "dns1123SubdomainPrefix": 60, "qualifiedName": 60}


def cost_of(function: str, args: list[Any], result: Any) -> int:
    """The cost of a call with these values."""
    cost = _COSTS.get(function)
    return cost(args, result) if cost is not None and args else 1


def _traversed(value: Any) -> int:
    step()
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


def _compared(held: list[Any]) -> int:
    """What comparing each element of a list with each other one costs."""
    factor = 2 + _STRING if held and isinstance(held[0], str | bytes) else 2.0
    return _LISTED + int(len(held) ** 2 * factor)


def _once(args: list[Any], _: Any) -> int:
    return ceil(size(args[0]) * _STRING)


def _smaller(args: list[Any], _: Any) -> int:
    return ceil(min(size(args[0]), size(args[1])) * _STRING)


_COSTS: dict[str, Cost] = {
    **_for("isSorted sum max min indexOf lastIndexOf", lambda args, _: _traversed(args[0])),
    **_for("url lowerAscii upperAscii substring trim format strings.quote", _once),
    **_for("startsWith endsWith", lambda args, _: ceil(size(args[1]) * _STRING)),
    **_for("cidr isIP isCIDR quantity isQuantity semver isSemver", _once),
    **_for("ip bytes string", _once, of_texts=True),
    **_for("replace split ip.isCanonical", lambda args, _: ceil(size(args[0]) * 2 * _STRING)),
    **_for("find findAll matches", lambda args, _: ceil((1 + size(args[0])) * _STRING) * ceil(size(args[1]) * _REGEX)),
    **_for("_==_ _!=_", lambda args, _: 1 if type(args[0]) is Opaque else _smaller(args, None)),
    **_for("_<_ _<=_ _>_ _>=_", _smaller, of_texts=True),
    **_for("_+_", lambda args, _: ceil((size(args[0]) + size(args[1])) * _STRING), of_texts=True),
    **_for("sets.contains sets.intersects", lambda args, _: 1 + size(args[0]) * size(args[1])),
    **_for("lists.range slice reverse", lambda _, result: _LISTED + len(result)),
    **_for("distinct sort", lambda args, _: _compared(args[0])),
    "@sortByAssociatedKeys": lambda args, _: _compared(args[1]),
    "flatten": lambda args, _: _LISTED + int(len(args[0]) * (1.0 if len(args) < 2 or args[1] < 0 else args[1])),
    "sets.equivalent": lambda args, _: 1 + 2 * size(args[0]) * size(args[1]),
    "join": lambda _, result: ceil(size(result) * 2 * _STRING),
    "contains": lambda args, _: _once(args, None) * ceil(size(args[1]) * _STRING),
    "containsIP": _contains_ip,
    "containsCIDR": lambda args, _: _contains_ip(args, None) + _once(args, None) + 1,
    "validate": _validate,
}
