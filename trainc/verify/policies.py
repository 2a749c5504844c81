"""What is worth a look in the failure policies: that of each Job, and that of the JobSet."""

from __future__ import annotations

from trainc.model.remembered import Nodes
from trainc.verify.rules.bundles import ends_job, on_disruption, reacts
from trainc.verify.values import rows, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree


class PodPolicy:
    """A pod failure policy: whether it fails the Job at all, and whether it does when a pod is disrupted."""

    __slots__ = ("disrupted", "failing")

    def __init__(self, tree: Tree) -> None:
        rules = rows(tree, "rules") if type(tree) is dict else []
        failing = [rule for rule in rules if ends_job(rule)]
        self.failing = bool(failing)
        self.disrupted = any(map(on_disruption, failing))


class Failures:
    """The failure policy of a JobSet: whether it makes a difference between failures, and what is worth a look."""

    __slots__ = ("reacting", "traits")

    def __init__(self, tree: Tree) -> None:
        policy = tree if type(tree) is dict else {}
        restarts, rules = whole(policy, "maxRestarts"), rows(policy, "rules")
        self.reacting = any(map(reacts, rules))
        traits = {*policy, *(field for rule in rules for field in rule)}
        if tree is None:
            traits.add("no failurePolicy")
        if type(restarts) is int and restarts < 0:
            traits.add("negative restarts")
        if len(rules) > 1:
            traits.add("several rules")
        self.traits = frozenset(traits)


# By the policy itself, None for a job without one.
POD_POLICIES, FAILURES = Nodes(PodPolicy), Nodes(Failures)
