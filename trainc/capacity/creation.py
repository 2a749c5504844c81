"""Which pods of a job the API server creates: priority and runtime classes, LimitRanges, ResourceQuotas."""

from __future__ import annotations

from trainc.capacity.limitranger import Limits
from trainc.capacity.limits import may_be_of_pod
from trainc.capacity.resourcequota import Budget, object_usage, pod_usage
from trainc.model.requests import Amount, amounts, together
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.capacity.facts import Facts
    from trainc.model.requests import Amounts
    from trainc.model.tree import Tree


class Namespace:
    """What a namespace does to pods that are created in it."""

    def __init__(self, facts: Facts, name: str) -> None:
        self.facts = facts
        self.name = name
        self.limits = Limits(tree for _, tree in facts.in_namespace("LimitRange", name))
        self.budgets = [Budget(key, tree) for key, tree in facts.in_namespace("ResourceQuota", name)]

    def asked(self, pod: Tree) -> tuple[Amounts, Amounts]:
        """Requests and limits of a pod in all, with the namespace's defaults and its runtime's overhead."""
        requests = together(pod, lambda container: dict(self.limits.requests(container)))
        limits = together(pod, lambda container: dict(self.limits.limits(container)))
        if type(get(pod, "resources")) is dict:
            whole = {**amounts(get(pod, "resources", "limits")), **amounts(get(pod, "resources", "requests"))}
            requests.update({name: amount for name, amount in whole.items() if may_be_of_pod(name)})
            limits.update(amounts(get(pod, "resources", "limits")))
        own = get(pod, "overhead")
        if own is None:
            own = get(self.facts.find("RuntimeClass", value(pod, "runtimeClassName") or ""), "overhead", "podFixed")
        for name, amount in amounts(own).items():
            for into in (requests, limits):
                before = into.get(name)
                if before is not None or into is requests:
                    into[name] = Amount(before.quantity.plus(amount.quantity), ()) if before else amount
        return requests, limits

    def refusal(self, pod: Tree, name: str) -> str:
        """Why no pod like this one is created, whatever the namespace's quotas have left; empty where it may be."""
        found = value(pod, "priorityClassName")
        if found and not self._exists("PriorityClass", found):
            return f"no PriorityClass with name {found} was found"
        found = value(pod, "runtimeClassName")
        if found and not self._exists("RuntimeClass", found):
            return f'pod rejected: RuntimeClass "{found}" not found'
        refused = self.limits.refusal(pod)
        if refused:
            return refused
        if type(get(pod, "resources")) is not dict:
            for budget in self._budgets(pod):
                unstated = budget.unstated(self._containers(pod))
                if unstated:
                    return f'pods "{name}" is forbidden: {unstated}'
        return ""

    def create_pod(self, pod: Tree, asked: tuple[Amounts, Amounts], name: str) -> str:
        """Count one more pod; the refusal where a quota has no room for it."""
        budgets = list(self._budgets(pod))
        usage = pod_usage(*asked)
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

    def _budgets(self, pod: Tree) -> Iterator[Budget]:
        return (budget for budget in self.budgets if budget.counts(pod))

    def _exists(self, kind: str, name: str) -> bool:
        known = self.facts.is_listed(kind)
        return not known or name.startswith("system-") or self.facts.find(kind, name) is not None

    def _containers(self, pod: Tree) -> Iterator[tuple[str, Amounts, Amounts]]:
        for field in ("containers", "initContainers"):
            listed = get(pod, field)
            for container in listed if type(listed) is list else []:
                yield value(container, "name") or "", self.limits.requests(container), self.limits.limits(container)
