"""Causes between a job and its pods: child Jobs, pods, claims or Services that are refused, and roles that wait."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainc.cluster.diagnose.cause import Cause, at, condition, is_true, maps, moment, number, text
from trainc.cluster.diagnose.cluster import DumpedJob, Event, label, name_of
from trainc.model.paths import Steps
from trainc.text.object_keys import REPLICATED_JOB

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


_STARTED = ("ready", "failed")


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
