"""Causes before a job has pods.

Another manager, suspension, and what Kueue says of its Workload; child Jobs, pods, claims or Services that are refused, and
roles that wait.
"""

import re
from collections.abc import Iterator

from trainc.cluster.diagnose.cause import FAILED, Cause, Manifest, at, condition, is_true, maps, moment, number, text
from trainc.cluster.diagnose.cluster import DumpedJob, Event, label, name_of
from trainc.model.paths import Steps
from trainc.text.object_keys import JOBSET_CONTROLLER, KUEUE_QUEUE, MULTIKUEUE, REPLICATED_JOB

_BUILT_IN = (JOBSET_CONTROLLER, "kubernetes.io/job-controller")
QUEUE: tuple[str, ...] = ("metadata", "labels", KUEUE_QUEUE)
_SUSPEND = ("spec", "suspend")
_NAMED = re.compile(r"(LocalQueue|ClusterQueue) (\S+) is")
_OPEN, _SILENT = "see Kueue's message", "Kueue gives no reason yet; others may be ahead of it in the queue"
# What Kueue says of a Workload without quota: a name, words for it, what to do. The first that fits counts.
_MEANINGS: dict[re.Pattern[str], tuple[str, str, str]] = {
    re.compile(row[0]): row[1:]
    for row in (
        (r"LocalQueue (\S+) doesn't exist", "no-queue", "LocalQueue `{0}` does not exist in this namespace", "name one that exists, or create it"),
        (r"ClusterQueue (\S+) doesn't exist", "no-queue", "LocalQueue `{queue}` leads to ClusterQueue `{0}`, which does not exist", "name another queue, or let the administrator create the ClusterQueue"),
        (r"(LocalQueue|ClusterQueue) (\S+) is (?:inactive|stopped)", "queue-stopped", "{0} `{1}` is not active", "check its conditions: they show whether it is stopped or lacks a flavor"),
        (r"namespace doesn't match ClusterQueue selector", "namespace-not-selected", "the ClusterQueue behind `{queue}` does not serve this namespace", "use a queue whose namespaceSelector matches, or label the namespace"),
        (r"insufficient quota for (\S+) in flavor ([^,\s]+),.*?maximum capacity \((\S+) > (\S+)\)", "queue-too-small", "it requests {2} {0}; flavor `{1}` never has more than {3}", "request fewer nodes or smaller pods, or name another queue; waiting does not help"),
        (r"resource (\S+) unavailable in ClusterQueue", "resource-not-covered", "the ClusterQueue behind `{queue}` does not cover `{0}`", "remove that request, or let the administrator add the resource"),
        (r"topology .*to fit|no topology domains", "topology-too-small", "no topology domain of queue `{queue}` has room for its pods", "request fewer nodes, or a wider or a preferred topology"),
        (r"insufficient unused quota for (\S+) in flavor ([^,\s]+), (\S+) more needed.*Pending the preemption", "queue-full", "queue `{queue}` lacks {2} {0} in flavor `{1}`; Kueue is preempting others for it", "wait: it starts when the others are gone"),
        (r"insufficient unused quota for (\S+) in flavor ([^,\s]+), (\S+) more needed", "queue-full", "queue `{queue}` lacks {2} {0} in flavor `{1}`", "wait until others finish, or give it a higher priority class"),
        (r"untolerated taint|match node affinity", "no-flavor", "no flavor of queue `{queue}` accepts its tolerations and node selectors", "tolerate the flavor's taint, or change the node selector"),
    )
}  # fmt: skip
_EVICTIONS = {
    "Preempted": ("was preempted", "it is queued again; give it a higher priority class, or request less"),
    "PodsReadyTimeout": ("was evicted: not all pods were ready in time", "find why pods did not become ready (events of the pods), or let the administrator raise waitForPodsReady.timeout"),
    "AdmissionCheck": ("was evicted: an admission check revoked its approval", "check the admission check's message"),
    "ClusterQueueStopped": ("was evicted: the ClusterQueue is stopped", "ask its administrator for `stopPolicy: None`"),
    "LocalQueueStopped": ("was evicted: the LocalQueue is stopped", "ask its administrator for `stopPolicy: None`"),
    "NodeFailures": ("was evicted: nodes failed and no others could replace them", "check the nodes"),
    "Deactivated": ("is deactivated", "set `spec.active: true` on the Workload, or start a new run"),
    "RequeuingLimitExceeded": ("is deactivated: it was requeued too often", "fix why its pods do not become ready, then start a new run"),
    "MaximumExecutionTimeExceeded": ("is deactivated: it ran longer than kueue.x-k8s.io/max-exec-time-seconds", "raise or remove that label, then start a new run"),
}  # fmt: skip
_HANDSHAKE = ("leader pod not yet scheduled", "expected 1 leader pod", "follower pod node selector not set")
# What a server says on refusing an object: a name, words for it, what to do, and the field of the pod template.
_REFUSALS: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    (r"exceeded quota: ([^,\s]+), requested: (.+?), used: (.+?), limited: (.+)", "quota-exceeded", "ResourceQuota `{0}` is used up: {1} requested, {2} used of {3}", "free quota, request less, or ask for a larger quota", ("containers",)),
    (r"failed quota: ([^:\s]+): must specify (.+)", "quota-needs-amounts", "ResourceQuota `{0}` requires every container to set {1}", "set them under `resources`", ("containers",)),
    (r"no PriorityClass with name (\S+) was found", "no-priority-class", "PriorityClass `{0}` does not exist", "name one that exists, or create it", ("priorityClassName",)),
    (r"serviceaccount \"([^\"]+)\" not found", "no-service-account", "ServiceAccount `{0}` does not exist in this namespace", "create it, or name one that exists", ("serviceAccountName",)),
    (r"RuntimeClass \"([^\"]+)\" not found", "no-runtime-class", "RuntimeClass `{0}` does not exist", "name one that exists, or install it", ("runtimeClassName",)),
    (r"violates PodSecurity \"([^\"]+)\": (.+)", "pod-security", "Pod Security `{0}` rejects it: {1}", "set what it requires, or ask for another level for the namespace", ("securityContext",)),
    (r"(m(?:ax|in)imum \S+ usage per \w+ is .+)", "limit-range", "a LimitRange rejects it: {0}", "change the amounts under `resources`", ("containers",)),
    (r"failed calling webhook \"([^\"]+)\": (.+)", "webhook-unreachable", "webhook `{0}` does not respond, so the API server rejects it", "check the pods of that webhook; nothing in Git causes this", ()),
    (r"admission webhook \"([^\"]+)\" denied the request: (.+)", "webhook-denied", "webhook `{0}` rejects it: {1}", "change what it names", ()),
    (r"(\S+) already exists", "already-exists", "an object of that name already exists and has another owner", "rename or delete one", ()),
)  # fmt: skip
_PATTERNS = {re.compile(row[0], re.DOTALL): row[1:] for row in _REFUSALS}
_STARTED = ("ready", "failed")


