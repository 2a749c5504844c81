"""Volcano: a PodGroup with queue, priority and topology, and an annotation on every pod that belongs to it."""

from trainc.model.cluster import REPLICAS, ROLES, Cluster
from trainc.model.finding import ERROR, Refusal, Rule
from trainc.model.patch import LITERALS, Patch
from trainc.model.patches import Contribution, Scheduler, pod
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, filled, get, given, value
from trainc.schedulers.counting import controllers_minimum, controllers_resources, handed_on, minimum, resources, whole
from trainc.schedulers.counting import policy as policy_of
from trainc.schedulers.gang import (
    VOLCANO_QUEUE_LABEL,
    VOLCANO_TOPOLOGY_MODE,
    VOLCANO_TOPOLOGY_TIER,
    common_priority,
    members,
    metadata_value,
    scheduler_name,
    unbound,
)
from trainc.text.numbers import whole_number
from trainc.text.object_keys import JOB_INDEX_LABEL, REPLICATED_JOB, VOLCANO_GROUP, VOLCANO_QUEUE, VOLCANO_TASK

NAME = "volcano"
_LITERALS = LITERALS[NAME]
_API_VERSION, _KIND = _LITERALS.tree("scheduling.volcano.sh/v1beta1"), _LITERALS.tree("PodGroup")
_HARD = _LITERALS.tree("hard")
SYSTEM_CLASSES = ("system-cluster-critical", "system-node-critical")

REFUSED = Rule("volcano-policy-refused", ERROR, verdict=True)


def gang(plan: Plan, cluster: Cluster) -> Contribution:
    """A PodGroup over the pods that run together, their annotations and their scheduler."""
    roles = members(plan.roles)
    name = {"schedulerName": _LITERALS.tree(scheduler_name(cluster, NAME))}
    patches: list[Patch] = []
    is_job = "minTaskMember" in policy_of(plan)
    for role in plan.roles:
        if role in roles:
            task = {VOLCANO_TASK: role.name} if cluster.unit == ROLES or is_job else {}
            own = is_job and "schedulerName" in role.pod
            patches.append(Patch(role.index, annotations={VOLCANO_GROUP: plan.name, **task}, pod={} if own else name))
        else:
            patches += unbound(role).patches
    objects = [_pod_group(plan, _spec(plan, cluster, roles))] if roles else []
    return Contribution(patches, objects=objects, sourced=True)


def policy(plan: Plan) -> Contribution:
    """What the Trainer controller makes of `podGroupPolicy.volcano`: all pods, no scheduler name.

    The last role with a priority class names the group's.
    """
    spec: dict[str, Tree] = {"minMember": controllers_minimum(plan), "minResources": controllers_resources(plan)}
    if (queue := get(plan.template, "metadata", "annotations", VOLCANO_QUEUE)) is not None:
        spec["queue"] = queue
    for role in plan.roles:
        if value(role.pod, "priorityClassName"):
            spec["priorityClassName"] = role.pod["priorityClassName"]
    if topology := _policy_topology(plan):
        spec["networkTopology"] = topology
    annotated = (pod(role, annotations={VOLCANO_GROUP: plan.name}) for role in plan.roles)
    return sum(annotated, Contribution(objects=[_pod_group(plan, spec)]))


def refuse(plan: Plan, cluster: Cluster, report: Report) -> None:
    """The TrainJob webhook's own refusals, where a runtime's `podGroupPolicy` selects Volcano."""
    path = ("metadata", "annotations", VOLCANO_QUEUE)
    queue = get(plan.template, *path)
    if type(queue) is Sourced and queue.value == "":
        text = f'spec.annotations[{VOLCANO_QUEUE}]: Invalid value: "": Volcano queue name must not be empty'
        at = queue.origin.at or plan.document.span(("metadata", "name"))
        help_ = "name a queue of the cluster, or remove the annotation"
        report.add(REFUSED.at(at, f"`{VOLCANO_QUEUE}` is empty", help=help_, refusal=Refusal("webhook", text)))
    known = cluster.names("PriorityClass")
    for role in plan.roles:
        leaf = role.pod.get("priorityClassName")
        if type(leaf) is not Sourced or not leaf.value:
            continue
        if leaf.value in SYSTEM_CLASSES:
            return  # the webhook looks no further once it has met one of these
        if known is None:
            report.skip("whether the PriorityClass exists")
        elif leaf.value not in known:
            name, field = leaf.value, "spec.templateSpec.priorityClassName"
            missing = f'PriorityClass "{name}" doesn\'t exist: priorityclasses.scheduling.k8s.io "{name}" not found'
            at = leaf.origin.at or plan.document.span(("metadata", "name"))
            help_ = "name an existing one, or add its manifest to the cluster's folder"
            refusal = Refusal("webhook", f'{field}: Invalid value: "{name}": {missing}')
            report.add(REFUSED.at(at, f"there is no PriorityClass `{name}`", help=help_, refusal=refusal))


