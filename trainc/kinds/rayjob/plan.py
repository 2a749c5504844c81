"""The plan of a RayJob: a head, a replicatedJob for each group of workers, and the driver whose success is the job's."""

from collections.abc import Iterator

from trainc.kinds.rayjob.environment import is_gpu
from trainc.kinds.rayjob.spec import (
    CLUSTER,
    DRIVER,
    FRAMEWORK,
    HEAD,
    MODE,
    TIER,
    RayGroup,
    RayJobAsRead,
    driver_template,
)
from trainc.kinds.shared.former_hosts import FormerHosts, pod_of
from trainc.kinds.shared.job import LegacyOptions, countable, is_open, job_metadata, or_default
from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan, fits, plan_of_jobset, replicated_job, servable
from trainc.kinds.shared.pods import prepare, restart_policy
from trainc.kinds.shared.restart import FOREVER
from trainc.kinds.shared.run_policy import CLEAN_UP, MANAGER
from trainc.model.catalog import Entry
from trainc.model.document import Document
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Path, Tree, filled, get, leaves, stamp, value
from trainc.schedulers.gang import SUBMITTER_LABEL
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import MULTIKUEUE
from trainc.text.placeholders import is_placeholder
from trainc.text.quantity import Quantity, QuantityError

_BY = "RayJob"
_INDEXED = stamp("Indexed", "one index for each pod")
_SUBMITS_AGAIN = 2
_SUFFIX = frozenset("bcdfghjklmnpqrstvwxz2456789")  # of which Kubernetes makes up names (util/rand)
_QUEUE, _PRIORITY = "volcano.sh/queue-name", "ray.io/priority-class-name"
UNCOMPILED = Rule("ray-field-not-compiled", ERROR)
UNSERVED = Rule("ray-field-without-effect", WARNING)
DEADLINE = Rule("ray-deadline-per-run", WARNING)
UNSEEN = Rule("driver-exit-unseen", WARNING)
REPLACED = Rule("ray-worker-replaced", NOTE)
BOUNDED = Rule("ray-replicas-out-of-bounds", WARNING)
VERSIONS = Rule("ray-versions-differ", ERROR)
RESOURCES = Rule("ray-resources-differ", WARNING)
PARAMETER = Rule("ray-start-parameter", ERROR)
_NEEDS_KUBERAY = (
    ("gcsFaultToleranceOptions", "KubeRay restores the state of the head", "remove it: a failed head restarts the job"),
    (
        "historyServerOptions",
        "KubeRay adds a collector to each pod",
        "remove it, or write the collector as a container",
    ),
    ("networkPolicy", "KubeRay creates the policies", "add a NetworkPolicy"),
    ("upgradeStrategy", "KubeRay rejects it in the cluster of a RayJob", "remove it"),
    ("authOptions", "KubeRay creates the Secret with the token", "remove it; restrict access with a NetworkPolicy"),
    ("tlsOptions", "KubeRay creates the certificates", "mount certificates, and set the RAY_TLS_* variables"),
)
_EXPOSED = (
    ("headServiceAnnotations",),
    ("headGroupSpec", "headService"),
    ("headGroupSpec", "serviceType"),
    ("headGroupSpec", "enableIngress"),
    ("headGroupSpec", "ingressOptions"),
)
_IMAGES = ("rayproject/ray", "rayproject/ray-ml", "rayproject/ray-llm")
_KUBERAY = "ray.io/kuberay-operator"
_PORTS = (
    "port", "dashboard-port", "dashboard-agent-grpc-port", "dashboard-agent-listen-port", "max-worker-port",
    "metrics-export-port", "min-worker-port", "node-manager-port", "object-manager-port", "ray-client-server-port",
    "runtime-env-agent-port",
)  # fmt: skip
_AMOUNTS = ("memory", "num-cpus", "num-gpus", "object-store-memory")
_LOCAL = ("127.0.0.1", "::1", "localhost")


