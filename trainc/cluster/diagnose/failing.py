"""Causes in pods that ran, and between them.

Of exit codes, evictions and lost nodes the earliest counts, and the others end after it. Pods that run may miss their
Service, or a coordinator that never came.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from trainc.cluster.diagnose.cause import (
    FAILED,
    WAITS,
    Cause,
    Manifest,
    at,
    condition,
    is_true,
    labels,
    maps,
    moment,
    moments,
    number,
    text,
)
from trainc.cluster.diagnose.cluster import DumpedJob, DumpedPod, container_of, label
from trainc.text.counting import counted
from trainc.text.numbers import index_below, whole_number
from trainc.text.object_keys import JOBSET_NAME, REPLICATED_JOB

TOGETHER = 2.0  # seconds: time stamps of containers are whole seconds, by the clocks of different nodes
# What an exit code means, beside the signals.
_CODES = {
    1: "the program ended with an error",
    2: "wrong usage of the program, or of the shell",
    126: "the command is not executable",
    127: "the command is not in the image",
    128: "the runtime could not start it",
    255: "the program ended with an error out of range",
}  # fmt: skip
_SIGNALS = {4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 15: "SIGTERM"}  # fmt: skip
_HELP = {
    "SIGABRT": "see the log; NCCL's watchdog and failed assertions end like this",
    "SIGBUS": "enlarge /dev/shm: mount an emptyDir with `medium: Memory` there",
    "SIGSEGV": "see the log; a native library crashed",
    "SIGKILL": "something killed it: see the node's events; memory of child processes counts as well",
    "SIGTERM": "something terminated it: see who deleted or evicted the pod",
}
_DISRUPTIONS = {
    "PreemptionByScheduler": ("was preempted by pods of higher priority", "give it a higher priority class"),
    "DeletionByTaintManager": ("was deleted because its node has a NoExecute taint", "check the node; tolerate the taint for longer"),
    "EvictionByEvictionAPI": ("was evicted, as when a node is drained", "restart the JobSet for it without counting the restart"),
    "DeletionByPodGC": ("was removed because its node is gone", "check the node"),
    "TerminationByKubelet": ("was terminated by its node", "see the message: pressure, a shutdown, or a critical pod"),
    "ExclusivePlacementViolation": ("was placed outside of its Job's topology domain", "none: JobSet places it again"),
}  # fmt: skip
# What a node did to a pod, by the pod's reason and message: a name, words, what to do, the field of the pod.
_KUBELET: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (r"^DeadlineExceeded", "pod-deadline", "ran longer than its pod's activeDeadlineSeconds", "raise it", ("activeDeadlineSeconds",)),
    (r"^(UnexpectedAdmissionError|NodeAffinity|OutOf)", "node-refused", "was refused by {node} ({reason})", "check the node's devices; a device plugin may be restarting", ()),
    (r"^(NodeLost|Terminated|NodeShutdown|Shutdown)|node shutdown", "node-lost", "ended with {node}, which went down", "check the node", ()),
    (r"EmptyDir", "volume-full", "was evicted by {node}: an emptyDir outgrew its limit", "raise sizeLimit", ("volumes",)),
    (r"ephemeral", "evicted-by-node", "was evicted by {node}: local disk ran out", "request and limit ephemeral-storage, or write elsewhere", ("containers",)),
    (r"low on resource: memory", "evicted-by-node", "was evicted by {node}: memory ran out on the node", "request the memory that it uses", ("containers",)),
    (r"", "evicted-by-node", "was terminated by {node} ({reason})", "see the message, and check the node", ()),
)  # fmt: skip
_COORDINATOR = "jobset.sigs.k8s.io/coordinator"


class Failure(NamedTuple):
    """How one pod failed, and when; `order` sorts failures of the same moment, the more telling first."""

    pod: DumpedPod
    when: str
    order: int
    name: str
    words: str
    help: str
    message: str = ""
    field: tuple[str | tuple[str, object], ...] = ()


def failing(run: DumpedJob) -> Iterator[Cause]:
    """The pod that failed first, with how many followed; pods of earlier attempts count where none of the last failed."""
    failures = [failure for pod in unreplaced(run) if (failure := _failure(run, pod)) is not None]
    if not failures:
        return
    attempts = [whole_number(label(one.pod.tree, "jobset.sigs.k8s.io/restart-attempt")) or 0 for one in failures]
    latest = max(attempts)
    failures = [one for one, attempt in zip(failures, attempts, strict=True) if attempt == latest]
    known = [one for one in failures if moment(one.when) is not None] or failures
    began = min((moment(one.when) or 0.0 for one in known), default=0.0)
    together = [one for one in known if (moment(one.when) or 0.0) - began <= TOGETHER]
    first = min(together, key=lambda one: (one.order, moment(one.when) or 0.0, one.pod.index or 0, one.pod.name))
    others = [one for one in failures if one.pod is not first.pod]
    start = moment(first.when)
    also = [one for one in others if start is not None and (moment(one.when) or start) - start <= TOGETHER]
    headline = f"{run.shown(first.pod)} {first.words}"
    quotes = [first.message] if first.message else []
    if others:
        counts = sorted(Counter(one.name for one in others).items())
        kinds = ", ".join(f"{count} {name}" for name, count in counts)
        quotes.append(f"{counted(len(others), 'other pod')} failed as well: {kinds}")
    if also:
        quotes.append(f"{len(also)} of them within {TOGETHER:g} s, so it is not certain which failed first")
    role = first.pod.role
    steps = run.resources(role) if first.field == ("containers",) else run.field(role, *first.field)
    yield Cause(
        first.name, 7, headline, first.help, first.when, FAILED if first.pod.phase == "Failed" else WAITS,
        tuple(run.shown(one.pod) for one in (first, *others)), tuple(quotes), (steps,) if first.field else (),
    )  # fmt: skip


def unreplaced(run: DumpedJob) -> list[DumpedPod]:
    """The pods without those that failed and have a younger one in their place that works; all of a failed job."""
    if is_true(run.tree, "Failed"):
        return run.pods
    works = {
        (pod.job, pod.index)
        for pod in run.pods
        if pod.index is not None and pod.phase in ("Running", "Succeeded") and not pod.is_deleted
    }
    return [pod for pod in run.pods if pod.phase != "Failed" or (pod.job, pod.index) not in works]


def _failure(run: DumpedJob, pod: DumpedPod) -> Failure | None:
    target, ready_pod = condition(pod.tree, "DisruptionTarget"), condition(pod.tree, "Ready")
    ended, container, is_init = _ended(pod)
    if text(target, "status") == "True":
        reason, message = text(target, "reason"), text(target, "message")
        words, help_ = _DISRUPTIONS.get(reason, (f"was disrupted ({reason})", "see the message"))
        stamps = (text(target, "lastTransitionTime"), text(ended, "finishedAt"))
        when = min(moments(stamps), default=(0.0, ""))[1]
        if reason == "TerminationByKubelet":
            return _by_kubelet(pod, when, message or text(pod.tree, "status", "message"))
        words += f" (node `{pod.node}`)" if pod.node else ""
        return Failure(pod, when, 0, "disrupted", words, help_, message)
    reason = text(pod.tree, "status", "reason")
    if pod.phase == "Failed" and reason:
        when = text(ended, "finishedAt") or text(ready_pod, "lastTransitionTime")
        when = when or text(pod.tree, "status", "startTime") or pod.created
        return _by_kubelet(pod, when, text(pod.tree, "status", "message"), reason)
    if pod.node and pod.phase in ("Running", "Unknown"):
        # A pod whose node does not answer runs for the API server and for nobody else.
        node = run.cluster.find("Node", "", pod.node)
        ready = condition(node, "Ready")
        gone = bool(run.cluster.kinds.get("Node")) and not node
        lost = pod.phase == "Unknown" or text(ready_pod, "reason") == "NodeNotReady" or reason == "NodeLost"
        if (ready and text(ready, "status") != "True") or (lost and not ready) or gone:
            when = text(ready, "lastTransitionTime") or text(ready_pod, "lastTransitionTime")
            words = f"is on node `{pod.node}`, which is {'gone' if gone and not ready else 'not ready'}"
            help_ = "check the node; a pod on a lost node stays until it is force-deleted or the node returns"
            return Failure(pod, when, 0, "node-lost", words, help_, text(ready, "message"))
    return _by_code(run, pod, ended, container, is_init) if ended else None


def _by_kubelet(pod: DumpedPod, when: str, message: str, reason: str = "Evicted") -> Failure:
    """A pod that its node refused or ended, by the pod's own reason and message."""
    node = f"node `{pod.node}`" if pod.node else "its node"
    name, words, help_, field = next(row[1:] for row in _KUBELET if re.search(row[0], f"{reason}: {message}"))
    return Failure(pod, when, 0, name, words.format(node=node, reason=reason), help_, message, field)


