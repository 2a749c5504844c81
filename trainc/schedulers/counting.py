"""How big a gang is: its pods and what they ask for, as a scheduler counts and as the Trainer controller does."""

from __future__ import annotations

from trainc.model.gang import pods, size
from trainc.model.requests import pod_requests, total, written
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import get, value
from trainc.schedulers.keys import REQUESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.cluster import Cluster
    from trainc.model.plan import Plan, Role
    from trainc.model.tree import Tree

MEMBERS = "pods of the gang"


def minimum(plan: Plan, roles: Sequence[Role]) -> Sourced[int]:
    """The number of pods that have to be placed together: what an older job's scheduling policy says, else all."""
    said = policy(plan).get("minAvailable")
    return said if type(said) is Sourced and type(said.value) is int and said.value > 0 else whole(roles)


def whole(roles: Sequence[Role]) -> Sourced[int]:
    """The number of all pods of these roles."""
    return size(roles, MEMBERS)


def policy(plan: Plan) -> Tree:
    """The `runPolicy.schedulingPolicy` of an older job, empty for all others."""
    return {} if plan.gang is None else get(plan.gang, "older") or {}


def handed_on(plan: Plan) -> Tree:
    """The annotations that an older job hands on to its group, as a part of its metadata."""
    said = policy(plan).get("annotations")
    return {"annotations": said} if said else {}


def resources(plan: Plan, roles: Sequence[Role], cluster: Cluster, most: int) -> dict[str, Tree]:
    """What the first `most` pods ask for together, in the order of the roles; nothing is left out but zeros."""
    said = policy(plan).get("minResources")
    if type(said) is dict:
        return said
    asked = []
    # The operators of MPIJobs counted the launcher before its workers, which stand first here because it waits for them.
    first = sorted(roles, key=lambda role: role.name.value != "launcher") if policy(plan) else roles
    for role in first:
        count = min(pods(role), most)
        most -= count
        overhead = cluster.overhead(value(role.pod, "runtimeClassName"))
        one = pod_requests(role.pod, overhead=overhead, injected=cluster.injected)
        asked.append((one, count, (role.count, role.replicas)))
    return {name: leaf for name, leaf in written(total(asked), REQUESTS).items() if leaf.value != "0"}


def controllers_minimum(plan: Plan) -> Sourced[int]:
    """The minimum as the Trainer controller has it: every role counts, initializers too, `replicas` do not."""
    counted = sum(role.count.value for role in plan.roles)
    return derive(MEMBERS, lambda *_: counted, *(role.count for role in plan.roles))


def controllers_resources(plan: Plan) -> dict[str, Sourced[str]]:
    """The sum as the Trainer controller has it: written requests alone, limits never stand in, zeros stay."""
    asked = ((pod_requests(role.pod, limits=False), role.count.value, (role.count,)) for role in plan.roles)
    return written(total(asked), REQUESTS)