def plan(entry: Entry, options: LegacyOptions, report: Report) -> Plan | None:
    """The plan of a job that was admitted, None where nothing can be said of its pods."""
    hosts = HeadHosts(entry.document.name, entry.document, report, options.cluster_domain)
    job = RayJobAsRead(hosts.in_program(), options, report)
    kept = check_fields(job)
    if get(job.spec, "rayClusterSpec") is None:
        return None
    counted = countable(job)
    for group in job.groups:
        prepare(job, group)
    groups = [g for g in job.groups if g.count.value and (type(g.count.value) is int or is_placeholder(g.count.value))]
    path: Path = ("spec", "submitterPodTemplate") if get(job.spec, "submitterPodTemplate") else ("spec",)
    one = Sourced(1, Origin(by="one driver"))
    driver = RayGroup(DRIVER, DRIVER, path, {"template": driver_template(job)}, one)
    prepare(job, driver)
    again = get(job.spec, "submitterConfig", "backoffLimit")
    limit = or_default(again, _SUBMITS_AGAIN, Origin(by="KubeRay default"))
    policy = driver.restart.map(lambda text: "OnFailure" if text == "Always" else text)
    meta = get(driver.template, "metadata") or {}
    labels = {**(meta.get("labels") or {}), **stamp({SUBMITTER_LABEL: _BY}, _BY)}
    fields = {"backoffLimit": limit}
    if (deadline := get(job.spec, "activeDeadlineSeconds")) is not None and deadline.value is not None:
        fields["activeDeadlineSeconds"] = deadline
    pod = {**(get(driver.template, "spec") or {}), "restartPolicy": policy}
    template = {"metadata": {**meta, "labels": labels}, "spec": pod}
    submits = replicated_job(stamp(DRIVER, _BY), driver.count, _INDEXED, fields, template)
    replicated = hosts.replicated([*(_replicated(job, group) for group in groups), submits])
    shape = JobLayout(tuple(ReplicatedJobPlan(group.role, group, group.count) for group in (*groups, driver)))
    kept = kept and counted and fits(job, shape) and servable(job, shape, replicated)
    spec = {**_jobset_fields(job), "replicatedJobs": replicated}
    return plan_of_jobset(
        Entry(job.document, beside=entry.beside),
        options,
        {"metadata": job_metadata(job.document.tree), "spec": spec},
        framework=FRAMEWORK,
        title=f"{_BY} {job.name.value}",
        companions=hosts.files(entry.companions, [pod_of(tree) for tree in replicated]),
        gang=_gang(job) if counted else None,
        barred=not kept and not (is_open(job) and not report.compiles),
    )


class HeadHosts(FormerHosts):
    """`JOB-xxxxx-head-svc`, as KubeRay calls the head's Service after a cluster whose name it makes up for each run."""

    def present(self, host: str) -> str:
        first, _, rest = host.partition(".")
        cluster = first[len(self.base) + 1 :].removeprefix("raycluster-").removesuffix("-head-svc")
        is_head = first.endswith("-head-svc") and len(cluster) == 5 and _SUFFIX.issuperset(cluster)
        if not is_head or not self.is_domain(rest):
            return ""
        return f"{run_name(self.document.tree).value}-head-svc{rest and '.'}{rest}"

    def in_program(self) -> Document:
        """The job with present names in what the driver submits."""
        spec = get(self.document.tree, "spec")
        texts = {field: spec[field] for field in ("entrypoint", "runtimeEnvYAML") if field in spec}
        if not self.occur_in(texts):
            return self.document
        present = {field: self.leaf(text, {}) for field, text in texts.items()}
        return self.document.admitted({**self.document.tree, "spec": {**spec, **present}})


def _replicated(job: RayJobAsRead, group: RayGroup) -> Tree:
    """A Job of the head, which fails with it, or of a group of workers, which replaces those that are lost."""
    restart, kind = group.restart, "head" if group.is_head else "worker"
    if group.is_head:
        policy, limit, why = restart.map(lambda _: "Never"), 0, "a head is not replaced"
    else:
        policy = restart if restart.value == "Never" else derive("a pod of a Job ends", lambda _: "OnFailure", restart)
        limit, why = FOREVER, "a lost worker is replaced"
    meta = get(group.template, "metadata") or {}
    own = {
        "ray.io/cluster": job.name,
        "ray.io/group": group.group,
        "ray.io/identifier": derive("identifier of KubeRay", lambda name: f"{name}-{kind}"[:63], job.name),
        "ray.io/is-ray-node": "yes",
        "ray.io/node-type": kind,
    }
    labels = {**(meta.get("labels") or {}), **(get(group.tree, "labels") or {}), **stamp(own, _BY)}
    pod = {**(get(group.template, "spec") or {}), "restartPolicy": restart_policy(restart, policy)}
    template = {"metadata": {**meta, "labels": labels}, "spec": pod}
    budget = {"backoffLimit": stamp(limit, why, restart)}
    return replicated_job(stamp(group.role, _BY), group.count, _INDEXED, budget, template)


