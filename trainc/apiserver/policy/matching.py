"""Whether a policy or a binding is about a request.

Source: k8s.io/apiserver pkg/admission/plugin/policy/matching, pkg/admission/plugin/webhook/predicates (1.34).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.apiserver.policy.requests import UnknownFactError

if TYPE_CHECKING:
    from trainc.apiserver.policy.requests import AdmissionRequest


def matches(resources: dict[str, Any], request: AdmissionRequest, *, selects_all: bool) -> bool:
    """Whether matchConstraints or matchResources match; `selects_all` where no rules mean every request.

    Raises:
        UnknownFactError: where that depends on what is not known.
    """
    unknown: UnknownFactError | None = None
    try:
        if not _namespace(resources.get("namespaceSelector") or {}, request):
            return False
    except UnknownFactError as error:
        unknown = error
    selector = resources.get("objectSelector") or {}
    if not _is_empty(selector) and not selected(selector, request.labels()):
        return False
    policy = resources.get("matchPolicy") or "Equivalent"
    if _ruled(resources.get("excludeResourceRules") or [], request, policy):
        return False
    rules = resources.get("resourceRules") or []
    if not (selects_all and not rules) and not _ruled(rules, request, policy):
        return False
    if unknown is not None:
        raise unknown
    return True


def _is_empty(selector: dict[str, Any]) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def _namespace(selector: dict[str, Any], request: AdmissionRequest) -> bool:
    if _is_empty(selector) or (request.is_cluster_scoped and request.resource != "namespaces"):
        return True
    return selected(selector, request.namespace_labels())


def selected(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether labels fit a label selector."""
    for key, wanted in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != wanted:
            return False
    for rule in selector.get("matchExpressions") or ():
        key, operator, values = rule["key"], rule["operator"], rule.get("values") or []
        if operator == "In" and labels.get(key) not in values:
            return False
        if operator == "NotIn" and key in labels and labels[key] in values:
            return False
        if operator == "Exists" and key not in labels:
            return False
        if operator == "DoesNotExist" and key in labels:
            return False
    return True


def _ruled(rules: list[dict[str, Any]], request: AdmissionRequest, policy: str) -> bool:
    for rule in rules:
        if _rule(rule, request, request.version) and _named(rule, request):
            return True
    if policy == "Exact":
        return False
    for rule in rules:
        for version in request.equivalents:
            if _rule(rule, request, version) and _named(rule, request):
                raise UnknownFactError(f"{request.kind} as {request.group}/{version}, to which the server converts it")
    return False


def _named(rule: dict[str, Any], request: AdmissionRequest) -> bool:
    names = rule.get("resourceNames") or []
    if not names:
        return True
    if request.name is None:
        raise UnknownFactError("names that the server generates")
    return request.name in names


def _rule(rule: dict[str, Any], request: AdmissionRequest, version: str) -> bool:
    scope = rule.get("scope") or "*"
    is_cluster = request.is_cluster_scoped or (request.group == "" and request.resource == "namespaces")
    if scope != "*" and (scope == "Cluster") != is_cluster:
        return False
    words = (("operations", "CREATE"), ("apiGroups", request.group), ("apiVersions", version))
    if not all(any(word in ("*", wanted) for word in rule.get(field) or ()) for field, wanted in words):
        return False
    for word in rule.get("resources") or ():
        name, _, sub = word.partition("/")
        if name in ("*", request.resource) and sub in ("", "*"):
            return True
    return False
