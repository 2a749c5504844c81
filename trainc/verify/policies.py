"""What is worth a look in the failure policies: that of each Job, and that of the JobSet."""

from __future__ import annotations

from trainc.model.remembered import Nodes
from trainc.model.sourced import Sourced
from trainc.verify.rules.bundles import ends_job, on_disruption, reacts
from trainc.verify.values import rows, table, text, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.verify.job import Job


class PodPolicy:
    """A pod failure policy: whether it fails the Job at all, and whether it does when a pod is disrupted."""

    __slots__ = ("disrupted", "failing", "traits")

    def __init__(self, tree: Tree) -> None:
        rules = rows(tree, "rules") if type(tree) is dict else []
        failing = [rule for rule in rules if ends_job(rule)]
        self.failing = bool(failing)
        self.disrupted = any(map(on_disruption, failing))
        traits = set()
        if any(map(_odd, rules)):
            traits.add("odd failure rule")
        if any("containerName" in table(rule, "onExitCodes") for rule in rules):
            traits.add("container of failure rule")
        self.traits = frozenset(traits)


def _odd(rule: Tree) -> bool:
    codes, conditions = table(rule, "onExitCodes"), rows(rule, "onPodConditions")
    if bool(codes) == bool(conditions) or text(rule, "action") == "FailIndex":
        return True
    values = codes.get("values")
    if not codes or type(values) is not list:
        return bool(codes)
    numbers = [leaf.value for leaf in values if type(leaf) is Sourced and type(leaf.value) is int]
    return not numbers or 0 in numbers or numbers != sorted(set(numbers))


_POD_POLICIES = Nodes(PodPolicy)


def policies(found: set[str], job: Job) -> list[str]:
    """Add the traits of all failure policies of a job; the fields of the JobSet's own."""
    fields: list[str] = []
    reacting = failing = disrupted = False
    if "failurePolicy" in job.spec:
        policy = table(job.spec, "failurePolicy")
        fields += policy
        restarts = whole(policy, "maxRestarts")
        if type(restarts) is int and restarts < 0:
            found.add("negative restarts")
        rules = rows(policy, "rules") if "rules" in policy else []
        if len(rules) > 1:
            found.add("several rules")
        for rule in rules:
            fields += rule
            reacting = reacting or reacts(rule)
    else:
        found.add("no failurePolicy")
    for role in job.roles:
        if "podFailurePolicy" in role.spec:
            own = _POD_POLICIES[role.spec["podFailurePolicy"]]
            found |= own.traits
            failing, disrupted = failing or own.failing, disrupted or own.disrupted
            if role.restart_policy != "Never":
                found.add("podFailurePolicy without Never")
    if (reacting and not failing) or (disrupted and not reacting):
        found.add("half maintenance")
    return fields
