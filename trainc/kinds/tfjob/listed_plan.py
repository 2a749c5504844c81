"""TfJob of the first operators: a list of replica specs and one chief, by default MASTER 0."""

from __future__ import annotations

from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.replica_lists import key_of, spelled
from trainc.kinds.shared.replica_lists import listed as entries_of
from trainc.kinds.shared.restart import TOLERATED
from trainc.kinds.tfjob.plan import NO_DECIDER
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob, Replica

RUNTIME_ID = Rule(
    "runtime-id-derived",
    NOTE,
    "the job gets a fixed runtime ID",
    "The operator generated four random characters; the same input must always compile to the same manifests.",
    differs=("TFJob", "TfJob"),
)
BOARD = Rule(
    "tensorboard-left-out",
    WARNING,
    "the compiled job does not include TensorBoard",
    "The operator ran TensorBoard beside the job, as a Deployment that outlived it.",
)
ACCELERATOR = Rule(
    "operator-accelerators",
    WARNING,
    "the operator's own configuration sets up an accelerator",
    "Volumes and variables for such devices come from a configuration in the cluster, not from the job.",
)
SIDECAR = Rule(
    "sidecar-holds-job",
    WARNING,
    "a Job waits for all containers of the chief",
    "The first operators watched only the container `tensorflow`; a Job completes when its whole pod has ended.",
)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def listed(job: LegacyJob) -> JobLayout | None:
    """The parts of a job with a list of replica specs: master, ps, worker."""
    chief = get(spelled(job.spec, "terminationPolicy"), "chief")
    decider = value(chief, "replicaName") or "MASTER"
    index = value(chief, "replicaIndex") or 0
    replica = job.role(decider)
    if replica is not None and type(index) is int and not 0 <= index < replica.count.value:
        message = f"the chief is {decider} {index}, but there are {replica.count.value} of them, counted from 0"
        job.say(NO_DECIDER.at(job.span(("spec", "terminationPolicy")), message, help="name a replica that is there"))
        return None
    runtime = _runtime_id(job)
    _accelerators(job)
    key = key_of(job.spec, "tensorboard")
    if key:
        help_ = "run TensorBoard as a Deployment of its own"
        job.say(BOARD.at(job.span(("spec", key), key=True), "`tensorboard` is left out", help=help_))
    parts = [_part(job, replica, decider, index, runtime) for replica in job.replicas]
    bare = [entry.role.lower() for entry in entries_of(job.document.tree) if entry.template is None]
    settings = {"always": True, "short": True, "runtimeId": runtime, "defaultPs": "ps" in bare, "empty": []}
    return JobLayout(tuple(parts), settings)


def _part(job: LegacyJob, replica: Replica, decider: str, index: int, runtime: Sourced[str]) -> ReplicatedJobPlan:
    decides = replica.role == decider
    if decides and len(replica.containers) > 1:
        help_ = "make the others init containers with `restartPolicy: Always`"
        job.say(
            SIDECAR.at(
                job.span(replica.path), f"the job ends when all containers of {replica.role} have ended", help=help_
            )
        )
    if not decides and replica.restart.value == "Never":
        message = f"a {replica.role} that failed for good fails the job, unless the chief is done by then"
        job.say(TOLERATED.at(job.span(replica.path), message, help="use `restartPolicy: OnFailure` in its template"))
    first = {"rules": [{"succeededIndexes": str(index)}]} if decides and replica.role != "MASTER" else None
    return ReplicatedJobPlan(
        replica.name, replica, replica.count, decides=decides, succeeds=first, labels=_labels(job, replica, runtime)
    )


def _labels(job: LegacyJob, replica: Replica, runtime: Sourced[str]) -> dict[str, object]:
    group = job.kind.api.partition("/")[0]
    out: dict[str, object] = {group: "", "job_type": replica.role, "runtime_id": runtime}
    if replica.count.value == 1:
        out["task_index"] = "0"
    if group == "kubeflow.org":
        out["tf_job_name"] = job.name
    return out


def _runtime_id(job: LegacyJob) -> Sourced[str]:
    given = spelled(job.spec, "runtimeId")
    if type(given) is Sourced and given.value:
        return given.map(str)
    number = 0
    for character in f"{job.document.namespace}/{job.name.value}":
        number = (number * 131 + ord(character)) % 36**4
    digits = [_DIGITS[number // 36**place % 36] for place in (3, 2, 1, 0)]
    identifier = "".join(digits)
    job.say(
        RUNTIME_ID.at(
            job.span(("spec",), key=True),
            f"the runtime identifier is `{identifier}`",
            help=f"set `RuntimeId: {identifier}` to keep it",
        )
    )
    return Sourced(identifier, Origin(None, "RuntimeId", (job.name.origin,)))


def _accelerators(job: LegacyJob) -> None:
    for replica in job.replicas:
        for at, container in enumerate(replica.containers):
            for kind in ("limits", "requests"):
                amounts = get(container, "resources", kind)
                for name in amounts if type(amounts) is dict else ():
                    if name.startswith("alpha.kubernetes.io/"):
                        path = (*replica.path, "template", "spec", "containers", at, "resources", kind, name)
                        message = f"`{name}` was set up by the operator and is not a resource of today"
                        job.say(ACCELERATOR.at(job.span(path, key=True), message, help="request `nvidia.com/gpu`"))