def managed_elsewhere(run: DumpedJob) -> Iterator[Cause]:
    """A job that another controller than the built-in one works on."""
    if not (manager := text(run.tree, "spec", "managedBy")) or manager in _BUILT_IN:
        return
    remote = manager == MULTIKUEUE
    yield Cause(
        "managed-elsewhere", 0, f"`{manager}` manages this {run.kind}; nothing runs in this cluster",
        "look for it in the worker cluster that MultiKueue chose" if remote else f"check the controller `{manager}`",
        since=text(run.tree, "metadata", "creationTimestamp"), fields=(("spec", "managedBy"),),
    )  # fmt: skip


def suspended(run: DumpedJob) -> Iterator[Cause]:
    """Why a suspended job stays suspended."""
    if at(run.tree, "spec", "suspend") is not True:
        return
    since = text(condition(run.tree, "Suspended"), "lastTransitionTime")
    workloads = run.cluster.workloads(run.namespace, run.kind, run.name)
    workload = max(workloads, key=lambda tree: (text(tree, "metadata", "creationTimestamp"), name_of(tree)), default={})
    if workload:
        queue = text(workload, "spec", "queueName") or run.queue
        evicted, finished = condition(workload, "Evicted"), condition(workload, "Finished")
        reserved = condition(workload, "QuotaReserved")
        # Kueue may have looked at it again after its eviction, and say why it does not fit.
        later = text(reserved, "lastTransitionTime") > text(evicted, "lastTransitionTime")
        if is_true(workload, "Finished"):
            yield Cause(
                "workload-finished", 1, "its Workload is finished, so Kueue never starts it again", "start a new run",
                since=text(finished, "lastTransitionTime") or since, status=FAILED, quotes=_quotes(finished),
                fields=(QUEUE,),
            )  # fmt: skip
        elif at(workload, "spec", "active") is False or is_true(workload, "DeactivationTarget"):
            yield _evicted(queue, evicted or condition(workload, "DeactivationTarget"), workload, "Deactivated", since)
        elif is_true(workload, "QuotaReserved"):
            yield from _checks(workload, since)
        elif is_true(workload, "Evicted") and not (later and text(reserved, "message")):
            yield _evicted(queue, evicted, workload, "", since)
        else:
            yield _waiting(run, queue, workload, since)
    elif run.queue and (failed := run.events("ErrWorkloadCompose", "CreateWorkloadFailed")):
        yield Cause(
            "workload-not-created", 1, f"Kueue cannot create its Workload for queue `{run.queue}`",
            "change what Kueue's message names", since=failed[-1].first, quotes=(failed[-1].message,), fields=(QUEUE,),
        )  # fmt: skip
    elif run.queue:
        words, help_ = "no Workload was given", "add `workload` to kubectl get"
        if run.cluster.has("Workload", run.namespace):
            words, help_ = "Kueue created no Workload for it", "check that Kueue runs and has the JobSet integration"
        headline = f"it waits for queue `{run.queue}`, and {words}"
        yield Cause("no-workload", 1, headline, help_, since=since, fields=(QUEUE,))
    else:
        yield Cause(
            "suspended", 1, "`suspend: true` is set and no queue is named",
            "set `suspend: false`, or name a queue with the label kueue.x-k8s.io/queue-name", since=since,
            fields=(_SUSPEND,),
        )  # fmt: skip