def _ended(pod: DumpedPod) -> tuple[Manifest, str, bool]:
    """The container that ended first with an error, in this life or, while it restarts, in the last one."""
    endings: list[tuple[float, Manifest, str, bool]] = []
    for status, is_init in pod.statuses():
        waits = text(status, "state", "waiting", "reason") == "CrashLoopBackOff"
        waits = waits or not text(status, "state", "running", "startedAt")
        for key in ("state", "lastState") if waits or is_init else ("state",):
            one = at(status, key, "terminated")
            if type(one) is dict and number(one, "exitCode") not in (0, None):
                endings.append((moment(text(one, "finishedAt")) or 0.0, one, text(status, "name"), is_init))
                break
    if not endings:
        return {}, "", False
    _, ended, name, is_init = min(endings, key=lambda one: one[0])
    return ended, name, is_init


def _by_code(run: DumpedJob, pod: DumpedPod, ended: Manifest, container: str, is_init: bool) -> Failure:
    code = number(ended, "exitCode") or 0
    reason, message = text(ended, "reason"), text(ended, "message")
    place = ("initContainers" if is_init else "containers", ("name", container))
    which = f"{'init ' if is_init else ''}container `{container}`"
    counts = (number(one, "restartCount") or 0 for one, _ in pod.statuses() if text(one, "name") == container)
    restarts = next(counts, 0)
    again = f", {restarts} restarts so far" if restarts and pod.phase != "Failed" else ""
    log = f"see its log: kubectl logs -n {pod.namespace} {pod.name} -c {container}{' --previous' if again else ''}"
    failed = partial(Failure, pod, text(ended, "finishedAt"), message=message, field=(*place, "command"))
    if reason == "OOMKilled":
        spec = container_of(at(pod.tree, "spec"), container) or container_of(run.pod_spec(pod.role), container)
        limit = labels(spec, "resources", "limits").get("memory", "")
        words = f"ran out of memory: {which} was OOMKilled (137){f' at its limit of {limit}' if limit else ''}{again}"
        help_, field = "raise the memory limit, or use less", (*place, "resources", "limits", "memory")
        return failed(0, "out-of-memory", words, help_, field=field)
    if reason in ("StartError", "ContainerCannotRun") or code in (126, 127):
        words = f"could not start: {which} ended with {code} ({_CODES.get(code, reason)}){again}"
        return failed(0, "command-not-started", words, "correct `command`, or the image")
    if signal := _SIGNALS.get(number(ended, "signal") or (code - 128 if code > 128 else 0), ""):
        # Whoever is asked to end, or killed without a word, mostly follows somebody else's failure.
        order = 3 if signal in ("SIGTERM", "SIGKILL") else 1
        words = f"was killed by {signal}: {which} exited with {code}{again}"
        return failed(order, f"exit-{code}", words, _HELP.get(signal, log))
    words = f"failed: {which} exited with {code} ({_CODES.get(code, 'a code of the program')}){again}"
    return failed(1, f"exit-{code}", words, log)


