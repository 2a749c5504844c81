"""The answer for each job: every cause that is in effect now, and which of them came first."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from trainc.cluster.diagnose.admission import managed_elsewhere, nothing_created, refused, suspended, waiting_roles
from trainc.cluster.diagnose.cause import (
    DONE,
    FAILED,
    RUNS,
    UNKNOWN,
    WAITS,
    Cause,
    Diagnosis,
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
from trainc.cluster.diagnose.cluster import DumpedCluster, DumpedJob, DumpedPod, label, name_of, namespace_of, runs
from trainc.cluster.diagnose.failing import TOGETHER, coordinator, deadline, failing, service, unreplaced
from trainc.cluster.diagnose.scheduling import group_refused, pending, starting, stuck_deletion, stuck_init
from trainc.text.counting import counted
from trainc.text.object_keys import JOBSET_NAME, REPLICATED_JOB

_BY_RULE = re.compile(r"Container (\S+) for pod (\S+) failed with exit code (\d+)")
_FIRST_JOB = re.compile(r"first failed job: ([^)\s]+)")
_TERMINAL = {
    "FailedJobs": "a child Job failed, and the JobSet has no failurePolicy",
    "ReachedMaxRestarts": "a child Job failed, and no restart is left",
    "FailJobSetFailurePolicyAction": "a rule of its failurePolicy ends it",
}
_JOB_REASONS = {
    "BackoffLimitExceeded": ("its pods failed more often than backoffLimit allows", "backoffLimit"),
    "DeadlineExceeded": ("it ran longer than activeDeadlineSeconds", "activeDeadlineSeconds"),
    "PodFailurePolicy": ("a rule of its podFailurePolicy ends it", "podFailurePolicy"),
    "FailedIndexes": ("indexes failed", "backoffLimitPerIndex"),
    "MaxFailedIndexesExceeded": ("more indexes failed than maxFailedIndexes allows", "maxFailedIndexes"),
}
_PATIENCE = 600.0  # seconds that an init container, or the end of a pod, may take before it counts as stuck


def failed_jobs(run: DumpedJob) -> Iterator[Cause]:
    """The child Job that failed first, by its own condition: for a job whose pods are gone."""
    first = _FIRST_JOB.search(text(condition(run.tree, "Failed"), "message"))
    failed = [job for job in run.jobs if is_true(job, "Failed") or is_true(job, "FailureTarget")]
    failures = {name_of(job): condition(job, "FailureTarget") or condition(job, "Failed") for job in failed}
    since = {name: moment(text(one, "lastTransitionTime")) or 0.0 for name, one in failures.items()}
    failed.sort(key=lambda job: (first is None or name_of(job) != first[1], since[name_of(job)]))
    if not failed:
        if first and not run.jobs:
            yield Cause(
                "job-failed", 8, f"Job `{first[1]}` failed first; neither it nor its pods are in the input",
                "add `job`, `pod` and `event` to kubectl get, or ask where the logs are kept", status=FAILED,
            )  # fmt: skip
        return
    job = failed[0]
    failure = failures[name_of(job)]
    reason, message = text(failure, "reason"), text(failure, "message")
    words, field = _JOB_REASONS.get(reason, (reason or "it failed", ""))
    by_rule = _BY_RULE.search(message)
    detail = (
        f"container `{by_rule[1]}` of pod `{by_rule[2].rpartition('/')[2]}` exited with {by_rule[3]}" if by_rule else ""
    )
    yield Cause(
        "job-failed", 8, f"Job `{name_of(job)}` failed: {detail or words}",
        "see the log of its pods where logs are kept", text(failure, "lastTransitionTime"), FAILED,
        quotes=(message,) if message else (),
        fields=(run.job_field(label(job, REPLICATED_JOB), field),) if field else (), is_result=True,
    )  # fmt: skip


def restarts(run: DumpedJob) -> Iterator[str]:
    """How often the JobSet restarted and which restarts counted; a line for each of its last events of that."""
    total = number(run.tree, "status", "restarts") or 0
    if not total:
        return
    counted = number(run.tree, "status", "restartsCountTowardsMax") or 0
    most = number(run.tree, "spec", "failurePolicy", "maxRestarts") or 0
    free = f"; {total - counted} did not count, by a rule" if total > counted else ""
    yield f"{'1 restart' if total == 1 else f'{total} restarts'}: {counted} of maxRestarts {most} used{free}"
    restarting = condition(run.tree, "RestartingJobSet")
    reason = text(restarting, "reason")
    if text(restarting, "status") == "True":
        rule = reason.removeprefix("FailurePolicy_")
        yield "it is restarting now" + (f", by rule `{rule}`" if rule != reason else "")
    actions = ("RestartJobSetFailurePolicyAction", "RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction")
    for event in run.events(*actions)[-1:]:
        yield f"last restart at {event.last}: {event.message}"


_ACTIVE = (
    refused, nothing_created, group_refused, pending, starting, service, coordinator, failing, deadline, failed_jobs,
    waiting_roles,
)  # fmt: skip


def diagnoses(cluster: DumpedCluster) -> list[Diagnosis]:
    """Where each job of the dump stands, by namespace and name; TrainJobs that nobody compiled behind all others."""
    date = cluster.date
    return [*[_diagnosis(run, date) for run in runs(cluster)], *_uncompiled(cluster)]


def not_judged(cluster: DumpedCluster) -> list[str]:
    """What else of training the dump holds: jobs of other kinds, and pods of no JobSet or Job."""
    known = ("Job", "CronJob", "TrainJob")
    kinds = [(kind, count) for kind, count in sorted(cluster.kinds.items()) if "Job" in kind.partition(".")[0][-3:]]
    counts = [f"{count} {kind}" for kind, count in kinds if kind not in known]
    strays = sum(not (label(tree, JOBSET_NAME) or DumpedPod(tree).job) for tree in cluster.all("Pod"))
    return [*counts, *([f"{counted(strays, 'pod')} of no JobSet or Job"] if strays else [])]


def _uncompiled(cluster: DumpedCluster) -> Iterator[Diagnosis]:
    """TrainJobs in the cluster without a JobSet of their name, in a dump that has JobSets or events about them."""
    for tree in cluster.all("TrainJob"):
        space, name = namespace_of(tree), name_of(tree)
        suspended_ = at(tree, "spec", "suspend") is True
        if cluster.find("JobSet", space, name) or suspended_ or maps(tree, "status", "conditions"):
            continue
        if not cluster.has("JobSet", space):
            missing = "no JobSets were given: add `jobset` to kubectl get"
            yield Diagnosis("TrainJob", space, name, UNKNOWN, "the TrainJob itself", unknown=(missing,), tree=tree)
            continue
        events = cluster.events("TrainJob", space, name)
        cause = Cause(
            "trainjob-not-compiled", 0, "the cluster has the TrainJob itself and no JobSet of its name",
            "apply what `trainc build` writes instead of the TrainJob, or check the Trainer controller",
            text(tree, "metadata", "creationTimestamp"), quotes=tuple(event.message for event in events[-1:]),
        )  # fmt: skip
        yield Diagnosis("TrainJob", space, name, WAITS, "not compiled", cause, tree=tree)


def _diagnosis(run: DumpedJob, date: str) -> Diagnosis:
    status, summary, causes = _state(run, date)
    first, others = _ordered(causes)
    if first is not None:
        status = FAILED if status == FAILED or (first.status == FAILED and is_true(run.tree, "Failed")) else WAITS
    notes, unknown, source = (*_notes(run), *restarts(run)), tuple(_unknown(run, status, first)), _source(run)
    return Diagnosis(
        run.kind, run.namespace, run.name, status, summary, first, others, notes, unknown, source, run.tree
    )


def _state(run: DumpedJob, date: str) -> tuple[str, str, list[Cause]]:
    """Whether the job runs, is done, waits or failed; a few words; and all causes in effect."""
    tree = run.tree
    if is_true(tree, "Completed") or (run.kind == "Job" and is_true(tree, "Complete")):
        ended = text(condition(tree, "Completed") or condition(tree, "Complete"), "lastTransitionTime")
        return DONE, f"completed{f' at {ended}' if ended else ''}", []
    if is_true(run.tree, "Failed"):
        reason = text(condition(run.tree, "Failed"), "reason")
        known = {name: row[0] for name, row in _JOB_REASONS.items()} if run.kind == "Job" else _TERMINAL
        return FAILED, known.get(reason, reason or "it failed"), [*failing(run), *deadline(run), *failed_jobs(run)]
    if text(tree, "metadata", "deletionTimestamp"):
        names = at(run.tree, "metadata", "finalizers")
        holds = ", ".join(f"`{name}`" for name in names if type(name) is str) if type(names) is list else ""
        left = f"{counted(len(run.pods), 'pod')} left"
        deleted = Cause(
            "being-deleted", 0, f"it is being deleted: {left}{f', finalizers {holds}' if holds else ''}",
            "see what keeps the finalizers; a pod on a lost node stays until its node returns",
            text(run.tree, "metadata", "deletionTimestamp"),
        )  # fmt: skip
        return WAITS, "is being deleted", [deleted]
    early = [*managed_elsewhere(run)] or [*suspended(run)]
    if early:
        return WAITS, "suspended" if early[0].stage else "managed elsewhere", _with_evidence(run, early)
    causes = [cause for check in _ACTIVE for cause in check(run)]
    now = moment(date)
    for cause in (*stuck_init(run), *stuck_deletion(run)):
        if now is not None and (start := moment(cause.since)) is not None and now - start > _PATIENCE:
            causes.append(cause)
    in_order = [cause.headline for cause in causes if cause.name == "waits-for-role"]
    if len(in_order) == len(causes) and any(not pod.is_deleted for pod in run.pods):
        status, words = _progress(run, has_trouble=False)  # a role that waits for one that works is as it should be
        return status, "; ".join([words, *in_order]), []
    return *_progress(run, has_trouble=bool(causes)), causes


def _with_evidence(run: DumpedJob, causes: list[Cause]) -> list[Cause]:
    """An eviction for pods that never became ready, with what events say of those pods, which are gone."""
    first = causes[0]
    if first.name not in ("evicted", "deactivated") or "ready" not in first.headline:
        return causes
    troubles = [
        (event.first, name, event.message)
        for name in [*run.gone, *(pod.name for pod in run.pods)]
        for event in run.pod_events(name, "Failed", "FailedScheduling", "FailedMount", "BackOff", "Unhealthy")
    ]
    if not troubles:
        return causes
    when, name, message = min(troubles)
    unready = Cause(
        "pods-not-ready", 1, f"pod `{name}` did not become ready before Kueue's time was up",
        "fix what the event names; Kueue then admits the job again", when, quotes=(message,), fields=first.fields[:0],
    )  # fmt: skip
    return [unready, *(cause._replace(is_result=True) for cause in causes)]


def _progress(run: DumpedJob, *, has_trouble: bool) -> tuple[str, str]:
    live = [pod for pod in unreplaced(run) if not pod.is_deleted]
    running = sum(pod.phase == "Running" and not pod.waits for pod in live)
    done = sum(pod.phase == "Succeeded" for pod in live)
    summary = f"{running} of {len(live)} pods run" + (f", {done} succeeded" if done else "")
    if has_trouble:
        return WAITS, summary if live else "no pods"
    if live:
        starting_ = len(live) - running - done
        return RUNS, summary + (f", {starting_} starting" if starting_ else "")
    if not run.tree and run.cluster.has(run.kind, run.namespace):
        return DONE, "only its children are left"
    statuses = maps(run.tree, "status", "replicatedJobsStatus")
    ready = sum((number(one, "ready") or 0) + (number(one, "succeeded") or 0) for one in statuses)
    wanted = sum(1 if (count := number(role, "replicas")) is None else count for role in run.roles())
    if run.kind == "JobSet" and wanted and ready >= wanted:
        return RUNS, f"{ready} of {wanted} Jobs are ready"
    return UNKNOWN, "active, and nothing in the input shows its progress"


def _ordered(causes: Iterable[Cause]) -> tuple[Cause | None, tuple[Cause, ...]]:
    """The first cause, and the others: by time, within two seconds by where they act; results behind all."""
    left = list(dict.fromkeys(causes))
    firsts = [one for one in left if not one.is_result] or left
    if not firsts:
        return None, ()
    start = min(moments(one.since for one in firsts), default=(0.0, ""))[0]
    early = [one for one in firsts if any(time - start <= TOGETHER for time, _ in moments([one.since]))] or firsts
    first = min(early, key=lambda one: (one.stage, moment(one.since) or 0.0, one.headline))
    rest = sorted(
        (one for one in left if one is not first),
        key=lambda one: (one.is_result, moment(one.since) or float("inf"), one.stage, one.headline),
    )
    return first, tuple(rest)


def _notes(run: DumpedJob) -> Iterator[str]:
    if not run.tree:
        there = run.cluster.has(run.kind, run.namespace)
        absence = "it was deleted, removed by its TTL, or not selected"
        why = absence if there else f"add `{run.kind.lower()}` to kubectl get"
        yield f"the {run.kind} itself is not in the input: {why}"
    ttl = number(run.tree, "spec", "ttlSecondsAfterFinished")
    if ttl is not None and (is_true(run.tree, "Completed") or is_true(run.tree, "Failed")):
        yield f"it is deleted {ttl} s after its end; a GitOps tool then creates it again, unless you configure it not to"
    if replaced := len(run.pods) - len(unreplaced(run)):
        yield f"{counted(replaced, 'pod')} that failed, replaced by others that work"
    for pod in run.pods:
        for status, _ in pod.statuses():
            count, code = number(status, "restartCount"), number(status, "lastState", "terminated", "exitCode")
            if count and code is not None and text(status, "state", "running", "startedAt"):
                again = f"restarted {count} times, the last time after exit code {code}"
                yield f"{run.shown(pod)}: container `{text(status, 'name')}` {again}"
    if is_true(run.tree, "Failed"):
        rules = maps(run.tree, "spec", "failurePolicy", "rules")
        failed = condition(run.tree, "Failed")
        if rules and text(failed, "reason") == "ReachedMaxRestarts":
            yield "no rule of its failurePolicy ended it: the failure was counted as a restart, and maxRestarts was reached"


def _unknown(run: DumpedJob, status: str, cause: Cause | None) -> Iterator[str]:
    """What the input does not tell, where it would have helped."""
    if status in (RUNS, DONE):
        return

    held = cause is not None and cause.stage <= 1
    is_gang = cause is not None and cause.name.startswith("gang")
    for kind, name, helps in (
        ("Event", "events", True),
        ("Pod", "pods", not held),
        ("Job", "Jobs", not held and run.kind == "JobSet"),
        ("PodGroup", "PodGroups", is_gang),
    ):
        if helps and not run.cluster.has(kind, run.namespace):
            yield f"no {name} were given: add `{kind.lower()}` to kubectl get"
    live = Counter(pod.job for pod in run.pods if pod.phase in ("Pending", "Running", ""))
    for job in run.jobs:
        active, here = number(job, "status", "active") or 0, live[name_of(job)]
        if run.cluster.has("Pod", run.namespace) and active > here:
            yield f"Job `{name_of(job)}` counts {active} active pods, and the input has {here} of them"
            break


def _source(run: DumpedJob) -> dict[str, str]:
    known, flux = labels(run.tree, "metadata", "labels"), "kustomize.toolkit.fluxcd.io/"
    tracked = labels(run.tree, "metadata", "annotations").get("argocd.argoproj.io/tracking-id", "").partition(":")[0]
    if argocd := tracked or known.get("argocd.argoproj.io/instance", ""):
        return {"Argo CD application": argocd}
    name = f"{known.get(f'{flux}namespace', '')}/{known.get(f'{flux}name', '')}".lstrip("/")
    return {"Flux Kustomization": name} if known.get(f"{flux}name") else {}