def _evicted(queue: str, evicted: Manifest, workload: Manifest, otherwise: str, since: str) -> Cause:
    reason = text(evicted, "reason")
    plain = reason.removeprefix("DeactivatedDueTo")
    words, help_ = _EVICTIONS.get(plain) or _EVICTIONS.get(otherwise) or (f"was evicted ({reason or 'no reason'})", "")
    state = at(workload, "status", "requeueState")
    quotes = tuple(dict.fromkeys((*_quotes(evicted), *_quotes(condition(workload, "Preempted")))))
    count, again = number(state, "count"), text(state, "requeueAt")
    if count and again:
        quotes = (*quotes, f"requeued {count} times; Kueue tries again at {again}")
    return Cause(
        "evicted" if words.startswith("was") else "deactivated", 1, f"it {words} (queue `{queue}`)", help_,
        since=text(evicted, "lastTransitionTime") or since, quotes=quotes, fields=(QUEUE,),
    )  # fmt: skip


def _checks(workload: Manifest, since: str) -> Iterator[Cause]:
    """Quota is reserved: what still holds it back is an admission check, or nothing."""
    admission = text(workload, "status", "admission", "clusterQueue")
    waiting = [one for one in maps(workload, "status", "admissionChecks") if text(one, "state") != "Ready"]
    for check in waiting[:1]:
        state, name = text(check, "state"), text(check, "name")
        words = {"Rejected": "rejected it", "Retry": "asks to try again later"}.get(state, "has not approved it yet")
        yield Cause(
            "admission-check", 1, f"quota is reserved in `{admission}`, but admission check `{name}` {words}",
            "check the object that the admission check watches, such as the ProvisioningRequest",
            since=text(check, "lastTransitionTime") or since, quotes=_quotes(check), fields=(QUEUE,),
        )  # fmt: skip
    if not waiting:
        done = is_true(workload, "Admitted")
        yield Cause(
            "not-resumed", 1, f"Kueue {'admitted it' if done else 'reserved its quota'}, but it is still suspended",
            "check whether Kueue's patch is rejected, and whether a GitOps tool sets `suspend: true` again",
            since=text(condition(workload, "QuotaReserved"), "lastTransitionTime") or since,
            quotes=_quotes(condition(workload, "Admitted")), fields=(_SUSPEND, QUEUE),
        )  # fmt: skip


