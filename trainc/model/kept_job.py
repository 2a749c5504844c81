"""A Job that stays a Job: the JobSet of one role that every rule looks at, and the Job that is written in its place."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, value
from trainc.text.object_keys import JOBSET_API, TRAINC_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

KEEP = f"{TRAINC_PREFIX}keep"
OF_THE_WHOLE = ("suspend", "managedBy", "ttlSecondsAfterFinished")  # what a Job and a JobSet call alike
ROLE = "node"
_API_VERSION = Sourced("batch/v1", Origin(by="trainc.dev/keep"))
_KIND = Sourced("Job", Origin(by="trainc.dev/keep"))


def keeps_job(tree: Tree) -> bool:
    """Whether an object is a plain Job that says of itself that it stays one."""
    is_job = value(tree, "kind") == "Job" and value(tree, "apiVersion") == "batch/v1"
    return bool(is_job and value(tree, "metadata", "annotations", KEEP) == "job")


def runs_pods(tree: Tree) -> bool:
    """Whether an object is the one of a bundle that makes the pods: a JobSet, or a Job that stays one."""
    return value(tree, "kind") == "JobSet" or keeps_job(tree)


def job_of(view: Tree) -> Tree:
    """The Job that a JobSet of one role with one Job stands for."""
    spec = view["spec"]
    own = {field: spec[field] for field in OF_THE_WHOLE if field in spec}
    return {
        "apiVersion": _API_VERSION,
        "kind": _KIND,
        "metadata": view["metadata"],
        "spec": {**spec["replicatedJobs"][0]["template"]["spec"], **own},
    }


def view_of(job: Tree) -> Tree:
    """The JobSet of one role with one Job that stands for a Job."""
    spec = job["spec"]
    inner = {field: node for field, node in spec.items() if field not in OF_THE_WHOLE}
    subdomain = get(spec, "template", "spec", "subdomain")
    network = {} if subdomain is None else {"network": {"subdomain": subdomain}}
    role = {"name": Sourced(ROLE, Origin(by="role of a plain Job")), "template": {"spec": inner}}
    own = {field: spec[field] for field in OF_THE_WHOLE if field in spec}
    return {
        "apiVersion": Sourced(JOBSET_API, Origin(by="view")),
        "kind": Sourced("JobSet", Origin(by="view")),
        "metadata": job["metadata"],
        "spec": {**own, **network, "replicatedJobs": [role]},
    }
