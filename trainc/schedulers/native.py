"""Kubernetes' own gangs: a PodGroup of scheduling.k8s.io in the version the cluster serves, and a field of every pod."""

from trainc.model.bundle import keeps_job
from trainc.model.cluster import Cluster, Version
from trainc.model.finding import ERROR, WARNING, Finding, Rule, place
from trainc.model.patches import Contribution, Scheduler, pod
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.tree import Tree, value
from trainc.schedulers.counting import minimum
from trainc.schedulers.gang import PROFILES, common_priority, members, unbound
from trainc.text.object_keys import NATIVE_FIELD

NAME = "native"
GROUP = "scheduling.k8s.io"
GATE = "GenericWorkload"
TOPOLOGY_GATE = "TopologyAwareWorkloadScheduling"
PREEMPTION_GATE = "WorkloadAwarePreemption"
TEMPLATE = "all"

API_NOT_SERVED = Rule("api-not-served", ERROR)
GATE_NOT_DECLARED = Rule("gate-not-declared", WARNING)

_SERVED = (((1, 37), "v1beta1"), ((1, 36), "v1alpha2"))  # from which version of Kubernetes on, newest first
_READ_BY_JOBSET = (0, 12)  # from this version on its CRD knows the field that ties a pod to its group


def version_served(kubernetes: Version | None) -> str:
    """The version of scheduling.k8s.io with PodGroups in which pods name their group; empty where there is none.

    1.35 had groups inside a Workload and a pod field that no JobSet CRD has ever known.
    """
    return "" if kubernetes is None else next((name for since, name in _SERVED if kubernetes >= since), "")


def gang(plan: Plan, cluster: Cluster) -> Contribution:
    """A PodGroup over the pods that run together, and the field that ties them; in 1.36 with the Workload it is of."""
    served = version_served(cluster.kubernetes)
    roles = members(plan.roles) if served else ()
    out = Contribution(objects=_objects(plan, cluster, roles, served) if roles else [])
    for role in plan.roles:
        if role in roles:
            fields: dict[str, Tree] = {"schedulingGroup": {"podGroupName": plan.name}}
            if cluster.scheduler_name is not None or value(role.pod, "schedulerName") in PROFILES.values():
                fields["schedulerName"] = cluster.scheduler_name
            out += pod(role, **fields)
        else:
            out += unbound(role, cluster.scheduler_name)
    return out


def verify(plan: Plan, cluster: Cluster, report: Report) -> None:
    """Whether the cluster can have such a group at all."""
    if (kubernetes := cluster.kubernetes) is None or not version_served(kubernetes):
        message = f"the version of {GROUP} that the cluster serves is unknown"
        if kubernetes is not None:
            message = f"Kubernetes {_dotted(kubernetes)} serves no PodGroup that the pods of a JobSet can name"
        before = "before 1.36, use `coscheduling` or `volcano`"
        help_ = f"set the version of the cluster, such as `kubernetes=1.37`; {before}"
        report.add(_at(API_NOT_SERVED, plan, cluster, message, help=help_))
        return
    if cluster.jobset is not None and cluster.jobset < _READ_BY_JOBSET:
        message = f"the CRD of JobSet {_dotted(cluster.jobset)} does not have `{NATIVE_FIELD}`"
        effect = "the API server prunes the field, and the job runs without a gang"
        help_ = "install JobSet 0.12 or later, or use another back end"
        report.add(_at(API_NOT_SERVED, plan, cluster, message, effect=effect, help=help_))
    for gate in [GATE] + [TOPOLOGY_GATE] * (cluster.topology is not None):
        if gate not in cluster.gates:
            message = f"the feature gate `{gate}` is off by default in Kubernetes {_dotted(kubernetes)}"
            effect = "if it is off, the job runs without a gang or without its topology, with no message"
            help_ = f"when it is enabled in the cluster, add it to the cluster's gates: `gates={gate}`"
            report.add(_at(GATE_NOT_DECLARED, plan, cluster, message, effect=effect, help=help_))


def _objects(plan: Plan, cluster: Cluster, roles: tuple[Role, ...], served: str) -> list[Tree]:
    spec: dict[str, Tree] = {"schedulingPolicy": {"gang": {"minCount": minimum(plan, roles)}}}
    if cluster.topology is not None and TOPOLOGY_GATE in cluster.gates:
        spec["schedulingConstraints"] = {"topology": [{"key": cluster.topology}]}
    is_first = served == "v1alpha2"
    if not is_first or PREEMPTION_GATE in cluster.gates:
        if (priority := common_priority(roles)) is not None:
            spec["priorityClassName"] = priority
        spec["disruptionMode"] = "PodGroup" if is_first else {"all": {}}
    if not is_first:
        return [_object(plan, served, "PodGroup", spec)]
    is_job = value(plan.job, "kind") == "Job" and keeps_job(plan.job)
    group, kind = ("batch", "Job") if is_job else ("jobset.x-k8s.io", "JobSet")
    owner = {"apiGroup": group, "kind": kind, "name": plan.name}
    workload = {"controllerRef": owner, "podGroupTemplates": [{"name": TEMPLATE, **spec}]}
    link = {"workload": {"workloadName": plan.name, "podGroupTemplateName": TEMPLATE}}
    return [
        _object(plan, served, "Workload", workload),
        _object(plan, served, "PodGroup", {"podGroupTemplateRef": link, **spec}),
    ]


def _object(plan: Plan, served: str, kind: str, spec: Tree) -> Tree:
    return {"apiVersion": f"{GROUP}/{served}", "kind": kind, "metadata": {"name": plan.name}, "spec": spec}


def _at(rule: Rule, plan: Plan, cluster: Cluster, message: str, *, effect: str = "", help: str = "") -> Finding:  # noqa: A002
    chosen = cluster.scheduler
    span = place(chosen.origin) if chosen is not None else None
    return rule.at(span or plan.document.span(("metadata", "name")), message, effect=effect, help=help)


def _dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


SCHEDULER = Scheduler(NAME, gang, verify=verify)
