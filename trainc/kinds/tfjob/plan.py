"""TFJob: the Chief's success is the job's, without one worker 0's, or all Workers' when the job says so."""

from __future__ import annotations

from trainc.kinds.shared.layout import FIRST_DECIDES, JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.restart import TOLERATED, WITHOUT_EFFECT
from trainc.model.finding import ERROR, WARNING, Rule
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob, Replica

NO_DECIDER = Rule(
    "nothing-decides-success",
    ERROR,
    "no role of the job can make it succeed",
    "A TFJob succeeds by its Chief, its Master or its Workers; parameter servers and evaluators never end a job.",
)
RESIZED = Rule(
    "workers-not-resizable",
    WARNING,
    "the number of workers of a running job is fixed",
    "A JobSet's replicatedJobs are immutable; the operator added and removed workers of a dynamic job.",
)


def tensorflow(job: LegacyJob) -> JobLayout | None:
    """The parts of a TFJob, in the order chief, ps, worker, evaluator."""
    present = [replica for replica in job.replicas if replica.count.value]
    chief = next((r for r in present if r.role in {"Chief", "Master"}), None)
    worker = next((r for r in present if r.role == "Worker"), None)
    decider = chief or worker
    if decider is None:
        message = "the job has neither Chief, Master nor Worker: it would never succeed"
        job.say(NO_DECIDER.at(job.span(("spec", job.kind.field), key=True), message, help="add a Chief or a Worker"))
        return None
    dynamic = value(job.spec, "enableDynamicWorker") is True
    if dynamic and worker:
        _dynamic(job, worker, chief)
    parts = [_part(job, replica, decider, tolerates=dynamic and replica is worker) for replica in present]
    empty = sorted(replica.name for replica in job.replicas if not replica.count.value)
    domain = job.asks("cluster-domain")
    return JobLayout(tuple(parts), {"dynamic": dynamic, "empty": empty, "clusterDomain": domain})


def _part(job: LegacyJob, replica: Replica, decider: Replica, *, tolerates: bool) -> ReplicatedJobPlan:
    decides = replica is decider
    policy = value(job.spec, "successPolicy") or ""
    if decides and policy not in {"", "AllWorkers"}:
        message = f"`{policy}` is not a success policy: it means the default"
        job.say(WITHOUT_EFFECT.at(job.span(("spec", "successPolicy")), message, help="`AllWorkers`, or remove it"))
    first = decides and replica.role == "Worker" and policy != "AllWorkers"
    return ReplicatedJobPlan(
        replica.name,
        replica,
        replica.count,
        decides=decides,
        succeeds=FIRST_DECIDES if first else None,
        labels={"training.kubeflow.org/job-role": "master"} if decides and replica.role != "Worker" else None,
        tolerates=tolerates,
    )


def _dynamic(job: LegacyJob, worker: Replica, chief: Replica | None) -> None:
    path = ("spec", "enableDynamicWorker")
    message = f"the number of workers stays {worker.count.value}: a JobSet cannot be resized"
    job.say(RESIZED.at(job.span(path), message))
    if chief is not None and worker.restart.value == "Never":
        message = "a worker that failed fails the job once all workers have ended, unless the chief is done by then"
        job.say(TOLERATED.at(job.span(worker.path, key=True), message, help="use `OnFailure` for the workers"))