def deadline(run: DumpedJob) -> Iterator[Cause]:
    """Child Jobs that ran longer than their activeDeadlineSeconds."""
    for job in run.jobs:
        failed = condition(job, "Failed")
        if is_true(job, "Failed") and text(failed, "reason") == "DeadlineExceeded":
            role = label(job, REPLICATED_JOB)
            yield Cause(
                "deadline", 7, f"Job `{text(job, 'metadata', 'name')}` ran longer than its activeDeadlineSeconds",
                "raise it, or find what took so long", text(failed, "lastTransitionTime"), FAILED,
                quotes=(text(failed, "message"),), fields=(run.job_field(role, "activeDeadlineSeconds"),),
            )  # fmt: skip
            return


def service(run: DumpedJob) -> Iterator[Cause]:
    """The headless Service that gives pods their names: missing, of another kind, or with nothing behind it."""
    network = at(run.tree, "spec", "network")
    is_needed = (
        run.kind == "JobSet" and run.tree and at(network, "enableDNSHostnames") is not False and len(run.pods) > 1
    )
    if not is_needed or not run.cluster.has("Service", run.namespace):
        return
    name = text(network, "subdomain") or run.name
    tree = run.cluster.find("Service", run.namespace, name)
    since = text(run.tree, "metadata", "creationTimestamp")
    cause = partial(Cause, stage=6, since=since, fields=(("spec", "network"),))
    selector = labels(tree, "spec", "selector")
    if not tree:
        yield cause(
            "no-service", headline=f"Service `{name}` does not exist, so pods cannot resolve each other's names",
            help="apply the Service that trainc writes next to the JobSet; check whether a prune removed it",
        )  # fmt: skip
    elif selector and not any(selector.items() <= labels(pod.tree, "metadata", "labels").items() for pod in run.pods):
        shown = ", ".join(f"{key}={value}" for key, value in sorted(selector.items()))
        yield cause(
            "service-selects-nothing", headline=f"Service `{name}` selects no pod of the job (`{shown}`)",
            help=f"delete it, or let it select `{JOBSET_NAME}={run.name}`",
        )  # fmt: skip
    elif text(tree, "spec", "clusterIP") not in ("None", ""):
        yield cause(
            "service-not-headless", headline=f"Service `{name}` has a cluster IP, so pods get no DNS names",
            help="delete it and apply the headless one (`clusterIP: None`)",
        )  # fmt: skip
    elif run.cluster.has("EndpointSlice", run.namespace) and any(text(pod.tree, "status", "podIP") for pod in run.pods):
        there = any(
            maps(one, "endpoints") for one in run.cluster.all("EndpointSlice")
            if labels(one, "metadata", "labels").get("kubernetes.io/service-name") == name
            and text(one, "metadata", "namespace") == run.namespace
        )  # fmt: skip
        if not there:
            yield cause(
                "no-endpoints", headline=f"Service `{name}` has no endpoints, though pods have addresses",
                help="set `publishNotReadyAddresses: true`, or see why no pod is ready",
                fields=(("spec", "network", "publishNotReadyAddresses"),),
            )  # fmt: skip


