"""MPIJob of both operators: workers first, then the launcher, whose success is the job's."""

from trainc.kinds.shared.job import LegacyJob, Replica, or_default
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan
from trainc.kinds.shared.restart import DEADLOCK, EVICTED, TOLERATED, WITHOUT_EFFECT
from trainc.model.finding import NOTE, WARNING, Rule
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import filled, get, given, leaves, value
from trainc.text.object_keys import TRAINC_PREFIX

EXEC = Rule("wide-exec-right", WARNING)
DISCOVERY = Rule("static-host-discovery", WARNING)
SSH_PATH = "/root/.ssh"
_BY = Origin(by="MPIJob default")


def mpi(job: LegacyJob) -> JobLayout:
    """MPIJob v1: `mpirun` reaches its workers through `kubectl exec`."""
    launcher = job.role("Launcher")
    assert launcher is not None
    help_ = "or write the job as `kubeflow.org/v2beta1`, which uses ssh"
    job.say(EXEC, launcher.path, EXEC.summary, key=True, help=help_)
    _discovery(job, launcher)
    slots = or_default(get(job.spec, "slotsPerWorker"), 1, _BY)
    settings = {"slots": slots, "mainContainer": given(filled(job.spec, "mainContainer"), Sourced("", _BY))}
    return JobLayout(_parts(job, launcher, waits=False), settings)


def mpi_ssh(job: LegacyJob) -> JobLayout | None:
    """MPIJob v2beta1: `mpirun` reaches its workers through ssh."""
    launcher, worker = job.role("Launcher"), job.role("Worker")
    assert launcher is not None
    waits = value(job.spec, "launcherCreationPolicy") == "WaitForWorkersReady"
    least = value(job.spec, "runPolicy", "schedulingPolicy", "minAvailable")
    is_too_large = worker is not None and (least is None or (type(least) is int and least > worker.count.value))
    if waits and worker is not None and job.options.gang and is_too_large:
        message = "the launcher waits for workers that wait for the launcher's place in the gang"
        help_ = f"set `runPolicy.schedulingPolicy.minAvailable` to at most {worker.count.value}"
        job.say(DEADLOCK, ("spec", "launcherCreationPolicy"), message, help=help_)
        return None
    _discovery(job, launcher)
    if job.asks("compat-names") == "true":
        message = "the mpi-operator's host names belong to a Service whose name is taken: they are not kept"
        job.say(WITHOUT_EFFECT, ("metadata", "annotations", f"{TRAINC_PREFIX}compat-names"), message, help="remove it")
    if worker is not None:
        message = "a failed worker is replaced; the operator did not replace it"
        if worker.restart.value == "Never":
            job.say(TOLERATED, worker.path, message, key=True, level=NOTE)
        job.say(EVICTED, worker.path, "an evicted worker is replaced; the operator failed the job", key=True)
    settings = {
        "slots": or_default(get(job.spec, "slotsPerWorker"), 1, _BY),
        "implementation": given(filled(job.spec, "mpiImplementation"), Sourced("OpenMPI", _BY)),
        "sshAuthMountPath": given(filled(job.spec, "sshAuthMountPath"), Sourced(SSH_PATH, _BY)),
        "launcherIsWorker": value(job.spec, "runLauncherAsWorker") is True,
        "clusterDomain": job.asks("cluster-domain"),
    }
    return JobLayout(_parts(job, launcher, waits=waits), settings)


def _parts(job: LegacyJob, launcher: Replica, *, waits: bool) -> tuple[ReplicatedJobPlan, ...]:
    worker = job.role("Worker")
    many = worker is not None and worker.count.value > 0
    role, index = "training.kubeflow.org/job-role", "training.kubeflow.org/replica-index"
    ssh = job.kind.framework == "mpijob-ssh"
    first = int(ssh and value(job.spec, "runLauncherAsWorker") is True)  # the launcher is number 0 then
    part = ReplicatedJobPlan(
        "launcher",
        launcher,
        launcher.count,
        decides=True,
        waits="worker" if waits and many else "",
        labels={role: "launcher" if ssh else "master", **({index: "0"} if first else {})},
    )
    if worker is None or not many:
        return (part,)
    labels = {role: "worker", **({index: str(first)} if worker.count.value == 1 else {})} if ssh else None
    return (ReplicatedJobPlan("worker", worker, worker.count, labels=labels, first=first), part)


def _discovery(job: LegacyJob, launcher: Replica) -> None:
    words = [container.get(field) or [] for container in launcher.containers for field in ("command", "args")]
    if any("discover_hosts" in str(leaf.value) for node in words for _, leaf in leaves(node)):
        message = "`discover_hosts.sh` lists the workers that answer, out of a fixed number"
        job.say(DISCOVERY, launcher.path, message, key=True, help="no more than `replicas` workers can join")