def _jobset_fields(job: RayJobAsRead) -> dict[str, Tree]:
    spec = job.spec
    success = {"operator": "All", "targetReplicatedJobs": [DRIVER]}
    out: dict[str, Tree] = {"successPolicy": stamp(success, "the driver decides")}
    if (retries := filled(spec, "backoffLimit")) is not None:
        policy: Tree = {"maxRestarts": retries, "restartStrategy": "BlockingRecreate"}
        if get(spec, "activeDeadlineSeconds") is not None:
            reasons = {"onJobFailureReasons": ["DeadlineExceeded"], "targetReplicatedJobs": [DRIVER]}
            policy["rules"] = [{"action": "FailJobSet", **reasons}]
        out["failurePolicy"] = stamp(policy, "a new cluster for each retry")
    out |= {name: leaf for name in ("suspend", "ttlSecondsAfterFinished") if (leaf := filled(spec, name)) is not None}
    return {**out, "managedBy": spec["managedBy"]} if value(spec, "managedBy") == MULTIKUEUE else out


def _gang(job: RayJobAsRead) -> Tree:
    """The gang of head and workers as KubeRay counts it; its resources hold a place for the driver too."""
    labels = get(job.document.tree, "metadata", "labels") or {}
    counts = [group.count for group in job.groups]
    policy: dict[str, Tree] = {
        "minAvailable": derive("head + workers", lambda *numbers: sum(numbers), *counts),
        "reserved": [DRIVER],
    }
    for label, name in ((_QUEUE, "queue"), (_PRIORITY, "priorityClass")):
        if label in labels:
            policy[name] = labels[label]
    if MODE in labels:
        tier = {"highestTierAllowed": labels[TIER].map(parsed_int)} if TIER in labels else {}
        policy["networkTopology"] = {"mode": labels[MODE], **tier}
    return {**({"volcano": {}} if _QUEUE in labels or MODE in labels else {}), "older": policy}


def check_fields(job: RayJobAsRead) -> bool:
    """Whether everything can be compiled; what cannot, and what will be different, is reported."""
    refusals = [*_uncompiled(job)]
    for path, message, help_ in refusals:
        job.say(UNCOMPILED, path, message, key=True, help=help_)
    spec, cluster = job.spec, get(job.document.tree, *CLUSTER)
    autoscaling = (*CLUSTER, "enableInTreeAutoscaling")
    if value(job.document.tree, *autoscaling) is True and all(path != autoscaling for path, _, _ in refusals):
        message = "`enableInTreeAutoscaling` has no effect: each group has the maximum number of replicas"
        job.say(UNSERVED, autoscaling, message, help="remove it")
    if refusals:
        return False
    for path in _EXPOSED:
        exposed = get(cluster, *path)
        leaf = value(exposed) if type(exposed) is not dict else None
        if exposed is None or leaf in {"", "ClusterIP"} or leaf is False:
            continue
        message = f"`{path[-1]}` has no effect: the head's Service is only reachable inside the cluster"
        job.say(UNSERVED, job.at(*path, key=True), message, help="add a Service or an Ingress")
    if value(spec, "shutdownAfterJobFinishes") is not True:
        message = "the cluster ends with its driver, despite `shutdownAfterJobFinishes: false`"
        job.say(CLEAN_UP, ("spec", "shutdownAfterJobFinishes"), message, key=True)
    if get(spec, "deletionStrategy") is not None:
        message = "`deletionStrategy` has no effect: a JobSet ends its pods when the job finishes"
        job.say(UNSERVED, ("spec", "deletionStrategy"), message, key=True, help="remove it")
    if get(spec, "preRunningDeadlineSeconds") is not None:
        message = "`preRunningDeadlineSeconds` has no effect: no controller watches the start of the program"
        job.say(UNSERVED, ("spec", "preRunningDeadlineSeconds"), message, help="remove it")
    if get(spec, "activeDeadlineSeconds") is not None:
        retries = value(spec, "backoffLimit") or 0
        again = f", for each of {retries + 1} runs" if type(retries) is int and retries > 0 else ""
        message = f"`activeDeadlineSeconds` is that of the driver, from its own start{again}"
        job.say(DEADLINE, ("spec", "activeDeadlineSeconds"), message, effect="the job fails when it is over")
    if value(spec, "managedBy") == _KUBERAY:
        job.say(MANAGER, ("spec", "managedBy"), f"`{_KUBERAY}` is no longer involved: `managedBy` is dropped")
    ends = "`backoffLimit` counts new clusters" if value(spec, "backoffLimit") else "the job has no `backoffLimit`"
    message = f"a lost worker is replaced; a lost head ends the run, and {ends}"
    job.say(REPLACED, job.at("headGroupSpec", key=True), message)
    _say_of_driver(job)
    _say_of_groups(job)
    _say_of_versions(job)
    _say_of_resources(job)
    _say_of_parameters(job)
    return True