def _waiting(run: DumpedJob, queue: str, workload: Manifest, since: str) -> Cause:
    reserved = condition(workload, "QuotaReserved")
    events = run.cluster.events("Workload", run.namespace, name_of(workload), "Pending")
    message = text(reserved, "message") or (events[-1].message if events else "")
    # Name, headline and help for what Kueue says of it.
    name, words, help_ = "queued", f"it waits in queue `{queue}` for admission", _OPEN if message else _SILENT
    for pattern, row in _MEANINGS.items():
        if match := pattern.search(message):
            name, words, help_ = row[0], row[1].format(*match.groups(), queue=queue), row[2]
            break
    fields: tuple[Steps, ...] = (QUEUE,)
    quotes = [message] if message else []
    if match := _NAMED.search(message):
        space = run.namespace if match[1] == "LocalQueue" else ""
        quotes.extend(_quotes(condition(run.cluster.find(match[1], space, match[2]), "Active")))
    if name in ("queue-too-small", "queue-full"):
        pods = [text(one, "name") for one in maps(workload, "spec", "podSets")]
        if wanted := next((one for one in pods if f"pod set {one}:" in message), ""):
            fields = (run.job_field(wanted, "parallelism"), QUEUE)
    since = since or text(reserved, "lastTransitionTime")
    return Cause(name, 1, words, help_, since=since, quotes=tuple(quotes), fields=fields)


def _quotes(condition_: Manifest) -> tuple[str, ...]:
    message = text(condition_, "message")
    return (message,) if message else ()


def refused(run: DumpedJob) -> Iterator[Cause]:
    """Child Jobs, pods, claims and Services that the server refuses, as long as they are missing."""
    there = {name_of(job) for job in run.jobs}
    for event in run.events("JobCreationFailed")[::-1]:
        match = re.match(r'job "([^"]+)" creation failed', event.message)
        name = match[1] if match else ""
        if name not in there:
            roles = [text(role, "name") for role in run.roles()]
            role = next((role for role in roles if name.rpartition("-")[0] == f"{run.name}-{role}"), "")
            yield _refusal(run, "Job", name, event, role)
            break
    for kind, reason in (("PersistentVolumeClaim", "PVCCreationFailed"), ("Service", "HeadlessServiceCreationFailed")):
        events = run.events(reason)
        is_there = kind == "Service" and run.cluster.find(
            "Service", run.namespace, text(run.tree, "spec", "network", "subdomain") or run.name
        )
        if events and not is_there and not run.jobs:
            yield _refusal(run, kind, "", events[-1], "")
    for job in run.jobs:
        listed = run.cluster.events("Job", run.namespace, name_of(job), "FailedCreate")
        events = [event for event in listed if not any(word in event.message for word in _HANDSHAKE)]
        if not events or is_true(job, "Complete") or is_true(job, "Failed") or at(job, "spec", "suspend") is True:
            continue
        parallel, completions = number(job, "spec", "parallelism"), number(job, "spec", "completions")
        wanted = 1 if parallel is None else parallel
        if completions is not None:
            wanted = min(wanted, completions - (number(job, "status", "succeeded") or 0))
        live = [pod for pod in run.pods if pod.job == name_of(job) and pod.phase in ("Pending", "Running", "")]
        newest = max((moment(pod.created) or 0.0 for pod in live), default=0.0)
        # It has fewer pods than it may run at once, and none was created after the refusal.
        if len(live) < wanted and (moment(events[-1].last) or newest) >= newest:
            yield _refusal(run, "Pod", name_of(job), events[-1], label(job, REPLICATED_JOB))
            break


