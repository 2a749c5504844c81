"""JobSets that JobSet's webhooks take as they are, told at one look instead of asking rule by rule."""

from __future__ import annotations

from trainc.model.remembered import Nodes
from trainc.server.jobset.failure import PLAIN
from trainc.server.names import dns1035
from trainc.server.webhook import of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

_MAX_INT32 = 2**31 - 1
_NETWORK = frozenset({"enableDNSHostnames", "publishNotReadyAddresses"})
_SELDOM = frozenset({"coordinator", "managedBy", "volumeClaimPolicies"})


def is_usual(tree: Tree) -> bool:
    """Whether the webhooks are sure to have nothing to add to a new JobSet that fits its schema, and nothing against it."""
    try:
        spec = tree["spec"]
        if not _SELDOM.isdisjoint(spec) or "startupPolicy" not in spec or spec["network"].keys() != _NETWORK:
            return False
        if "targetReplicatedJobs" in spec["successPolicy"]:
            return False
        if "failurePolicy" in spec and not _SETTLED[spec["failurePolicy"]]:
            return False
        prefix = f"{tree['metadata']['name'].value}-"
        for job in spec["replicatedJobs"]:
            if not _is_usual(job, prefix):
                return False
    except (KeyError, AttributeError, TypeError):
        return False
    return True


def _is_usual(job: Tree, prefix: str) -> bool:
    """Whether a role waits for no other, says what would be added to it, and its names are short enough."""
    spec = job["template"]["spec"]
    if "dependsOn" in job or job["groupName"].value != "default" or spec["completionMode"].value != "Indexed":
        return False
    if not spec["template"]["spec"]["restartPolicy"].value:
        return False
    replicas, pods, parallelism = job["replicas"].value, spec["completions"].value, spec["parallelism"].value
    if not replicas.__class__ is pods.__class__ is parallelism.__class__ is int:
        return False
    last = f"{prefix}{job['name'].value}-{replicas - 1}-{pods - 1}-abcde"  # the longest name of a pod
    return replicas * parallelism <= _MAX_INT32 and not dns1035(last)


def _is_settled(policy: Tree) -> bool:
    """Whether there is nothing against a failure policy, and all of its rules have names."""
    return PLAIN[policy] and all(of(rule, "name") for rule in policy.get("rules", ()))


_SETTLED = Nodes(_is_settled)  # most jobs have the failure policy of their runtime
