"""Older job kinds as plans: from here on nobody knows that a job was old."""

from collections.abc import Callable, Mapping
from functools import partial

from trainc.kinds.jaxjob import jax
from trainc.kinds.mpijob.plan import mpi, mpi_ssh
from trainc.kinds.paddlejob import paddle
from trainc.kinds.pytorchjob import pytorch
from trainc.kinds.shared import run_policy as runpolicy
from trainc.kinds.shared.former_hosts import Hosts, pod_of
from trainc.kinds.shared.job import MOST, LegacyJob, LegacyOptions, countable, is_countable, is_open, job_metadata, read
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan, fits, plan_of_jobset, replicated_job, servable
from trainc.kinds.shared.pod_fields import COMPLETION, EMPTY, JOB, MASTER, PodFields, label, with_present_fields
from trainc.kinds.shared.pods import finish, prepare
from trainc.kinds.shared.restart import restart
from trainc.kinds.table import EVERY_KIND, LISTED, MPI_OPERATOR, PREFIX, kind_of
from trainc.kinds.tfjob import listed_tensorflow, tensorflow
from trainc.kinds.xgboostjob import xgboost
from trainc.model.catalog import Entry
from trainc.model.finding import NOTE, Rule
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, stamp
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.placeholders import is_placeholder

STATIC = Rule("label-per-pod", NOTE, differs=EVERY_KIND)
_DEPUTIES = ("JAXJob", "PyTorchJob", "TFJob")
SHAPES: Mapping[str, Callable[[LegacyJob], JobLayout | None]] = {
    "JAXJob": jax,
    "PyTorchJob": pytorch,
    "TFJob": tensorflow,
    "XGBoostJob": xgboost,
    "PaddleJob": paddle,
    "MPIJob": mpi,
    MPI_OPERATOR: mpi_ssh,
    LISTED: listed_tensorflow,
}


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan | None:
    """The plan of a legal older job; what will be different is reported.

    Where it cannot be compiled, the plan is barred, with a part for each role that has a number of pods; None without any.
    """
    kind = kind_of(entry.document.api_version, entry.document.kind)
    assert kind is not None
    job = read(entry.document, kind, options, report)
    counted, unknown = countable(job), is_open(job)
    for replica in job.replicas:
        prepare(job, replica)
    make = SHAPES[kind.api if kind.api == MPI_OPERATOR else LISTED if kind.field == LISTED else kind.kind]
    shape = make(job) if counted else None
    barred = not unknown and (shape is None or not fits(job, shape))
    if shape is None:
        known = [one for one in job.replicas if is_countable(one) or is_placeholder(one.count.value)]
        shape = JobLayout(tuple(ReplicatedJobPlan(one.name, one, one.count) for one in known))
        barred |= any(type(one.count.value) is int and not 0 <= one.count.value <= MOST for one in job.replicas)
    return _plan(job, shape, entry, barred=barred) if shape.parts else None


def _plan(job: LegacyJob, shape: JobLayout, entry: Entry, *, barred: bool) -> Plan:
    everyone = not barred and not is_open(job) and not any(part.decides for part in shape.parts)
    built = [_replicated(job, part, decides=part.decides or everyone) for part in shape.parts]
    replicated = [tree for tree, _ in built]
    barred |= not all(is_kept for _, is_kept in built) or not servable(job, shape, replicated)
    runpolicy.scopes(job, sum(part.jobs.value for part in shape.parts))
    if not all(part.alone for part in shape.parts):
        message = "the label with the index of each replica is omitted: all pods of a Job share one template"
        job.say(STATIC, ("spec", job.kind.field), message, key=True)
    template = _template(job, shape, replicated)
    planned = partial(
        plan_of_jobset,
        entry,
        job.options,
        framework=job.kind.framework,
        title=f"{job.kind.kind} {job.name.value}",
        policy={job.kind.framework: stamp(shape.settings or {}, job.kind.kind)},
        gang=runpolicy.gang(job),
        barred=barred,
    )
    plan = planned(template, companions=entry.companions)
    # Where a number is not known, nobody has written it into a host name.
    if barred or is_open(job) or "runtimeId" in (shape.settings or {}):
        return plan
    files = Hosts(job, plan, in_files=True).files(entry.companions, [pod_of(tree) for tree in replicated])
    present = Hosts(job, plan).replicated(replicated)
    return planned({**template, "spec": {**template["spec"], "replicatedJobs": present}}, companions=files)


def _template(job: LegacyJob, shape: JobLayout, replicated: list[Tree]) -> Tree:
    spec: dict[str, Tree] = {}
    if deciding := [part.name for part in shape.parts if part.decides]:
        success = {"operator": "All", "targetReplicatedJobs": deciding}
        spec["successPolicy"] = stamp(success, f"{job.kind.kind} success")
    spec.update(runpolicy.jobset_fields(job))
    spec["replicatedJobs"] = replicated
    metadata = job_metadata(job.document.tree)
    if shape.layout:
        metadata["annotations"][TRAINC_PREFIX + "rank-layout"] = stamp(shape.layout, "layout of ranks")
    return {"metadata": metadata, "spec": spec}


def _pod_fields(job: LegacyJob, part: ReplicatedJobPlan) -> PodFields:
    """What the labels of the Training Operator and the mpi-operator are on the pods of a part that share a template."""
    is_mpi = job.kind.api == MPI_OPERATOR
    if job.kind.field == LISTED:
        return {}
    fields: dict[str, str | Sourced[str]] = {}
    if not part.first and (is_mpi or job.kind.kind != "MPIJob") and part.name != "node":
        fields[label(f"{PREFIX}replica-index")] = JOB if part.counted is not None else COMPLETION
    role, is_merged = part.replica.role, part.name == "node"
    # For want of a master these operators label worker 0, which the template of several cannot say.
    has_deputy = job.kind.kind in _DEPUTIES and not (job.role("Master") or job.role("Chief"))
    if not (is_mpi or is_merged or (role == "Worker" and has_deputy)):
        fields[label(f"{PREFIX}job-role")] = MASTER if role in {"Chief", "Master"} else EMPTY
    return fields


def _replicated(job: LegacyJob, part: ReplicatedJobPlan, *, decides: bool) -> tuple[Tree, bool]:
    """The replicatedJob of a part, and whether a Job can keep its restart policy; what it cannot keep is unknown."""
    mapped = restart(job, part.replica, decides=decides, tolerates=part.tolerates)
    policy, budget = mapped or (
        part.replica.restart.map(lambda _: "${RESTART_POLICY}"),
        stamp({"backoffLimit": 0}, "unknown"),
    )
    fields, deadline = dict(budget), job.policy("activeDeadlineSeconds")
    is_ssh_worker = job.kind.api == MPI_OPERATOR and part.replica.role == "Worker"
    if type(deadline) is Sourced and deadline.value is not None and not is_ssh_worker:
        fields["activeDeadlineSeconds"] = deadline
    if part.succeeds:
        fields["successPolicy"] = stamp(part.succeeds, f"{job.kind.kind} success")
    by, index = f"{job.kind.kind} roles", stamp("Indexed", "one index per replica")
    template = with_present_fields(finish(job, part, policy), _pod_fields(job, part))
    out = replicated_job(stamp(part.name, by), part.pods, index, fields, template, part.jobs)
    if part.waits:
        out["dependsOn"] = stamp([{"name": part.waits, "status": "Ready"}], by)
    return out, mapped is not None
