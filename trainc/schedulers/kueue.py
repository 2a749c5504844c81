"""Kueue: a queue and a priority on the JobSet, topology wishes on its pods; Kueue makes its own objects from them."""

from trainc.model.cluster import Cluster
from trainc.model.patch import Patch
from trainc.model.patches import Contribution, Scheduler
from trainc.model.plan import Plan, Role
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get
from trainc.schedulers.gang import (
    KUEUE,
    PODSET,
    PODSET_GROUP,
    PODSET_PREFERRED,
    PODSET_REQUIRED,
    PODSET_SLICE,
    PODSET_SLICES,
    PODSET_UNCONSTRAINED,
    members,
    pod_metadata,
    pods,
    unbound,
)
from trainc.text.object_keys import KUEUE_QUEUE

MODES = (PODSET_REQUIRED, PODSET_PREFERRED, PODSET_UNCONSTRAINED)


def gang(plan: Plan, cluster: Cluster) -> Contribution:
    """The labels by which Kueue takes a JobSet into a queue, and the topology its pods ask for."""
    wishes = _podset_annotations(plan, cluster)
    roles = members(plan.roles) if wishes else ()
    if wishes and _may_share_a_domain(wishes, roles):
        wishes[PODSET_GROUP] = plan.name
    patches: list[Patch] = []
    for role in plan.roles:
        patches += unbound(role, cluster.scheduler_name).patches
        if role in roles and not _has_own(role):
            patches.append(Patch(role.index, annotations=wishes))
    own = plan.job["metadata"].get("labels")
    labels = {key: leaf for key, leaf in own.items() if key.startswith(KUEUE)} if type(own) is dict else {}
    has_queue = KUEUE_QUEUE in labels or get(plan.template, "metadata", "labels", KUEUE_QUEUE) is not None
    if not has_queue and cluster.queue is not None:
        labels[KUEUE_QUEUE] = cluster.queue
    return Contribution(patches, labels=labels, sourced=True)


def _podset_annotations(plan: Plan, cluster: Cluster) -> dict[str, Tree]:
    """The topology annotations for every member's pods: the job's own, else the cluster's widest domain.

    A JobSet's own metadata is not read: annotations there are a mistake, which a rule reports.
    """
    job = plan.job["metadata"].get("annotations") if get(plan.job, "kind") != "JobSet" else None
    own = {key: leaf for key, leaf in job.items() if key.startswith(PODSET)} if type(job) is dict else {}
    if own:
        return own
    return {} if cluster.topology is None else {PODSET_REQUIRED: cluster.topology}


def _may_share_a_domain(annotations: dict[str, Tree], roles: tuple[Role, ...]) -> bool:
    """Kueue places two pod sets in one domain if one of them is a single pod and neither is cut into slices."""
    asks = PODSET_REQUIRED in annotations or PODSET_PREFERRED in annotations
    cut = PODSET_SLICE in annotations or PODSET_SLICES in annotations
    if not asks or cut or PODSET_GROUP in annotations or any(map(_has_own, roles)):
        return False
    return len(roles) == 2 and min(map(pods, roles)) == 1


def _has_own(role: Role) -> bool:
    annotations = get(pod_metadata(role), "annotations")
    return type(annotations) is dict and any(type(annotations.get(mode)) is Sourced for mode in MODES)


SCHEDULER = Scheduler("kueue", gang)
