"""What a RayJob asks for that a JobSet does in another way, or not at all."""

from __future__ import annotations

from trainc.kinds.rayjob.spec import CLUSTER, HEAD
from trainc.kinds.shared.run_policy import CLEAN_UP, MANAGER
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.tree import get, leaves, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.rayjob.spec import RayJobAsRead
    from trainc.model.tree import Path

UNCOMPILED = Rule(
    "ray-field-not-compiled",
    ERROR,
    "a RayJob uses a feature that needs KubeRay",
    "While a job runs, KubeRay scales it, creates Secrets and restores heads. A JobSet is created once.",
)
UNSERVED = Rule(
    "ray-field-without-effect",
    WARNING,
    "a field of a RayJob has no effect on its JobSet",
    "The JobSet runs the cluster for one program and ends with it; it exposes and keeps nothing.",
)
DEADLINE = Rule(
    "ray-deadline-per-run",
    WARNING,
    "the deadline of a RayJob applies to its driver",
    "KubeRay counts from the first start of the job, across all of its clusters; a Job counts from its own start.",
)
UNSEEN = Rule(
    "driver-exit-unseen",
    WARNING,
    "the driver of a RayJob may succeed although its program failed",
    "KubeRay queries the dashboard for the job's status; a JobSet sees only the exit code of the driver's pod.",
)
REPLACED = Rule(
    "ray-worker-replaced",
    NOTE,
    "a lost Ray worker is replaced; a lost head ends the run",
    "The pods of a RayCluster restart forever; those of a Job end, and the JobSet decides what follows.",
)
BOUNDED = Rule(
    "ray-replicas-out-of-bounds",
    WARNING,
    "the replicas of a Ray worker group are outside its bounds",
    "KubeRay uses the nearest bound and reports it only in its log; the JobSet gets the number of pods that "
    "KubeRay would create.",
)
_NEEDS_KUBERAY: tuple[tuple[Path, str, str], ...] = (
    (
        ("gcsFaultToleranceOptions",),
        "KubeRay restores the state of the head",
        "remove it: a failed head restarts the job",
    ),
    (
        ("historyServerOptions",),
        "KubeRay adds a collector to each pod",
        "remove it, or write the collector as a container",
    ),
    (("networkPolicy",), "KubeRay makes the policies", "write a NetworkPolicy beside the job"),
    (("upgradeStrategy",), "KubeRay refuses it in the cluster of a RayJob", "remove it"),
)
_EXPOSED = (
    ("headServiceAnnotations",),
    ("headGroupSpec", "headService"),
    ("headGroupSpec", "serviceType"),
    ("headGroupSpec", "enableIngress"),
    ("headGroupSpec", "ingressOptions"),
)
_KUBERAY = "ray.io/kuberay-operator"


def check_fields(job: RayJobAsRead) -> bool:
    """Whether everything can be compiled; what cannot, and what will be different, is reported."""
    verdicts = (_has_cluster(job), _needs_no_operator(job), _has_fixed_size(job))
    if not all(verdicts):
        return False
    _say_of_exposure(job)
    _say_of_life(job)
    _say_of_driver(job)
    _say_of_hosts(job)
    _say_of_bounds(job)
    return True


def _refuse(job: RayJobAsRead, path: Path, message: str, help_: str) -> bool:
    job.say(UNCOMPILED.at(job.span(path, key=True), message, help=help_))
    return False


def _has_cluster(job: RayJobAsRead) -> bool:
    """Whether the job brings its own cluster and says what runs there."""
    if get(job.spec, "clusterSelector"):
        message = "`clusterSelector` runs the program in a cluster that exists already"
        return _refuse(
            job, ("spec", "clusterSelector"), message, "write `rayClusterSpec`, or submit with `ray job submit`"
        )
    if value(job.spec, "submissionMode") == "InteractiveMode":
        message = "`submissionMode: InteractiveMode`: nobody submits this job"
        return _refuse(job, ("spec", "submissionMode"), message, "write `entrypoint`, and remove the mode")
    if not (value(job.spec, "entrypoint") or "").strip() and get(job.spec, "submitterPodTemplate") is None:
        message = "the job has no `entrypoint`: the driver has nothing to submit"
        return _refuse(job, ("spec", "entrypoint"), message, "write the program, such as `python train.py`")
    return True


def _needs_no_operator(job: RayJobAsRead) -> bool:
    cluster = get(job.document.tree, *CLUSTER)
    out = True
    for path, why, help_ in _NEEDS_KUBERAY:
        if get(cluster, *path) is not None:
            out = _refuse(job, (*CLUSTER, *path), f"`{path[-1]}` needs the operator: {why}", help_)
    if value(cluster, "authOptions", "mode") == "token":
        message = "`authOptions` needs the operator: KubeRay makes the Secret with the token"
        help_ = "remove it; keep others away with a NetworkPolicy"
        out = _refuse(job, (*CLUSTER, "authOptions"), message, help_)
    if value(cluster, "tlsOptions", "enabled") is True:
        message = "`tlsOptions` needs the operator: KubeRay makes the certificates"
        out = _refuse(job, (*CLUSTER, "tlsOptions"), message, "mount certificates, and set the RAY_TLS_* variables")
    return out


