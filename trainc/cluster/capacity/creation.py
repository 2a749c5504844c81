"""Which pods of a job the API server creates: priority and runtime classes, LimitRanges, ResourceQuotas.

LimitRanges write their defaults first, then every range is checked for itself; a ResourceQuota says which pods it counts
and what a pod must state.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.pods.requests import Amount, Amounts, add, amounts, may_be_of_pod, together
from trainc.cluster.capacity.amounts import all_units
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.limit_ranges import LimitRanges, containers_of
from trainc.cluster.capacity.pods import required_peers
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, plain, value
from trainc.text.quantity import DECIMAL, NANO, Quantity

_ORIGIN = Origin(None, "Priority admission")
Usage = dict[str, Quantity]
# Resources that every container has to state where a quota bounds them.
_STATED = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory")
_ONE = Quantity(NANO, DECIMAL)


class Namespace:
    """What a namespace does to pods that are created in it."""

    def __init__(self, facts: ClusterFacts, name: str) -> None:
        self.facts = facts
        self.name = name
        self.limits = LimitRanges(tree for _, tree in facts.in_namespace("LimitRange", name))
        self.budgets = [Budget(key, tree) for key, tree in facts.in_namespace("ResourceQuota", name)]
        classes = facts.objects.get("PriorityClass", {}) if self.budgets else {}
        defaults = [(value(tree, "value") or 0, key) for key, tree in classes.items() if value(tree, "globalDefault")]
        self.default_class: str = min(defaults)[1] if defaults else ""  # of pods that name none

    def amounts_of(self, pod: Tree) -> tuple[Amounts, Amounts]:
        """Requests and limits of a pod in all, with the namespace's defaults and its runtime's overhead."""
        requests, limits = together(pod, self.limits.requests), together(pod, self.limits.limits)
        if type(get(pod, "resources")) is dict:
            whole = {**amounts(get(pod, "resources", "limits")), **amounts(get(pod, "resources", "requests"))}
            requests.update({name: amount for name, amount in whole.items() if may_be_of_pod(name)})
            limits.update(amounts(get(pod, "resources", "limits")))
        own = get(pod, "overhead")
        overhead = amounts(get(self.facts.runtime_class(pod), "overhead", "podFixed") if own is None else own)
        add(requests, overhead)
        add(limits, {name: amount for name, amount in overhead.items() if name in limits})
        return requests, limits

    def refusal(self, pod: Tree, name: str) -> str:
        """Why no pod like this one is created, whatever the namespace's quotas have left; empty where it may be."""
        priority_class = value(pod, "priorityClassName")
        if priority_class and not self._exists("PriorityClass", priority_class):
            return f"no PriorityClass with name {priority_class} was found"
        return self._runtime_refusal(pod) or self.limits.refusal(pod) or self.unstated(pod, name)

    def unstated(self, pod: Tree, name: str) -> str:
        """What a quota wants every container to state and one does not; empty where LimitRanges may fill it in."""
        if type(get(pod, "resources")) is dict or not self.facts.is_listed("LimitRange"):
            return ""
        limits = self.limits
        stated = [
            (value(one, "name") or "", _usage(limits.requests(one), limits.limits(one)))
            for _, one in containers_of(pod)
        ]
        for budget in self.budgets_of(pod):
            required = [resource for resource in sorted(budget.hard) if resource in _STATED]
            lacking = {resource: sorted(one for one, usage in stated if resource not in usage) for resource in required}
            # The order in which the server comes upon what is missing, container by container.
            order = [resource for _, usage in stated for resource in required if resource not in usage]
            if parts := "; ".join(
                f"{resource} for: {','.join(lacking[resource])}" for resource in dict.fromkeys(order)
            ):
                return f'pods "{name}" is forbidden: failed quota: {budget.name}: must specify {parts}'
        return ""

    def _runtime_refusal(self, pod: Tree) -> str:
        """What the API server says of a pod and its RuntimeClass, empty where they agree."""
        if (class_name := value(pod, "runtimeClassName")) and not self._exists("RuntimeClass", class_name):
            return f'pod rejected: RuntimeClass "{class_name}" not found'
        runtime = self.facts.runtime_class(pod)
        fixed, own = amounts(get(runtime, "overhead", "podFixed")), amounts(get(pod, "overhead"))
        if own and runtime is not None and all_units(fixed) != all_units(own):
            return "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
        selector, wanted = plain(get(pod, "nodeSelector")), plain(get(runtime, "scheduling", "nodeSelector"))
        for key in sorted(wanted if type(wanted) is dict and type(selector) is dict else {}):
            if selector.get(key, wanted[key]) != wanted[key]:
                return (
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {wanted[key]}; "
                    f"pod.spec.nodeSelector[{key}] = {selector[key]}"
                )
        return ""

    def is_counted(self, budget: "Budget", pod: Tree) -> bool:
        """Whether a quota is about pods like this one, which have the default PriorityClass if they name none."""
        if type(pod) is dict and self.default_class and not value(pod, "priorityClassName"):
            pod = {**pod, "priorityClassName": Sourced(self.default_class, _ORIGIN)}
        return budget.counts(pod)

    def budgets_of(self, pod: Tree) -> "list[Budget]":
        return [budget for budget in self.budgets if self.is_counted(budget, pod)]

    def _exists(self, kind: str, name: str) -> bool:
        return not self.facts.is_listed(kind) or name.startswith("system-") or self.facts.find(kind, name) is not None