def _uncompiled(job: RayJobAsRead) -> Iterator[tuple[Path, str, str]]:
    """Where a job asks for what needs an operator, or brings no cluster or program: what is said, and what to do."""
    spec, cluster = job.spec, get(job.document.tree, *CLUSTER)
    if get(spec, "clusterSelector"):
        message = "`clusterSelector` runs the program in an existing cluster"
        yield ("spec", "clusterSelector"), message, "write `rayClusterSpec`, or submit with `ray job submit`"
    elif value(spec, "submissionMode") == "InteractiveMode":
        message = "`submissionMode: InteractiveMode`: no driver submits this job"
        yield ("spec", "submissionMode"), message, "write `entrypoint`, and remove the mode"
    elif not (value(spec, "entrypoint") or "").strip() and get(spec, "submitterPodTemplate") is None:
        message = "the job has no `entrypoint`: the driver has nothing to submit"
        yield ("spec", "entrypoint"), message, "write the program, such as `python train.py`"
    needed = {
        "authOptions": value(cluster, "authOptions", "mode") == "token",
        "tlsOptions": value(cluster, "tlsOptions", "enabled") is True,
    }
    for field, why, help_ in _NEEDS_KUBERAY:
        if needed.get(field, get(cluster, field) is not None):
            yield (*CLUSTER, field), f"`{field}` needs the operator: {why}", help_
    workers = get(cluster, "workerGroupSpecs") or ()
    has_fixed_size = all(value(worker, "minReplicas") == value(worker, "maxReplicas") for worker in workers)
    if value(cluster, "enableInTreeAutoscaling") is True and not has_fixed_size:
        message = "`enableInTreeAutoscaling` needs the operator: an autoscaler adds and removes its pods"
        help_ = "give each group a fixed size: `minReplicas` equal to `maxReplicas`"
        yield (*CLUSTER, "enableInTreeAutoscaling"), message, help_


def _say_of_driver(job: RayJobAsRead) -> None:
    """Say where a command of the user's own decides whether the job has succeeded."""
    container = get(job.spec, "submitterPodTemplate", "spec", "containers", 0)
    if not get(container, "command"):
        return
    words = [leaf for field in ("command", "args") for _, leaf in leaves(get(container, field) or [])]
    texts = " ".join(str(leaf.value) for leaf in words)
    if "--no-wait" in texts or "job logs" in texts:
        message = "the driver's command exits with 0, even if the program fails"
        effect = "a failed training counts as a success"
        help_ = "use `ray job submit` without `--no-wait`, or remove the command"
        path = ("spec", "submitterPodTemplate", "spec", "containers", 0, "command")
        job.say(UNSEEN, path, message, effect=effect, help=help_, key=True)


def _say_of_groups(job: RayJobAsRead) -> None:
    """Say which groups do not know their place in a slice of TPUs, and which get another number of pods than they request."""
    for group in job.groups:
        hosts = value(group.tree, "numOfHosts")
        limits = get(group.ray_container, "resources", "limits") or {}
        if group.role != HEAD and type(hosts) is int and hosts > 1 and any(name.endswith("/tpu") for name in limits):
            message = f"the pods of `{group.group}` do not know their place in a slice of {hosts} hosts"
            effect = "the TPU webhook does not find KubeRay's labels on the pods"
            help_ = "write a JobSet with one Job for each slice"
            job.say(UNSERVED, (*group.path, "numOfHosts"), message, effect=effect, help=help_)
        numbers = [value(group.tree, name) for name in ("replicas", "minReplicas", "maxReplicas")]
        wanted, least, most = (number if type(number) is int else None for number in numbers)
        if wanted is None or value(group.tree, "suspend") is True or group.is_head:
            continue
        replicas = (*group.path, "replicas")
        if most is not None and wanted > most:
            message = f"`{group.group}` requests {wanted} replicas and gets {most}: `maxReplicas` is {most}"
            job.say(BOUNDED, replicas, message, help=f"write `maxReplicas: {wanted}`, or `replicas: {most}`")
        elif least is not None and wanted < least:
            message = f"`{group.group}` requests {wanted} replicas and gets {least}: `minReplicas` is {least}"
            job.say(BOUNDED, replicas, message, help=f"write `replicas: {least}`, or `minReplicas: {wanted}`")


