"""How big a gang is: its pods and what they ask for, as a scheduler counts and as the Trainer controller does."""

from collections.abc import Sequence

from trainc.apiserver.pods.requests import pod_requests, total, written
from trainc.model.cluster import Cluster
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, get, value
from trainc.schedulers.gang import REQUESTS, pods, size

MEMBERS = "pods of the gang"


def minimum(plan: Plan, roles: Sequence[Role]) -> Sourced[int]:
    """The number of pods that have to be placed together: what an older job's scheduling policy says, else all."""
    written = policy(plan).get("minAvailable")
    if type(written) is not Sourced or type(written.value) is not int:
        return whole(roles)
    return written if written.value > 0 or "minTaskMember" in policy(plan) else whole(roles)


def whole(roles: Sequence[Role]) -> Sourced[int]:
    """The number of all pods of these roles."""
    return size(roles, MEMBERS)


def policy(plan: Plan) -> Tree:
    """What a job of another operator asks of its scheduler (`runPolicy.schedulingPolicy`), empty for all others."""
    return {} if plan.gang is None else get(plan.gang, "older") or {}


def handed_on(plan: Plan) -> Tree:
    """The labels and annotations that a job hands on to its group, as a part of its metadata."""
    written = policy(plan)
    return {section: written[section] for section in ("labels", "annotations") if written.get(section)}


def resources(plan: Plan, roles: Sequence[Role], cluster: Cluster, most: int) -> dict[str, Tree]:
    """What the first `most` pods ask for together, in the order of the roles; nothing is left out but zeros."""
    asked_for = policy(plan).get("minResources")
    if type(asked_for) is dict:
        return asked_for
    if value(policy(plan), "wholeResources") is True:
        most = whole(roles).value
    requests, tasks = [], policy(plan).get("minTaskMember")
    # The operators of MPIJobs counted the launcher before its workers, which stand first here because it waits for them.
    ordered = sorted(roles, key=lambda role: role.name.value != "launcher") if policy(plan) else roles
    counted = _first(ordered, most) if tasks is None else _volcanos(roles, tasks, cluster, most)
    for role, count in counted:
        overhead = cluster.overhead(value(role.pod, "runtimeClassName"))
        one = pod_requests(role.pod, overhead=overhead, injected=cluster.injected)
        requests.append((one, count, (role.count, role.replicas)))
    for role in plan.roles:
        if role.name.value in (policy(plan).get("reserved") or ()):  # a place is kept for it, though it is no member
            one = pod_requests(role.pod, injected=cluster.injected)
            requests.append((one, pods(role), (role.count, role.replicas)))
    return {name: leaf for name, leaf in written(total(requests), REQUESTS).items() if leaf.value != "0"}


def _first(roles: Sequence[Role], most: int) -> list[tuple[Role, int]]:
    out = []
    for role in roles:
        out.append((role, min(pods(role), most)))
        most -= out[-1][1]
    return out


def _volcanos(roles: Sequence[Role], tasks: Tree, cluster: Cluster, most: int) -> list[tuple[Role, int]]:
    """The pods that Volcano counts for a Job: by priority class, and first the minimum of each task."""
    classes = cluster.objects.get("PriorityClass", {})
    listed = {name: index for index, name in enumerate(tasks)}
    written = sorted(roles, key=lambda role: listed[role.name.value])
    order = sorted(written, key=lambda role: -(value(classes.get(value(role.pod, "priorityClassName")), "value") or 0))
    least = {role.name.value: tasks[role.name.value].value for role in order}
    rest = most - sum(least.values())
    if rest < 0:
        return _first(order, most)
    out = []
    for role in order:
        more = min(pods(role) - least[role.name.value], rest)
        rest -= more
        out.append((role, least[role.name.value] + more))
    return out


def controllers_minimum(plan: Plan) -> Sourced[int]:
    """The minimum as the Trainer controller has it: every role counts, initializers too, `replicas` do not."""
    counted = sum(role.count.value for role in plan.roles)
    return derive(MEMBERS, lambda *_: counted, *(role.count for role in plan.roles))


def controllers_resources(plan: Plan) -> dict[str, Sourced[str]]:
    """The sum as the Trainer controller has it: written requests alone, limits never stand in, zeros stay."""
    requests = ((pod_requests(role.pod, limits=False), role.count.value, (role.count,)) for role in plan.roles)
    return written(total(requests), REQUESTS)