def _has_fixed_size(job: RayJobAsRead) -> bool:
    cluster = get(job.document.tree, *CLUSTER)
    if value(cluster, "enableInTreeAutoscaling") is not True:
        return True
    workers = get(cluster, "workerGroupSpecs") or ()
    path = (*CLUSTER, "enableInTreeAutoscaling")
    if all(value(worker, "minReplicas") == value(worker, "maxReplicas") for worker in workers):
        message = "`enableInTreeAutoscaling` has no effect: each group has as many replicas as it may have"
        job.say(UNSERVED.at(job.span(path), message, help="remove it"))
        return True
    message = "`enableInTreeAutoscaling` needs the operator: an autoscaler adds and removes its pods"
    return _refuse(job, path, message, "give each group a fixed size: `minReplicas` equal to `maxReplicas`")


def _say_of_exposure(job: RayJobAsRead) -> None:
    for path in _EXPOSED:
        exposed = get(job.document.tree, *CLUSTER, *path)
        leaf = value(exposed) if type(exposed) is not dict else None
        if exposed is None or leaf in {"", "ClusterIP"} or leaf is False:
            continue
        message = f"`{path[-1]}` has no effect: the head's Service stays inside of the cluster"
        job.say(UNSERVED.at(job.at(*path, key=True), message, help="write a Service or an Ingress beside the job"))


def _say_of_life(job: RayJobAsRead) -> None:
    spec = job.spec
    if value(spec, "shutdownAfterJobFinishes") is not True:
        at = job.span(("spec", "shutdownAfterJobFinishes"), key=True)
        message = "the cluster ends with its driver: nothing keeps it, as `shutdownAfterJobFinishes: false` would"
        job.say(CLEAN_UP.at(at, message))
    if get(spec, "deletionStrategy") is not None:
        message = "`deletionStrategy` has no effect: a JobSet ends its pods when the job is over"
        job.say(UNSERVED.at(job.span(("spec", "deletionStrategy"), key=True), message, help="remove it"))
    if get(spec, "preRunningDeadlineSeconds") is not None:
        message = "`preRunningDeadlineSeconds` has no effect: nobody watches for the start of the program"
        job.say(UNSERVED.at(job.span(("spec", "preRunningDeadlineSeconds")), message, help="remove it"))
    if get(spec, "activeDeadlineSeconds") is not None:
        retries = value(spec, "backoffLimit") or 0
        again = f", so {retries + 1} runs have it each" if type(retries) is int and retries > 0 else ""
        message = f"`activeDeadlineSeconds` is that of the driver, from its own start{again}"
        job.say(
            DEADLINE.at(job.span(("spec", "activeDeadlineSeconds")), message, effect="the job fails when it is over")
        )
    if value(spec, "managedBy") == _KUBERAY:
        at = job.span(("spec", "managedBy"))
        job.say(MANAGER.at(at, f"`{_KUBERAY}` is no longer involved: `managedBy` is dropped"))
    ends = "`backoffLimit` counts new clusters" if value(spec, "backoffLimit") else "the job has no `backoffLimit`"
    message = f"a worker that is lost is replaced; a head that is lost ends the run, and {ends}"
    job.say(REPLACED.at(job.at("headGroupSpec", key=True), message))


def _say_of_driver(job: RayJobAsRead) -> None:
    """Say where a command of the user's own decides whether the job has succeeded."""
    container = get(job.spec, "submitterPodTemplate", "spec", "containers", 0)
    if not get(container, "command"):
        return
    texts = " ".join(
        str(leaf.value) for field in ("command", "args") for _, leaf in leaves(get(container, field) or [])
    )
    at = job.span(("spec", "submitterPodTemplate", "spec", "containers", 0, "command"), key=True)
    if "--no-wait" in texts or "job logs" in texts:
        message = "the driver's command ends with 0 whatever becomes of the program"
        effect = "a training that failed counts as a success"
        help_ = "use `ray job submit` without `--no-wait`, or remove the command"
        job.say(UNSEEN.at(at, message, effect=effect, help=help_))


def _say_of_hosts(job: RayJobAsRead) -> None:
    for group in job.groups:
        hosts = value(group.tree, "numOfHosts")
        limits = get(group.ray_container, "resources", "limits") or {}
        if group.role != HEAD and type(hosts) is int and hosts > 1 and any(name.endswith("/tpu") for name in limits):
            message = f"the pods of `{group.group}` do not know their place in a slice of {hosts} hosts"
            effect = "the webhook that gives TPU pods their names finds no labels of KubeRay on them"
            at = job.span((*group.path, "numOfHosts"))
            job.say(UNSERVED.at(at, message, effect=effect, help="write a JobSet with one Job for each slice"))


def _say_of_bounds(job: RayJobAsRead) -> None:
    for index, worker in enumerate(get(job.document.tree, *CLUSTER, "workerGroupSpecs") or ()):
        numbers = [value(worker, name) for name in ("replicas", "minReplicas", "maxReplicas")]
        wanted, least, most = (number if type(number) is int else None for number in numbers)
        if wanted is None or value(worker, "suspend") is True:
            continue
        group = value(worker, "groupName")
        if most is not None and wanted > most:
            message = f"`{group}` asks for {wanted} replicas and gets {most}: `maxReplicas` cuts them"
            help_ = f"write `maxReplicas: {wanted}`, or `replicas: {most}`"
        elif least is not None and wanted < least:
            message = f"`{group}` asks for {wanted} replicas and gets {least}: `minReplicas` raises them"
            help_ = f"write `replicas: {least}`, or `minReplicas: {wanted}`"
        else:
            continue
        path = (*CLUSTER, "workerGroupSpecs", index, "replicas")
        job.say(BOUNDED.at(job.span(path), message, help=help_))
