"""Whether each TPU slice of a job keeps a node pool to itself."""

from __future__ import annotations

from trainc.lint.facts.values import table
from trainc.model.finding import WARNING, Rule
from trainc.text.object_keys import EXCLUSIVE, TPU_RESOURCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import ExpandedRole, Findings, Job

SHARED_POOLS = Rule("slices-share-node-pools", WARNING)


def slices_share_node_pools(job: Job) -> Findings:
    if any(key.startswith("kueue.x-k8s.io/") for key in table(job.metadata, "labels")):
        return  # the queue chooses the nodes
    if "MEGASCALE" in job.families:
        return  # a set-up of which a part is missing is told as a whole
    for role in job.roles:
        if _is_multislice(role) and not _is_placed(job, role):
            yield SHARED_POOLS.at(
                job.at((*role.path, "replicas")),
                f"nothing places the {role.replicas} slices of `{role.name}` one to a node pool",
                effect="pods of one slice may land in two node pools, and the slice never initialises",
                help=f"annotate the JobSet with `{EXCLUSIVE}: cloud.google.com/gke-nodepool`",
            )


def _is_multislice(role: ExpandedRole) -> bool:
    several = type(role.replicas) is int and role.replicas > 1
    return several and TPU_RESOURCE in role.devices and type(role.size) is int and role.size > 1


def _is_placed(job: Job, role: ExpandedRole) -> bool:
    places = (table(job.metadata, "annotations"), table(table(role.tree["template"], "metadata"), "annotations"))
    keys = {key for held in (*places, role.annotations) for key in held}
    if EXCLUSIVE in keys or any(key.startswith("kueue.x-k8s.io/podset") for key in keys):
        return True
    return "affinity" in role.pod or "schedulingGates" in role.pod


CHECKS = (slices_share_node_pools,)
