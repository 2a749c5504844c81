"""The coscheduling plugin of scheduler-plugins: a PodGroup, and a label on every pod that belongs to it."""

from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, Rule, place
from trainc.model.patches import Contribution, Scheduler, pod
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get
from trainc.schedulers.counting import controllers_minimum, controllers_resources, handed_on, minimum, resources
from trainc.schedulers.counting import policy as policy_of
from trainc.schedulers.gang import members, metadata_value, scheduler_name, unbound
from trainc.text.object_keys import COSCHEDULING_LABEL, KUEUE_QUEUE

NAME = "coscheduling"
# What the plugin itself waits where nobody says more, and what a new node takes to come up.
TIMEOUT, PATIENT_TIMEOUT = 60, 300

TOPOLOGY_UNSUPPORTED = Rule("topology-unsupported", ERROR)


def gang(plan: Plan, cluster: Cluster) -> Contribution:
    """A PodGroup over the pods that run together, their label and their scheduler."""
    roles = members(plan.roles)
    name = scheduler_name(cluster, NAME)
    out = Contribution()
    if roles:
        # It asks nothing of what is free now where nodes come on demand, or where a queue reserves them.
        count = minimum(plan, roles)
        later = cluster.autoscaling or metadata_value(plan, "labels", KUEUE_QUEUE) is not None
        needs = None if later else resources(plan, roles, cluster, count.value) or None
        out = Contribution(objects=[_group(plan, count, _timeout(plan, cluster), needs)])
    for role in plan.roles:
        if role in roles:
            out += pod(role, labels={COSCHEDULING_LABEL: plan.name}, schedulerName=name)
        else:
            out += unbound(role)
    return out


def policy(plan: Plan) -> Contribution:
    """What the Trainer controller makes of `podGroupPolicy.coscheduling`: all pods, no scheduler name."""
    timeout = get(plan.gang, NAME, "scheduleTimeoutSeconds")
    timeout = TIMEOUT if timeout is None else timeout
    group = _group(plan, controllers_minimum(plan), timeout, controllers_resources(plan))
    labelled = (pod(role, labels={COSCHEDULING_LABEL: plan.name}) for role in plan.roles)
    return sum(labelled, Contribution(objects=[group]))


def verify(plan: Plan, cluster: Cluster, report: Report) -> None:
    """A topology that the cluster's settings ask for cannot be kept by this plugin."""
    if (wanted := cluster.topology) is not None:
        at = place(wanted.origin) or plan.document.span(("metadata", "name"))
        message = f"coscheduling cannot keep a job inside one `{wanted.value}`"
        help_ = "remove the topology, or use `volcano`, `native` or `kueue`"
        report.add(TOPOLOGY_UNSUPPORTED.at(at, message, help=help_))


def _group(plan: Plan, count: Sourced[int], timeout: Tree, needs: dict[str, Tree] | None) -> Tree:
    spec: dict[str, Tree] = {"minMember": count, "scheduleTimeoutSeconds": timeout}
    if needs is not None:
        spec["minResources"] = needs
    return {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": plan.name, **handed_on(plan)},
        "spec": spec,
    }


def _timeout(plan: Plan, cluster: Cluster) -> Sourced[int] | int:
    """How long placed pods wait for the others: as written, else the cluster's, else the operator's, else the plugin's.

    The plugin takes 0 for its own setting; an older job may say so, and the mpi-operator did.
    """
    timeout, older = get(plan.gang, NAME, "scheduleTimeoutSeconds"), policy_of(plan)
    for written, least in ((timeout, 1), (older.get("scheduleTimeoutSeconds"), 0)):
        if type(written) is Sourced and type(written.value) is int and written.value >= least:
            return written
    if cluster.timeout is not None or cluster.autoscaling:
        return cluster.timeout if cluster.timeout is not None else PATIENT_TIMEOUT
    operators: Sourced[int] | None = older.get("operatorTimeout")
    return TIMEOUT if operators is None else operators


SCHEDULER = Scheduler(NAME, gang, policy=policy, verify=verify)
