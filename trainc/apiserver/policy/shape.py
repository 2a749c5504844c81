"""What the API server would refuse in a policy or a binding, but for its expressions.

Source: pkg/apis/admissionregistration/validation/validation.go, Kubernetes 1.34.
"""

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
_LISTS = ("apiGroups", "apiVersions", "operations", "resources", "resourceNames")
_RULE: Shape = {**{name: [str] for name in _LISTS}, "scope": str}
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
# What a map must say, by the field that holds it or a list of such maps.
_REQUIRED: dict[object, tuple[str, ...]] = {
    "paramKind": ("apiVersion", "kind"),
    "paramRef": ("parameterNotFoundAction",),
    "matchConstraints": ("resourceRules",),
    "resourceRules": _LISTS[:4],
    "excludeResourceRules": _LISTS[:4],
    "matchConditions": ("name",),
    "variables": ("name",),
    "matchExpressions": ("key", "operator"),
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
    return [*_inner(held, ("spec",)), *(_policy(held, name) if shape is POLICY else _binding(held))]


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


def _inner(node: Any, at: Path) -> Iterator[Complaint]:
    """What is wrong with parts of a spec wherever they stand: what they lack, and words that a field does not take."""
    if type(node) is list:
        for index, item in enumerate(node):
            yield from _inner(item, (*at, index))
    if type(node) is not dict:
        return
    holder = at[-1] if type(at[-1]) is str else at[-2]
    for field in _REQUIRED.get(holder, ()):
        if not node.get(field):
            yield _required((*at, field))
    if holder in ("resourceRules", "excludeResourceRules"):
        yield from _rule(node, at)
    operator, values = node.get("operator"), node.get("values") or []
    if holder == "matchExpressions" and operator in ("In", "NotIn") and not values:
        yield _required((*at, "values"), f"`{operator}` compares with them")
    elif holder == "matchExpressions" and operator in ("Exists", "DoesNotExist") and values:
        yield (*at, "values"), f"`{operator}` takes no values", "remove them", True
    for key, inner in node.items():
        allowed = _CHOICES.get(key)
        if allowed and type(inner) is str and inner not in allowed and holder != "matchLabels":
            yield (*at, key), f"`{key}` cannot be `{inner}`", f"write one of {', '.join(allowed)}", False
        else:
            yield from _inner(inner, (*at, key))


def _required(at: Path, why: str = "") -> Complaint:
    return at, f"`{at[-1]}` is required{f': {why}' if why else ''}", f"write `{at[-1]}`", False


def _rule(rule: dict[str, Any], at: Path) -> Iterator[Complaint]:
    for name in _LISTS[:4]:
        words = rule.get(name) or []
        if name != "resources" and "*" in words and len(words) > 1:
            yield (*at, name), "`*` must be the only item", "remove the others", True
        for number, word in enumerate(words):
            if not word and name != "apiGroups":
                yield (*at, name, number), f"`{name}` contains an empty string", "remove it", False
            if name == "operations" and word not in _OPERATIONS:
                help_ = f"write one of {', '.join(_OPERATIONS)}"
                yield (*at, name, number), f"`{word}` is not an operation", help_, False
    words = rule.get("resources") or []
    if "*/*" in words and len(words) > 1:
        yield (*at, "resources"), "`*/*` must be the only item", "remove the others", True
    if "*" in words and any("/" not in word and word != "*" for word in words):
        yield (*at, "resources"), "`*` must be the only resource", "remove the others", True


def _policy(spec: dict[str, Any], policy: str) -> Iterator[Complaint]:
    if spec.get("matchConstraints") is None:
        yield _required(("spec", "matchConstraints"))
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield _required(("spec", "validations"), "validations or auditAnnotations must contain at least one item")
    for field, most, help_ in (
        ("matchConditions", _MAX_CONDITIONS, "join some"),
        ("auditAnnotations", _MAX_ANNOTATIONS, "remove some"),
    ):
        if len(spec.get(field) or ()) > most:
            yield ("spec", field), f"a policy has at most {most} {field}", help_, True
    at: Path
    names: set[str] = set()
    for index, one in enumerate(spec.get("matchConditions") or ()):
        at, name = ("spec", "matchConditions", index, "name"), one.get("name") or ""
        if name and qualified(name):
            yield at, f"`{name}` is not a qualified name", "use letters, digits, `-`, `_` and `.`", False
        elif name and name in names:
            yield at, f"there are two matchConditions `{name}`", "rename one of them", False
        names.add(name)
    for index, one in enumerate(spec.get("variables") or ()):
        name = one.get("name") or ""
        if name and (not _IDENTIFIER.fullmatch(name) or name in RESERVED):
            at = ("spec", "variables", index, "name")
            yield at, f"`{name}` is not a CEL identifier", "use letters, digits and `_`", False
    keys: set[str] = set()
    for index, one in enumerate(spec.get("auditAnnotations") or ()):
        at, key = ("spec", "auditAnnotations", index), one.get("key") or ""
        if qualified(f"{policy}/{key}"):
            yield (*at, "key"), f"`{key}` is not a valid key", "use letters, digits, `-`, `_` and `.`", False
        if key in keys:
            yield (*at, "key"), f"there are two auditAnnotations `{key}`", "rename one of them", False
        if len(one.get("valueExpression") or "") > _MAX_VALUE:
            text = f"`valueExpression` has more than {_MAX_VALUE} bytes"
            yield (*at, "valueExpression"), text, "shorten it", False
        keys.add(key)
    for index, validation in enumerate(spec.get("validations") or ()):
        at, message = ("spec", "validations", index, "message"), validation.get("message") or ""
        if message and not message.strip():
            yield at, "`message` is blank", "write what is wrong, or remove the field", False
        if "\n" in message.strip() or "\r" in message.strip():
            yield at, "`message` contains a line break", "write it on one line", False


def _binding(spec: dict[str, Any]) -> Iterator[Complaint]:
    name, actions = spec.get("policyName") or "", spec.get("validationActions") or []
    if not name:
        yield _required(("spec", "policyName"))
    for reason in subdomain(name) if name else ():
        yield ("spec", "policyName"), reason, "", False
    if (reference := spec.get("paramRef")) is not None:
        chosen = [field for field in ("name", "selector") if reference.get(field) is not None]
        if len(chosen) != 1:
            text = "`paramRef` must set exactly one of `name` and `selector`"
            yield ("spec", "paramRef"), text, "write one of them", True
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
