"""What the API server would refuse in a policy or a binding, but for its expressions.

Source: pkg/apis/admissionregistration/validation/validation.go, Kubernetes 1.34.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainc.apiserver.cel.rules import RESERVED
from trainc.apiserver.names import qualified, subdomain
from trainc.apiserver.pods.complaints import items
from trainc.model.tree import Path, Tree, plain
from trainc.text.spelling import meant

Shape = dict[str, Any]

Complaint = tuple[Path, str, str, bool]  # where, what, what to do, whether the key is meant
_SELECTOR: Shape = {"matchLabels": {"*": str}, "matchExpressions": [{"key": str, "operator": str, "values": [str]}]}
_RULE: Shape = {
    "apiGroups": [str],
    "apiVersions": [str],
    "operations": [str],
    "resources": [str],
    "resourceNames": [str],
    "scope": str,
}
_RESOURCES: Shape = {
    "namespaceSelector": _SELECTOR,
    "objectSelector": _SELECTOR,
    "resourceRules": [_RULE],
    "excludeResourceRules": [_RULE],
    "matchPolicy": str,
}
POLICY: Shape = {
    "paramKind": {"apiVersion": str, "kind": str},
    "matchConstraints": _RESOURCES,
    "validations": [{"expression": str, "message": str, "reason": str, "messageExpression": str}],
    "failurePolicy": str,
    "auditAnnotations": [{"key": str, "valueExpression": str}],
    "matchConditions": [{"name": str, "expression": str}],
    "variables": [{"name": str, "expression": str}],
}
BINDING: Shape = {
    "policyName": str,
    "paramRef": {"name": str, "namespace": str, "selector": _SELECTOR, "parameterNotFoundAction": str},
    "matchResources": _RESOURCES,
    "validationActions": [str],
}
ACTIONS = ("Deny", "Warn", "Audit")
_CHOICES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Exact", "Equivalent"),
    "scope": ("*", "Cluster", "Namespaced"),
    "reason": ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"),
    "parameterNotFoundAction": ("Allow", "Deny"),
    "operator": ("DoesNotExist", "Exists", "In", "NotIn"),
}
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_MAX_CONDITIONS, _MAX_ANNOTATIONS, _MAX_VALUE = 64, 20, 5 * 1024
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")


def complaints(tree: Tree, shape: Shape, name: str) -> list[Complaint]:
    """What is wrong with the spec of a policy (`POLICY`) or a binding (`BINDING`) of that name."""
    spec = tree.get("spec") if type(tree) is dict else None
    wrong: list[Complaint] = [(("metadata", "name"), reason, "", False) for reason in subdomain(name)]
    wrong += _misfits(spec, shape, ("spec",))
    if wrong or type(spec) is not dict:
        return wrong
    held = plain(spec)
    return [*_choices(held, ("spec",)), *(_policy(held, name) if shape is POLICY else _binding(held))]


def _misfits(node: Tree, shape: Any, at: Path) -> Iterator[Complaint]:
    """Fields that the kind does not have, and values of the wrong type."""
    held = plain(node)
    if shape is str:
        if type(held) is not str and held is not None:
            yield at, f"`{at[-1]}` must be a string", "put it in quotes", False
    elif type(shape) is list:
        if held is not None and type(node) is not list:
            yield at, f"`{at[-1]}` must be a list", "begin each item with `- `", False
            return
        for index, item in enumerate(items(node)):
            if plain(item) is None:
                yield (*at, index), f"`{at[-1]}` contains an empty item", "remove it", False
            yield from _misfits(item, shape[0], (*at, index))
    elif type(node) is not dict:
        if held is not None or at == ("spec",):
            yield at, f"`{at[-1]}` must be a mapping", "write its fields below it, indented", False
    else:
        for key, inner in node.items():
            if "*" in shape:
                yield from _misfits(inner, shape["*"], (*at, key))
            elif key in shape:
                yield from _misfits(inner, shape[key], (*at, key))
            else:
                hint = meant(key, tuple(shape), f"known fields: {', '.join(shape)}")
                yield (*at, key), f"unknown field `{key}`", hint, True


def _choices(node: Any, at: Path) -> Iterator[Complaint]:
    """Words that are none of those that a field takes."""
    if type(node) is list:
        for index, item in enumerate(node):
            yield from _choices(item, (*at, index))
    elif type(node) is dict:
        for key, inner in node.items():
            allowed = _CHOICES.get(key)
            if allowed and type(inner) is str and inner not in allowed and at[-1] != "matchLabels":
                yield (*at, key), f"`{key}` cannot be `{inner}`", f"write one of {', '.join(allowed)}", False
            elif key == "operations":
                for index, word in enumerate(inner or ()):
                    if word not in _OPERATIONS:
                        help_ = f"write one of {', '.join(_OPERATIONS)}"
                        yield (*at, key, index), f"`{word}` is not an operation", help_, False
            else:
                yield from _choices(inner, (*at, key))


def _required(at: Path, why: str = "") -> Complaint:
    return at, f"`{at[-1]}` is required{f': {why}' if why else ''}", f"write `{at[-1]}`", False


def _policy(spec: dict[str, Any], name: str) -> Iterator[Complaint]:
    if (kind := spec.get("paramKind")) is not None:
        for field in ("apiVersion", "kind"):
            if not kind.get(field):
                yield _required(("spec", "paramKind", field))
    if (constraints := spec.get("matchConstraints")) is None:
        yield _required(("spec", "matchConstraints"))
    else:
        if not constraints.get("resourceRules"):
            yield _required(("spec", "matchConstraints", "resourceRules"))
        yield from _resources(constraints, ("spec", "matchConstraints"))
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield _required(("spec", "validations"), "validations or auditAnnotations must contain at least one item")
    yield from _expressions(spec)
    yield from _annotations(spec, name)
    for index, validation in enumerate(spec.get("validations") or ()):
        at: Path = ("spec", "validations", index)
        message = validation.get("message") or ""
        if message and not message.strip():
            yield (*at, "message"), "`message` is blank", "write what is wrong, or remove the field", False
        if "\n" in message.strip() or "\r" in message.strip():
            yield (*at, "message"), "`message` contains a line break", "write it on one line", False


def _expressions(spec: dict[str, Any]) -> Iterator[Complaint]:
    conditions = spec.get("matchConditions") or ()
    if len(conditions) > _MAX_CONDITIONS:
        yield ("spec", "matchConditions"), f"a policy has at most {_MAX_CONDITIONS} matchConditions", "join some", True
    for field in ("matchConditions", "variables"):
        names: set[str] = set()
        for index, one in enumerate(spec.get(field) or ()):
            at: Path = ("spec", field, index, "name")
            name = one.get("name") or ""
            if not name:
                yield _required(at)
            elif field == "variables" and (not _IDENTIFIER.fullmatch(name) or name in RESERVED):
                yield at, f"`{name}` is not a CEL identifier", "use letters, digits and `_`", False
            elif field == "matchConditions" and qualified(name):
                yield at, f"`{name}` is not a qualified name", "use letters, digits, `-`, `_` and `.`", False
            elif name in names and field == "matchConditions":
                yield at, f"there are two matchConditions `{name}`", "rename one of them", False
            names.add(name)


def _annotations(spec: dict[str, Any], policy: str) -> Iterator[Complaint]:
    annotations = spec.get("auditAnnotations") or ()
    if len(annotations) > _MAX_ANNOTATIONS:
        text = f"a policy has at most {_MAX_ANNOTATIONS} auditAnnotations"
        yield ("spec", "auditAnnotations"), text, "remove some", True
    keys: set[str] = set()
    for index, one in enumerate(annotations):
        at: Path = ("spec", "auditAnnotations", index)
        key = one.get("key") or ""
        if qualified(f"{policy}/{key}"):
            yield (*at, "key"), f"`{key}` is not a valid key", "use letters, digits, `-`, `_` and `.`", False
        if key in keys:
            yield (*at, "key"), f"there are two auditAnnotations `{key}`", "rename one of them", False
        if len(one.get("valueExpression") or "") > _MAX_VALUE:
            text = f"`valueExpression` has more than {_MAX_VALUE} bytes"
            yield (*at, "valueExpression"), text, "shorten it", False
        keys.add(key)


def _binding(spec: dict[str, Any]) -> Iterator[Complaint]:
    name = spec.get("policyName") or ""
    if not name:
        yield _required(("spec", "policyName"))
    for reason in subdomain(name) if name else ():
        yield ("spec", "policyName"), reason, "", False
    if (reference := spec.get("paramRef")) is not None:
        chosen = [field for field in ("name", "selector") if reference.get(field) is not None]
        if len(chosen) != 1:
            text = "`paramRef` must set exactly one of `name` and `selector`"
            yield ("spec", "paramRef"), text, "write one of them", True
        if not reference.get("parameterNotFoundAction"):
            yield _required(("spec", "paramRef", "parameterNotFoundAction"))
        yield from _selector(reference.get("selector"), ("spec", "paramRef", "selector"))
    yield from _resources(spec.get("matchResources") or {}, ("spec", "matchResources"))
    actions = spec.get("validationActions") or []
    at: Path = ("spec", "validationActions")
    if not actions:
        yield _required(at, "at least one validation action is required")
    for index, action in enumerate(actions):
        if action not in ACTIONS:
            yield (*at, index), f"`{action}` is not a validation action", f"write one of {', '.join(ACTIONS)}", False
        elif action in actions[:index]:
            yield (*at, index), f"`{action}` is listed twice", "remove one of them", False
    if "Deny" in actions and "Warn" in actions:
        yield at, "`validationActions` contains both Deny and Warn", "keep one of them", True


def _resources(resources: dict[str, Any], at: Path) -> Iterator[Complaint]:
    for field in ("namespaceSelector", "objectSelector"):
        yield from _selector(resources.get(field), (*at, field))
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(field) or ()):
            here: Path = (*at, field, index)
            for name in ("apiGroups", "apiVersions", "operations", "resources"):
                words = rule.get(name) or []
                if not words:
                    yield _required((*here, name))
                if name != "resources" and "*" in words and len(words) > 1:
                    yield (*here, name), "`*` must be the only item", "remove the others", True
                for number, word in enumerate(words):
                    if not word and name != "apiGroups":
                        yield (*here, name, number), f"`{name}` contains an empty string", "remove it", False
            yield from _resource_names(rule.get("resources") or [], (*here, "resources"))


def _resource_names(words: list[str], at: Path) -> Iterator[Complaint]:
    if "*/*" in words and len(words) > 1:
        yield at, "`*/*` must be the only item", "remove the others", True
    if "*" in words and any("/" not in word and word != "*" for word in words):
        yield at, "`*` must be the only resource", "remove the others", True


def _selector(selector: dict[str, Any] | None, at: Path) -> Iterator[Complaint]:
    for index, one in enumerate((selector or {}).get("matchExpressions") or ()):
        here: Path = (*at, "matchExpressions", index)
        operator, values = one.get("operator"), one.get("values") or []
        if not one.get("key"):
            yield _required((*here, "key"))
        if not operator:
            yield _required((*here, "operator"))
        elif operator in ("In", "NotIn") and not values:
            yield _required((*here, "values"), f"`{operator}` compares with them")
        elif operator in ("Exists", "DoesNotExist") and values:
            yield (*here, "values"), f"`{operator}` takes no values", "remove them", True