def charge(budgets: "Sequence[Budget]", usage: Usage, subject: str) -> str:
    """Count one more object where its quotas have room; the refusal where one has none."""
    for budget in budgets:
        if refused := budget.refusal(usage):
            return f"{subject} is forbidden: {refused}"
    for budget in budgets:
        budget.add(usage)
    return ""


class Budget:
    """One ResourceQuota: what it bounds, what is used, and which pods it counts."""

    def __init__(self, name: str, tree: Tree) -> None:
        self.name = name
        self.hard = _quantities(get(tree, "status", "hard")) or _quantities(get(tree, "spec", "hard"))
        self.used = _quantities(get(tree, "status", "used"))
        chosen = get(tree, "spec", "scopeSelector", "matchExpressions")
        scopes = items(plain(get(tree, "spec", "scopes")))
        self.scopes: list[Mapping[str, Any]] = [{"scopeName": scope, "operator": "Exists"} for scope in scopes]
        self.scopes += [one for one in items(plain(chosen)) if type(one) is dict]

    def counts(self, pod: Tree) -> bool:
        return all(_in_scope(scope, pod) for scope in self.scopes)

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
        for name, amount in usage.items():
            if name in self.hard:
                self.used[name] = self.used.get(name, Quantity(0, amount.family)).plus(amount.times(times))

    def with_usage(self, used: Usage) -> "Budget":
        other = copy(self)
        other.used = dict(used)
        return other


def pod_usage(requests: Mapping[str, Amount], limits: Mapping[str, Amount]) -> Usage:
    return {"pods": _ONE, "count/pods": _ONE, **_usage(requests, limits)}


def object_usage(kind: str) -> Usage:
    """What one object of a kind costs: `jobs.batch`, `services`, `jobsets.jobset.x-k8s.io`."""
    return {f"count/{kind}": _ONE} | ({"services": _ONE} if kind == "services" else {})


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
        return (value(pod, "activeDeadlineSeconds") is not None) == (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        # A pod whose containers ask for nothing is a best-effort one.
        holders = [*(one for _, one in containers_of(pod)), *([pod] if type(get(pod, "resources")) is dict else [])]
        listed = [amounts(get(one, "resources", part)) for one in holders for part in ("requests", "limits")]
        asks = any(a.quantity.nanos for one in listed for name, a in one.items() if name in {"cpu", "memory"})
        return asks == (name == "NotBestEffort")
    if name == "CrossNamespacePodAffinity":
        affinity = fields(plain(get(pod, "affinity")))
        terms = [
            one for kind in ("podAffinity", "podAntiAffinity") for one in required_peers({"affinity": affinity}, kind)
        ]
        for rules in (affinity.get("podAffinity") or {}, affinity.get("podAntiAffinity") or {}):
            soft = rules.get("preferredDuringSchedulingIgnoredDuringExecution") or []
            terms += [one.get("podAffinityTerm") or {} for one in soft]
        return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)
    if name != "PriorityClass":
        return False
    priority_class: str = value(pod, "priorityClassName") or ""
    operator, values = scope.get("operator"), scope.get("values") or []
    if operator in ("In", "NotIn"):
        return (priority_class in values) is (operator == "In")
    return bool(priority_class) is (operator == "Exists")