def _pod_group(plan: Plan, spec: Tree) -> Tree:
    return {"apiVersion": _API_VERSION, "kind": _KIND, "metadata": {"name": plan.name, **handed_on(plan)}, "spec": spec}


def _spec(plan: Plan, cluster: Cluster, roles: tuple[Role, ...]) -> Tree:
    count = minimum(plan, roles)
    spec: dict[str, Tree] = {"minMember": count}
    if (tasks := policy_of(plan).get("minTaskMember")) is not None:
        spec["minTaskMember"] = tasks
    elif cluster.unit == ROLES:
        spec["minTaskMember"] = {role.name.value: whole([role]) for role in roles}
    written = [
        metadata_value(plan, section, key)
        for section, key in (("annotations", VOLCANO_QUEUE), ("labels", VOLCANO_QUEUE_LABEL))
    ]
    queue = given(filled(policy_of(plan), "queue"), *written, cluster.queue, policy_of(plan).get("defaultQueue"))
    if queue is not None:
        spec["queue"] = queue
    priority = given(filled(policy_of(plan), "priorityClass"), None if tasks is not None else common_priority(roles))
    if priority is not None:
        spec["priorityClassName"] = priority
    needs = {} if cluster.autoscaling else resources(plan, roles, cluster, count.value)
    if needs:
        spec["minResources"] = needs
    topology = _topology(plan, cluster)
    # One gang for each partition of a Volcano Job's task, else for each child Job.
    tasks_parts = policy_of(plan).get("subGroups") or ()
    groups = [{"name": part["task"], **{key: part[key] for key in part if key != "task"}} for part in tasks_parts]
    inside: dict[str, Tree] = {}
    if not groups and cluster.unit == REPLICAS:
        groups = [
            {"name": role.name, "subGroupSize": role.count, "minSubGroups": role.replicas}
            for role in roles
            if role.replicas.value > 1
        ]
        inside = {"networkTopology": topology} if groups and topology else {}
    if groups:  # told apart by the labels that JobSet writes on every pod
        spec["subGroupPolicy"] = [
            _LITERALS.fields(
                {
                    **group,
                    "labelSelector": {"matchLabels": {REPLICATED_JOB: group["name"]}},
                    "matchLabelKeys": [JOB_INDEX_LABEL],
                    **inside,
                }
            )
            for group in groups
        ]
    if topology and not inside:
        spec["networkTopology"] = topology
    return spec


def _topology(plan: Plan, cluster: Cluster) -> Tree:
    """How far the job may spread: what the job asks for, else its runtime's policy, else the cluster's settings."""
    mode = metadata_value(plan, "annotations", VOLCANO_TOPOLOGY_MODE)
    tier = metadata_value(plan, "annotations", VOLCANO_TOPOLOGY_TIER)
    if mode is None and tier is None:
        topology = policy_of(plan).get("networkTopology") or _policy_topology(plan)
        if topology or cluster.topology is None:
            return topology
        tier = cluster.topology
    topology = {"mode": _HARD if mode is None else mode}
    if tier is not None:
        is_number = whole_number(str(tier.value)) is not None
        topology |= {"highestTierAllowed": tier.map(int)} if is_number else {"highestTierName": tier}
    return topology


def _policy_topology(plan: Plan) -> Tree:
    """The two fields of the policy's topology that reach the PodGroup, None where it has none."""
    topology = get(plan.gang, NAME, "networkTopology")
    if type(topology) is not dict:
        return None
    return {key: topology[key] for key in ("mode", "highestTierAllowed") if key in topology}


SCHEDULER = Scheduler(NAME, gang, policy=policy, refuse=refuse)
