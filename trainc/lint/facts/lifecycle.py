"""What JobSet's controller does as pods become ready, succeed and fail: a model of it, step by step.

Source: sigs.k8s.io/jobset pkg/controllers (reconcile, startup_policy, depends_on, success_policy, failure_policy), 0.13.
"""

from bisect import bisect_right
from heapq import heappop, heappush
from itertools import count
from typing import Any

from trainc.apiserver.fault import NotJudgedError
from trainc.apiserver.jobs.policies import size_of
from trainc.apiserver.jobs.spec import DEFAULT_BACKOFF_LIMIT
from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.pods.complaints import fields, items, maps, text
from trainc.apiserver.schema import engine
from trainc.model.tree import Tree, plain
from trainc.text.object_keys import JOBSET_CONTROLLER, JOBSET_NAME

_IN_PROGRESS = ("StartupPolicyInProgress", "InOrderStartupPolicyInProgress")
_STARTED = ("StartupPolicyCompleted", "InOrderStartupPolicyCompleted")
_RESTARTING = "RestartingJobSet"
_MAX_PODS = 100_000  # as many as a Job with indexes may have
_MAX_JOBS = 20_000
_MAX_ROLES = 64  # each role's failures are played through, and each step looks at every role
_ONE_JOB = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")
PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"
_ACTIVE = (PENDING, RUNNING)
# The conditions of a Job by its outcome, in the order in which they are set.
_ENDS = {"": "", "Complete": "SuccessCriteriaMet,Complete", "Failed": "FailureTarget,Failed"}
_BACKOFF = "Job has reached the specified backoff limit"


class EventError(ValueError):
    """An event that cannot happen in the state at hand, or that is not one."""


class UndecidedError(ValueError):
    """What the answer depends on is a placeholder, or too large."""