def _say_of_versions(job: RayJobAsRead) -> None:
    """Compare what Ray's own images say in their tags: `2.46.0-py312-gpu`."""
    first: dict[str, tuple[str, str]] = {}
    for group in job.groups:
        image = str(value(group.ray_container, "image") or "")
        repository, _, tag = image.partition("@")[0].rpartition(":")
        parts = tag.split("-")
        if not repository.endswith(_IMAGES) or not tag or is_placeholder(image):
            continue
        found = [("Ray", part) for part in parts[:1] if part.replace(".", "").isdigit()]
        found += [("Python", f"3.{part[3:]}") for part in parts if part.startswith("py3") and part[3:].isdigit()]
        for what, version in found:
            other, theirs = first.setdefault(what, (group.group, version))
            if version != theirs:
                path = (*group.path, "template", "spec", "containers", 0, "image")
                message = f"`{group.group}` has {what} {version}, but `{other}` has {theirs}"
                effect = "Ray refuses to join nodes of other versions: the pods restart, and the job waits for them"
                job.say(VERSIONS, path, message, effect=effect, help="use images of one Ray and one Python version")


def _say_of_resources(job: RayJobAsRead) -> None:
    """Compare the GPUs that Ray counts with those that the pods have, and with what the program asks for."""
    most: int | None = 0
    for group in job.groups:
        limits = get(group.ray_container, "resources", "limits") or {}
        held = [value(limits, name) for name in limits if is_gpu(name)]
        counts = [parsed_int(str(one)) for one in held]
        gpus = counts[0] if len(counts) == 1 else 0 if not counts else None
        written = group.params.get("num-gpus")
        counted = gpus if written is None else parsed_int(written)
        if get(group.tree, "resources"):
            counted = None  # KubeRay's own field, which wins
        most = None if most is None or counted is None else max(most, counted)
        if counted is None or gpus is None or counted == gpus:
            continue
        message = f"Ray counts {counted} GPUs in each pod of `{group.group}`, which has {gpus}"
        effect = f"{gpus - counted} GPUs of each pod are idle" if counted < gpus else "tasks share GPUs, or find none"
        help_ = "remove it: KubeRay takes the number from the limits"
        job.say(RESOURCES, (*group.path, "rayStartParams", "num-gpus"), message, effect=effect, help=help_)
    wanted = value(job.spec, "entrypointNumGpus")
    if most is not None and isinstance(wanted, (int, float)) and wanted > most:
        there = f"the largest has {most}" if most else "no group requests any"
        message = f"`entrypoint` needs {wanted:g} GPUs of one node, and {there}"
        effect = "the program waits for such a node and never starts"
        help_ = "remove it, or request GPUs"
        if most:
            help_ = f"use at most {most}; what the program starts asks for GPUs of its own"
        level = ERROR if most else WARNING
        job.say(RESOURCES, ("spec", "entrypointNumGpus"), message, effect=effect, help=help_, level=level)


def _say_of_parameters(job: RayJobAsRead) -> None:
    """Look at what `ray start` takes as a number, and at a dashboard that only the head's own pod can reach."""
    for group in job.groups:
        for name, text in group.params.items():
            path = (*group.path, "rayStartParams", name)
            is_number = parsed_int(text) is not None or is_placeholder(text) or "$" in text
            if name in (*_PORTS, *_AMOUNTS) and not is_number:
                help_ = _in_bytes(text) if name.endswith("memory") else "write a whole number"
                effect = "`ray start` fails in each pod, and the program never runs"
                job.say(PARAMETER, path, f"`{name}: {text}` is not a whole number", effect=effect, help=help_)
            elif name == "dashboard-host" and text in _LOCAL and group.is_head:
                message = f"the dashboard of the head listens on `{text}` alone"
                effect = "the driver's pod cannot reach it: the program is never submitted"
                job.say(PARAMETER, path, message, effect=effect, help="remove it: KubeRay sets `0.0.0.0`")


def _in_bytes(text: str) -> str:
    """How an amount of Kubernetes is written in bytes, as Ray takes it."""
    try:
        return f"write bytes: `{Quantity.parse(text).ceil()}`"
    except QuantityError:
        return "write a whole number of bytes"
