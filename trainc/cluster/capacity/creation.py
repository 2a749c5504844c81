"""Which pods of a job the API server creates: priority and runtime classes, LimitRanges, ResourceQuotas."""

from __future__ import annotations

from trainc.apiserver.pods.requests import Amount, amounts, together
from trainc.cluster.capacity.amounts import all_units
from trainc.cluster.capacity.limitranger import Limits
from trainc.cluster.capacity.limits import may_be_of_pod
from trainc.cluster.capacity.resourcequota import Budget, object_usage, pod_usage
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from trainc.apiserver.pods.requests import Amounts
    from trainc.cluster.capacity.facts import ClusterFacts
    from trainc.model.tree import Tree


_ORIGIN = Origin(None, "Priority admission")


class Namespace:
    """What a namespace does to pods that are created in it."""

    def __init__(self, facts: ClusterFacts, name: str) -> None:
        self.facts = facts
        self.name = name
        self.limits = Limits(tree for _, tree in facts.in_namespace("LimitRange", name))
        self.budgets = [Budget(key, tree) for key, tree in facts.in_namespace("ResourceQuota", name)]
        classes = facts.objects.get("PriorityClass", {}) if self.budgets else {}
        defaults = [(value(tree, "value") or 0, key) for key, tree in classes.items() if value(tree, "globalDefault")]
        self.default_class: str = min(defaults)[1] if defaults else ""  # of pods that name none

    def amounts_of(self, pod: Tree) -> tuple[Amounts, Amounts]:
        """Requests and limits of a pod in all, with the namespace's defaults and its runtime's overhead."""
        requests = together(pod, lambda container: dict(self.limits.requests(container)))
        limits = together(pod, lambda container: dict(self.limits.limits(container)))
        if type(get(pod, "resources")) is dict:
            whole = {**amounts(get(pod, "resources", "limits")), **amounts(get(pod, "resources", "requests"))}
            requests.update({name: amount for name, amount in whole.items() if may_be_of_pod(name)})
            limits.update(amounts(get(pod, "resources", "limits")))
        own = get(pod, "overhead")
        if own is None:
            own = get(self.runtime_class(pod), "overhead", "podFixed")
        for name, amount in amounts(own).items():
            for into in (requests, limits):
                before = into.get(name)
                if before is not None or into is requests:
                    into[name] = Amount(before.quantity.plus(amount.quantity), ()) if before else amount
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
        for budget in self._budgets(pod):
            unstated = budget.unstated(self._containers(pod))
            if unstated:
                return f'pods "{name}" is forbidden: {unstated}'
        return ""

    def runtime_class(self, pod: Tree) -> Tree | None:
        """The RuntimeClass of a pod, None where it names none or the dump does not show it."""
        name = value(pod, "runtimeClassName")
        return self.facts.find("RuntimeClass", name) if type(name) is str else None

    def _runtime_refusal(self, pod: Tree) -> str:
        """What the API server says of a pod and its RuntimeClass, empty where they agree."""
        class_name = value(pod, "runtimeClassName")
        if class_name and not self._exists("RuntimeClass", class_name):
            return f'pod rejected: RuntimeClass "{class_name}" not found'
        runtime = self.runtime_class(pod)
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

    def runtime_scheduling(self, pod: Tree) -> dict[str, Any]:
        """The node selector and the tolerations that a pod's RuntimeClass adds to it."""
        scheduling = plain(get(self.runtime_class(pod), "scheduling"))
        if type(scheduling) is not dict:
            return {}
        return {field: scheduling[field] for field in ("nodeSelector", "tolerations") if scheduling.get(field)}

    def create_pod(self, pod: Tree, amounts: tuple[Amounts, Amounts], name: str) -> str:
        """Count one more pod; the refusal where a quota has no room for it."""
        budgets = list(self._budgets(pod))
        usage = pod_usage(*amounts)
        for budget in budgets:
            refused = budget.refusal(usage)
            if refused:
                return f'pods "{name}" is forbidden: {refused}'
        for budget in budgets:
            budget.add(usage)
        return ""

    def create_object(self, kind: str, name: str) -> str:
        """Count one more object of a kind; the refusal where a quota has no room for it."""
        usage = object_usage(kind)
        budgets = [budget for budget in self.budgets if not budget.scopes]
        for budget in budgets:
            refused = budget.refusal(usage)
            if refused:
                return f'{kind} "{name}" is forbidden: {refused}'
        for budget in budgets:
            budget.add(usage)
        return ""

    def is_counted(self, budget: Budget, pod: Tree) -> bool:
        """Whether a quota is about pods like this one, which have the default PriorityClass if they name none."""
        if type(pod) is dict and self.default_class and not value(pod, "priorityClassName"):
            pod = {**pod, "priorityClassName": Sourced(self.default_class, _ORIGIN)}
        return budget.counts(pod)

    def _budgets(self, pod: Tree) -> Iterator[Budget]:
        return (budget for budget in self.budgets if self.is_counted(budget, pod))

    def _exists(self, kind: str, name: str) -> bool:
        known = self.facts.is_listed(kind)
        return not known or name.startswith("system-") or self.facts.find(kind, name) is not None

    def _containers(self, pod: Tree) -> Iterator[tuple[str, Amounts, Amounts]]:
        for field in ("containers", "initContainers"):
            listed = get(pod, field)
            for container in listed if type(listed) is list else []:
                yield value(container, "name") or "", self.limits.requests(container), self.limits.limits(container)