class Lifecycle:
    """A JobSet from its creation on; `steps` are what can be seen after each event.

    Raises:
        UndecidedError: where the number of restarts is not a number yet, or the pods are too many to play through.
    """

    def __init__(self, jobset: Tree) -> None:
        tree = plain(with_defaults(jobset))
        self.spec: dict[str, Any] = fields(tree.get("spec"))
        self.most = fields(self.spec.get("failurePolicy")).get("maxRestarts") or 0
        if type(self.most) is not int:
            raise UndecidedError("`failurePolicy.maxRestarts` is a placeholder: the number of restarts is unknown")
        self.name = text(fields(tree.get("metadata")), "name")
        self.roles = [role for _, role in maps(self.spec.get("replicatedJobs"))]
        specs = [fields(fields(role.get("template")).get("spec")) for role in self.roles]
        counts = zip(map(_count, self.roles), specs, strict=True)
        pods = sum(number * _number(spec, "parallelism", 1) for number, spec in counts)
        jobs = sum(_count(role) for role in self.roles)
        sizes = (pods, _MAX_PODS, "pods"), (jobs, _MAX_JOBS, "Jobs"), (len(self.roles), _MAX_ROLES, "roles")
        for number, most, what in sizes:
            if number > most:
                raise UndecidedError(f"it has {number} {what}; trainc simulates at most {most}")
        self._roles = {text(role, "name"): role for role in reversed(self.roles)}
        self._names = {
            name: [f"{self.name}-{name}-{index}" for index in range(_count(role))] for name, role in self._roles.items()
        }
        self.is_foreign = self.spec.get("managedBy") not in (None, JOBSET_CONTROLLER)
        self.is_suspended = self.spec.get("suspend") is True
        self.conditions: dict[str, str] = {}
        self.terminal = ""
        self.restarts = self.counted = 0
        self.jobs: dict[str, ChildJob] = {}
        self.steps: list[dict[str, Any]] = []
        self.did = ""
        self._reconcile()
        self._see("created")

    @property
    def is_gone(self) -> bool:
        """Whether the JobSet has ended and is deleted some time after that."""
        return bool(self.terminal) and type(self.spec.get("ttlSecondsAfterFinished")) is int

    @property
    def services(self) -> list[dict[str, Any]]:
        """The headless Service by which the pods find each other."""
        network = fields(self.spec.get("network"))
        if self.is_foreign or self.is_gone or network.get("enableDNSHostnames") is False:
            return []
        spec = {
            "selector": {JOBSET_NAME: self.name},
            "clusterIP": "None",
            "publishNotReadyAddresses": network.get("publishNotReadyAddresses") is not False,
        }
        return [{"name": text(network, "subdomain") or self.name, "spec": spec}]

    def happen(self, event: str) -> None:
        """Let something happen: `ready: POD,...`, `succeeded JOB`, `failed POD [exit CODE|CONDITION]` or `resumed`.

        Raises:
            EventError: where nothing of that name runs, or the event is not one.
        """
        verb, _, rest = event.removeprefix("one ").partition(" ")
        if verb == "resumed":
            self.is_suspended = False
            self.conditions.pop("Suspended", None)
            for job in self.jobs.values():
                job.suspended = False
                job.fill()
        elif verb == "ready:":
            pods = self._pods()
            for name in rest.split(","):
                _named(name.strip(), pods)[1].phase = RUNNING
        elif verb in ("succeeded", "complete"):
            if rest not in self.jobs:
                raise EventError(f"no Job `{rest}` runs; running: {', '.join(sorted(self.jobs)) or 'none'}")
            for pod in self.jobs[rest].active():
                self.jobs[rest].succeed(pod)
        elif verb == "failed":
            name, _, how = rest.partition(" ")
            job, pod = _named(name, self._pods())
            code = how.removeprefix("exit ")
            if how and not how.startswith("exit "):
                self.did = job.fail(pod, condition=how)
            elif code and not (code.isascii() and code.isdigit() and len(code) <= 3):
                raise EventError(f"`{code}` is not an exit code")
            else:
                self.did = job.fail(pod, int(code or 1))
        else:
            raise EventError(f"`{event}` is not an event: ready: POD, succeeded JOB, failed POD, resumed")
        self._reconcile()
        self._see(event)

    def _pods(self) -> "dict[str, tuple[ChildJob, PodState]]":
        """The pods that have not ended, by host name: of several without an index the first."""
        pods: dict[str, tuple[ChildJob, PodState]] = {}
        for job in self.jobs.values():
            for pod in job.active():
                pods.setdefault(job.pod_name(pod), (job, pod))
        return pods

    def _reconcile(self) -> None:
        if self.is_foreign or self.terminal:
            return
        if not self.is_suspended and all(self._started(role) == _count(role) for role in self.roles):
            self.conditions.pop(_RESTARTING, None)
        if failed := [job for job in self.jobs.values() if job.outcome == "Failed"]:
            self._fail_or_restart(failed)
            return
        if any(job.outcome for job in self.jobs.values()) and self._has_succeeded():
            self._end("Completed", "AllJobsCompleted")
            return
        self._create()

    def _fail_or_restart(self, failed: "list[ChildJob]") -> None:
        if (policy := self.spec.get("failurePolicy")) is None:
            self._end("Failed", "FailedJobs")
            return
        rule, job = next(
            ((rule, job) for _, rule in maps(fields(policy).get("rules")) for job in failed if _applies(rule, job)),
            (None, failed[0]),
        )
        action = text(rule, "action") if rule is not None else "RestartJobSet"
        if action == "FailJobSet":
            self._end("Failed", "FailJobSetFailurePolicyAction")
        elif not action.endswith("IgnoreMaxRestarts") and self.counted >= self.most:
            self._end("Failed", "ReachedMaxRestarts")
        else:
            self.counted += not action.endswith("IgnoreMaxRestarts")
            if action in _ONE_JOB:
                del self.jobs[job.name]
            else:
                self.restarts += 1
                self.jobs = {}
                reason = "DefaultFailurePolicy" if rule is None else f"FailurePolicy_{text(rule, 'name')}"
                self.conditions = {_RESTARTING: reason}
            self._reconcile()

    def _has_succeeded(self) -> bool:
        policy = fields(self.spec.get("successPolicy"))
        targets = items(policy.get("targetReplicatedJobs"))
        counted = [role for role in self.roles if not targets or role.get("name") in targets]
        names = {role.get("name") for role in counted}
        done = sum(job.outcome == "Complete" and job.role in names for job in self.jobs.values())
        return done >= (1 if text(policy, "operator") == "Any" else sum(map(_count, counted)))

    def _create(self) -> None:
        in_order = text(fields(self.spec.get("startupPolicy")), "startupPolicyOrder") == "InOrder"
        for role in self.roles:
            if not all(self._reached(wait) for _, wait in maps(role.get("dependsOn"))):
                continue
            if not self.is_suspended and in_order and self._started(role) == _count(role):
                continue
            role_name, spec = text(role, "name"), fields(fields(role.get("template")).get("spec"))
            for name in self._names[role_name]:
                if name not in self.jobs:
                    self.jobs[name] = ChildJob(name, role_name, spec, self.restarts, suspended=self.is_suspended)
            if not self.is_suspended and in_order:
                self._set(_IN_PROGRESS, instead_of=_STARTED)
                return
        if self.is_suspended:
            self.conditions["Suspended"] = "SuspendedJobs"
        elif in_order:
            self._set(_STARTED, instead_of=_IN_PROGRESS)

    def _jobs_of(self, role: dict[str, Any]) -> "list[ChildJob]":
        return [self.jobs[name] for name in self._names.get(text(role, "name"), ()) if name in self.jobs]

    def _set(self, condition: tuple[str, str], *, instead_of: tuple[str, str]) -> None:
        self.conditions.pop(instead_of[0], None)
        self.conditions[condition[0]] = condition[1]

    def _reached(self, wait: dict[str, Any]) -> bool:
        role = self._roles.get(text(wait, "name"), {})
        if wait.get("status") == "Ready":
            return self._started(role) == _count(role)
        return sum(job.outcome == "Complete" for job in self._jobs_of(role)) == _count(role)

    def _started(self, role: dict[str, Any]) -> int:
        """How many Jobs of a role are ready or have ended."""
        return sum(bool(job.outcome) or (not job.suspended and job.is_ready) for job in self._jobs_of(role))

    def _end(self, condition: str, reason: str) -> None:
        self.terminal = condition
        self.conditions.pop(_RESTARTING, None)
        self.conditions[condition] = reason
        self.jobs = {name: job for name, job in self.jobs.items() if job.outcome}

    def _see(self, event: str) -> None:
        """Write down what there is, in the form of the recordings."""
        seen: dict[str, Any] = {"after": event}
        if self.is_gone:
            seen["gone"] = 404  # what the server answers who asks for it
        elif not self.is_foreign:
            jobs = sorted(self.jobs.values(), key=lambda job: job.name)
            state = {
                "cond": dict.fromkeys(self.conditions, "True"),
                "reason": dict(self.conditions),
                "terminal": self.terminal,
                "restarts": self.restarts,
                "toMax": self.counted,
                "pods": sorted(f"{job.pod_name(pod)}:{pod.phase}:att{job.attempt}" for job in jobs for pod in job.pods),
                "jobs": [
                    f"{job.name}{'(susp):Suspended' if job.suspended else f':{_ENDS[job.outcome]}'}" for job in jobs
                ],
            }
            seen.update((key, held) for key, held in state.items() if held or key == "restarts")
        self.steps.append(seen)