def coordinator(run: DumpedJob) -> Iterator[Cause]:
    """The pod that the others meet at: a name that no pod has, or one that ended while the others run."""
    host, role, variable = _named(run)
    others = [pod for pod in run.pods if pod.phase == "Running"]
    if not host or not others:
        return
    pod = next(
        (one for one in run.pods if (text(one.tree, "spec", "hostname") or one.name.rpartition("-")[0]) == host), None
    )
    since = min((one.created for one in others if one.created), default="")
    env = ("env", ("name", variable), "value") if variable else ()
    container = next((text(one, "name") for one in maps(run.pod_spec(role), "containers")), "")
    field = run.field(role, "containers", ("name", container), *env) if variable else ("spec", "coordinator")
    job, _, index = host.rpartition("-")
    # Whether a Job of the JobSet makes, or will make, a pod of this name.
    maker = next((one for one in run.roles() if job.rpartition("-")[0] == f"{run.name}-{text(one, 'name')}"), {})
    pods = number(maker, "template", "spec", "parallelism")
    if pod is None and not (maker and index_below(index, 1 if pods is None else pods) is not None):
        yield Cause(
            "no-coordinator", 6, f"no pod of the job is named `{host}`, where the others look for the coordinator",
            f"correct the name in {variable or 'spec.coordinator'}: JOBSET-ROLE-JOB-POD.SUBDOMAIN", since, fields=(field,),
        )  # fmt: skip
    elif pod is not None and pod.phase == "Succeeded":
        yield Cause(
            "coordinator-ended", 7, f"{run.shown(pod)}, the coordinator, ended with 0 while {len(others)} pods still run",
            "see why it ended before the others; set a successPolicy if its end is the job's end",
            text(condition(pod.tree, "Ready"), "lastTransitionTime") or since, fields=(field,),
        )  # fmt: skip


def _named(run: DumpedJob) -> tuple[str, str, str]:
    """The coordinator's host name, the role that names it, and the variable in which it does."""
    for pod in run.pods:
        if address := label(pod.tree, _COORDINATOR):
            return address.partition(".")[0], pod.role, ""
    subdomain = text(run.tree, "spec", "network", "subdomain") or run.name
    name = re.compile(rf"([a-z0-9][a-z0-9-]*-[0-9]{{1,18}}-[0-9]{{1,18}})\.{re.escape(subdomain)}(?![a-z0-9-])")
    for role in run.roles():
        for container in maps(run.pod_spec(text(role, "name")), "containers"):
            for variable in maps(container, "env"):
                match = name.match(text(variable, "value"))
                if match and ("ADDR" in text(variable, "name") or "HOST" in text(variable, "name")):
                    return match[1], text(role, "name"), text(variable, "name")
    return "", "", ""