def _refusal(run: DumpedJob, kind: str, name: str, event: Event, role: str) -> Cause:
    job = f"child Job `{name}` is" if name else "a child Job is"
    what = {"Job": job, "Pod": f"pods of Job `{name}` are"}.get(kind, f"the {kind} is")
    for pattern, (rule, words, help_, field) in _PATTERNS.items():
        if match := pattern.search(event.message):
            detail = words.format(*(part.strip()[:200] for part in match.groups()))
            if field == ("containers",):  # of amounts, the place of the resource that the message names
                resource = re.search(r"(?:requested: |imum )(?:requests\.|limits\.)?([\w./-]+)", event.message)
                fields: tuple[Steps, ...] = (run.resources(role, resource[1] if resource else ""),)
            else:
                fields = (run.field(role, *field),) if field else ()
            return Cause(
                rule, 2, f"{what} not created: {detail}", help_, event.first, quotes=(event.message,),
                fields=fields,
            )  # fmt: skip
    return Cause(
        "not-created", 2, f"{what} not created: the API server rejects the request",
        "fix what the message names; `trainc validate` checks most of it before you push", event.first,
        quotes=(event.message,),
    )  # fmt: skip


def waiting_roles(run: DumpedJob) -> Iterator[Cause]:
    """Roles whose Jobs are not created yet, as the roles that they wait for are not ready or complete."""
    there = {label(job, REPLICATED_JOB) for job in run.jobs}
    statuses = {text(one, "name"): one for one in maps(run.tree, "status", "replicatedJobsStatus")}
    order = text(run.tree, "spec", "startupPolicy", "startupPolicyOrder")
    earlier: list[tuple[str, str]] = []
    for role in run.roles():
        name = text(role, "name")
        needs = [(text(one, "name"), text(one, "status") or "Complete") for one in maps(role, "dependsOn")]
        needs = needs or ([*earlier] if order == "InOrder" else [])
        open_ = []
        for need in needs:
            status, replicas = statuses.get(need[0], {}), number(run.role(need[0]), "replicas")
            reached = sum(
                number(status, key) or 0 for key in ("succeeded", *([] if need[1] == "Complete" else _STARTED))
            )
            if reached < (1 if replicas is None else replicas):
                open_.append(need)
        if name not in there and open_:
            wanted, state = open_[0]
            yield Cause(
                "waits-for-role", 9,
                f"role `{name}` waits until role `{wanted}` is {'ready' if state == 'Ready' else 'complete'}",
                f"check `{wanted}`; the job sets this order",
                since=text(run.tree, "metadata", "creationTimestamp"),
                fields=(("spec", "replicatedJobs", ("name", name), "dependsOn"),), is_result=True,
            )  # fmt: skip
        earlier.append((name, "Ready"))


def nothing_created(run: DumpedJob) -> Iterator[Cause]:
    """A JobSet that is not suspended, has no child Job, and no event that says why."""
    if run.kind != "JobSet" or not run.tree or run.jobs or run.pods or at(run.tree, "spec", "suspend") is True:
        return
    if not any(number(role, "replicas") != 0 for role in run.roles()):
        yield Cause(
            "no-jobs", 2, "every role has 0 replicas, so it never ends", "remove it, or set `replicas`",
            fields=(("spec", "replicatedJobs"),),
        )  # fmt: skip
    elif run.cluster.has("Job", run.namespace) or condition(run.tree, "StartupPolicyInProgress"):
        yield Cause(
            "no-child-jobs", 3, "the JobSet has no child Jobs and no event shows why",
            "check that the JobSet controller runs, and add `event` to kubectl get",
            since=text(run.tree, "metadata", "creationTimestamp"),
        )  # fmt: skip