def _named(name: str, pods: "dict[str, tuple[ChildJob, PodState]]") -> "tuple[ChildJob, PodState]":
    if name not in pods:
        raise EventError(f"no pod `{name}` runs")
    return pods[name]


def _count(role: dict[str, Any]) -> int:
    return _number(role, "replicas", 1)


def _number(tree: dict[str, Any], field: str, default: int) -> int:
    return tree[field] if type(tree.get(field)) is int else default


def _applies(rule: dict[str, Any], job: "ChildJob") -> bool:
    reasons, targets = items(rule.get("onJobFailureReasons")), items(rule.get("targetReplicatedJobs"))
    patterns = items(rule.get("onJobFailureMessagePatterns"))
    if (reasons and job.reason not in reasons) or (targets and job.role not in targets):
        return False
    for pattern in map(str, patterns):
        _, is_refused = engine.pattern_trouble(pattern)
        try:
            # Where it is refused JobSet writes the error into its log, and goes on with the next pattern.
            if not is_refused and engine.matches(pattern, job.message):
                return True
        except NotJudgedError as error:
            raise UndecidedError(f"whether `{pattern}` matches the failure of a Job is unknown: {error}") from error
    return not patterns


class PodState:
    """One pod: its index in the Job, None in a Job without indexes, and how far it got."""

    __slots__ = ("index", "phase")

    def __init__(self, index: int | None) -> None:
        self.index = index
        self.phase = PENDING


