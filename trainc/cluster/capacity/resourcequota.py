"""ResourceQuotas: which pods they count, what a pod must state, and which one is refused."""

from __future__ import annotations

from trainc.apiserver.pods.requests import Amount, amounts
from trainc.cluster.capacity.pods import zero_requests
from trainc.model.tree import get, plain, value
from trainc.text.quantity import DECIMAL, NANO, Quantity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from trainc.model.tree import Tree

Usage = dict[str, Quantity]
# Resources that every container has to state where a quota bounds them.
_STATED = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_ONE = Quantity(NANO, DECIMAL)


class Budget:
    """One ResourceQuota: what it bounds, what is used, and which pods it counts."""

    __slots__ = ("hard", "name", "scopes", "used")

    def __init__(self, name: str, tree: Tree) -> None:
        self.name = name
        self.hard = _quantities(get(tree, "status", "hard")) or _quantities(get(tree, "spec", "hard"))
        self.used = _quantities(get(tree, "status", "used"))
        scopes = plain(get(tree, "spec", "scopes"))
        self.scopes: list[Mapping[str, Any]] = [
            {"scopeName": scope, "operator": "Exists"} for scope in (scopes if type(scopes) is list else [])
        ]
        chosen = plain(get(tree, "spec", "scopeSelector", "matchExpressions"))
        self.scopes += [one for one in (chosen if type(chosen) is list else []) if type(one) is dict]

    def counts(self, pod: Tree) -> bool:
        """Whether the quota is about pods like this one."""
        return all(_in_scope(scope, pod) for scope in self.scopes)

    def unstated(self, containers: Iterable[tuple[str, Mapping[str, Amount], Mapping[str, Amount]]]) -> str:
        """What containers have to state and do not, in the API server's words; empty where nothing is missing."""
        required = [name for name in sorted(self.hard) if name in _STATED]
        missing: dict[str, list[str]] = {}
        for container, requests, limits in containers:
            stated = _usage(requests, limits)
            for name in required:
                if name not in stated:
                    missing.setdefault(name, []).append(container)
        if not missing:
            return ""
        parts = "; ".join(f"{name} for: {','.join(sorted(names))}" for name, names in missing.items())
        return f"failed quota: {self.name}: must specify {parts}"

    def refusal(self, usage: Usage, times: int = 1) -> str:
        """What the API server says where so many more objects exceed the quota, empty where they do not."""
        over = [
            name
            for name in sorted(usage)
            if name in self.hard
            and usage[name].nanos > 0
            and self.used.get(name, Quantity(0)).nanos + usage[name].nanos * times > self.hard[name].nanos
        ]
        if not over:
            return ""
        total = {name: amount.times(times) for name, amount in usage.items()}
        requested, used, limited = (
            ",".join(f"{name}={amounts_of.get(name, Quantity(0))}" for name in over)
            for amounts_of in (total, self.used, self.hard)
        )
        return f"exceeded quota: {self.name}, requested: {requested}, used: {used}, limited: {limited}"

    def add(self, usage: Usage, times: int = 1) -> None:
        """Count so many more objects."""
        for name, amount in usage.items():
            if name in self.hard:
                self.used[name] = self.used.get(name, Quantity(0, amount.family)).plus(amount.times(times))

    def with_usage(self, used: Usage) -> Budget:
        """The same quota with something else in use."""
        other = Budget.__new__(Budget)
        other.name, other.hard, other.scopes, other.used = self.name, self.hard, self.scopes, dict(used)
        return other


def pod_usage(requests: Mapping[str, Amount], limits: Mapping[str, Amount]) -> Usage:
    """What one pod costs of a quota."""
    return {"pods": _ONE, "count/pods": _ONE, **_usage(requests, limits)}


def object_usage(kind: str) -> Usage:
    """What one object of a kind costs: `jobs.batch`, `services`, `jobsets.jobset.x-k8s.io`."""
    usage = {f"count/{kind}": _ONE}
    if kind == "services":
        usage["services"] = _ONE
    return usage


def _usage(requests: Mapping[str, Amount], limits: Mapping[str, Amount]) -> Usage:
    usage: Usage = {}
    for name, amount in requests.items():
        if "/" in name and not name.startswith("kubernetes.io/"):
            usage[f"requests.{name}"] = amount.quantity
        elif name.startswith("hugepages-") or name in {"cpu", "memory", "ephemeral-storage"}:
            usage[name] = usage[f"requests.{name}"] = amount.quantity
    for name, amount in limits.items():
        if name in {"cpu", "memory", "ephemeral-storage"}:
            usage[f"limits.{name}"] = amount.quantity
    return usage


def _quantities(tree: Tree) -> Usage:
    return {name: amount.quantity for name, amount in amounts(tree).items()}


def _in_scope(scope: Mapping[str, Any], pod: Tree) -> bool:
    name: str = scope.get("scopeName") or ""
    if name in ("Terminating", "NotTerminating"):
        has_deadline = value(pod, "activeDeadlineSeconds") is not None
        return has_deadline == (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        return zero_requests(pod) == (name == "BestEffort")
    if name == "CrossNamespacePodAffinity":
        return _looks_at_other_namespaces(pod)
    if name != "PriorityClass":
        return False
    priority_class: str = value(pod, "priorityClassName") or ""
    operator, values = scope.get("operator"), scope.get("values") or []
    if operator in ("In", "NotIn"):
        return (priority_class in values) is (operator == "In")
    return bool(priority_class) is (operator == "Exists")


def _looks_at_other_namespaces(pod: Tree) -> bool:
    affinity = plain(get(pod, "affinity"))
    for kind in ("podAffinity", "podAntiAffinity"):
        rules = (affinity.get(kind) if type(affinity) is dict else None) or {}
        terms = list(rules.get("requiredDuringSchedulingIgnoredDuringExecution") or [])
        soft = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or []
        terms += [one.get("podAffinityTerm") or {} for one in soft]
        if any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms):
            return True
    return False