class PolicyRule:
    """A rule of a Job's success policy, with how many of the indexes that it names have succeeded."""

    __slots__ = ("_needed", "_runs", "_starts", "_succeeded")

    def __init__(self, rule: dict[str, Any], size: int) -> None:
        succeeded, count = rule.get("succeededIndexes"), rule.get("succeededCount")
        self._runs = indexes(succeeded, size) if type(succeeded) is str else [range(size)]
        self._starts = [run.start for run in self._runs]
        self._needed = count if type(count) is int else sum(len(run) for run in self._runs)
        self._succeeded = 0

    @property
    def is_met(self) -> bool:
        """Whether so many have."""
        return self._succeeded >= self._needed

    def count(self, index: int | None) -> None:
        """Take note of a pod that succeeded."""
        run = bisect_right(self._starts, index) - 1 if index is not None else -1
        self._succeeded += run >= 0 and index in self._runs[run]


class ChildJob:
    """A Job by its spec as plain data, with its pods; `reason` and `message` say why it failed."""

    def __init__(self, name: str, role: str, spec: dict[str, Any], attempt: int, *, suspended: bool) -> None:
        self.name = name
        self.role = role
        self.spec = spec
        self.attempt = attempt
        self.suspended = suspended
        self.outcome = ""  # Complete or Failed, empty while it runs
        self.reason = ""
        self.message = ""
        self.failures = 0
        self.by_index: dict[int | None, int] = {}
        self.failed_indexes: set[int | None] = set()
        self.pods: list[PodState] = []
        self._active = 0
        self._done = 0
        self.indexed = text(spec, "completionMode") != "NonIndexed"
        self.width = _number(spec, "parallelism", 1)
        self.size = _number(spec, "completions", self.width)
        self._unused = count()  # the indexes that no pod has had
        self._returned: list[int] = []  # a heap of indexes whose pod is to be replaced: the lowest is made first
        self._policy = [PolicyRule(rule, self.size) for _, rule in maps(fields(spec.get("successPolicy")).get("rules"))]
        self.fill()

    @property
    def is_ready(self) -> bool:
        """Whether as many pods as run at once are ready or have succeeded."""
        return len([pod for pod in self.pods if pod.phase in (RUNNING, SUCCEEDED)]) >= min(self.width, self.size)

    @property
    def most(self) -> int:
        """How many failures of its pods it stands in all."""
        limit = self.spec.get("backoffLimit")
        if type(limit) is int:
            return limit
        return 2**31 - 1 if type(self.spec.get("backoffLimitPerIndex")) is int else DEFAULT_BACKOFF_LIMIT

    def pod_name(self, pod: PodState) -> str:
        """The host name of a pod; without an index the name has a random end, which is left out."""
        return self.name if pod.index is None else f"{self.name}-{pod.index}"

    def active(self) -> list[PodState]:
        """The pods that have not ended."""
        return [pod for pod in self.pods if pod.phase in _ACTIVE]

    def fill(self) -> None:
        """Make the pods that are missing."""
        if self.suspended or self.outcome:
            return
        room = min(self.width - self._active, self.size - self._done - self._active - len(self.failed_indexes))
        for _ in range(room):
            lowest = heappop(self._returned) if self._returned else next(self._unused)
            self.pods.append(PodState(lowest if self.indexed else None))
            self._active += 1

    def succeed(self, pod: PodState) -> None:
        """A pod ends well."""
        pod.phase = SUCCEEDED
        self._active -= 1
        self._done += 1
        for rule in self._policy:
            rule.count(pod.index)
        if not self._has_succeeded():
            self.fill()

    def _has_succeeded(self) -> bool:
        if any(rule.is_met for rule in self._policy) or self._done >= self.size:
            self._end("Complete")
        elif self.failed_indexes and self._done + len(self.failed_indexes) >= self.size:
            self._fail("FailedIndexes", "Job has failed indexes")
        return bool(self.outcome)

    def fail(self, pod: PodState, code: int = 1, condition: str = "") -> str:
        """A pod fails, with an exit code or a condition such as DisruptionTarget; gives what its Job does about it."""
        pod.phase = FAILED
        self._active -= 1
        number, action = self._action(code, condition)
        if action == "Ignore":
            self._replace(pod)
            return "the failure is ignored, and the pod is replaced"
        if action == "FailJob":
            where = f"failed with exit code {code} matching" if not condition else f"has condition {condition} matching"
            self._fail(
                "PodFailurePolicy", f"Container for pod {self.pod_name(pod)} {where} FailJob rule at index {number}"
            )
            return "its Job fails (PodFailurePolicy)"
        self.failures += 1
        self.by_index[pod.index] = self.by_index.get(pod.index, 0) + 1
        per_index = self.spec.get("backoffLimitPerIndex")
        if type(per_index) is int and (action == "FailIndex" or self.by_index[pod.index] > per_index):
            self.failed_indexes.add(pod.index)
            most = self.spec.get("maxFailedIndexes")
            if type(most) is int and len(self.failed_indexes) > most:
                message = "Job has exceeded the specified maximal number of failed indexes"
                self._fail("MaxFailedIndexesExceeded", message)
            elif not self._has_succeeded():
                self.fill()
                return f"index {pod.index} has failed permanently; the other pods continue"
            return f"its Job fails ({self.reason})"
        if self.failures > self.most:
            self._fail("BackoffLimitExceeded", _BACKOFF)
            return "its Job fails (BackoffLimitExceeded)"
        self._replace(pod)
        if type(per_index) is int:
            return f"the pod is replaced (failure {self.by_index[pod.index]} of {per_index} for its index)"
        return f"the pod is replaced (failure {self.failures} of {self.most} for its Job)"

    def _replace(self, pod: PodState) -> None:
        if pod.index is not None:
            heappush(self._returned, pod.index)
        self.fill()

    def _action(self, code: int, condition: str) -> tuple[int, str]:
        """The rule of the pod failure policy that decides, and what it does."""
        for number, rule in maps(fields(self.spec.get("podFailurePolicy")).get("rules")):
            if condition:
                is_met = condition in [text(pattern, "type") for _, pattern in maps(rule.get("onPodConditions"))]
            else:
                codes = fields(rule.get("onExitCodes"))
                is_met = rule.get("onExitCodes") is not None and (code in items(codes.get("values"))) == (
                    text(codes, "operator") == "In"
                )
            if is_met:
                return number, text(rule, "action")
        return -1, "Count"

    def _fail(self, reason: str, message: str) -> None:
        self.reason, self.message = reason, message
        self._end("Failed")

    def _end(self, outcome: str) -> None:
        self.outcome = outcome
        self._active = 0
        self.pods = [pod for pod in self.pods if pod.phase not in _ACTIVE]


def indexes(written: str, size: int) -> list[range]:
    """The runs of indexes that a text such as `0,2-5` names in ascending order, none where it is not one."""
    try:
        size_of(written, size)
    except ValueError:
        return []
    limits = [interval.partition("-") for interval in written.split(",")] if written else []
    return [range(int(first), int(last or first) + 1) for first, _, last in limits]
