"""What JobSet's controller does as pods become ready, succeed and fail: a model of it, step by step.

Source: sigs.k8s.io/jobset pkg/controllers (reconcile, startup_policy, depends_on, success_policy, failure_policy), 0.13.
"""

from __future__ import annotations

from typing import Any

from trainc.apiserver.fault import NotJudgedError
from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.pods.complaints import fields, items, maps, text
from trainc.apiserver.schema.engine import engine
from trainc.lint.facts.childjob import RUNNING, ChildJob
from trainc.model.tree import plain
from trainc.text.object_keys import JOBSET_CONTROLLER, JOBSET_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.childjob import PodState
    from trainc.model.tree import Tree

_IN_PROGRESS = ("StartupPolicyInProgress", "InOrderStartupPolicyInProgress")
_STARTED = ("StartupPolicyCompleted", "InOrderStartupPolicyCompleted")
_RESTARTING = "RestartingJobSet"
_MAX_PODS = 100_000  # as many as a Job with indexes may have
_MAX_JOBS = 20_000
_MAX_ROLES = 64  # each role's failures are played through, and each step looks at every role
_ONE_JOB = ("RestartJob", "RestartJobAndIgnoreMaxRestarts")


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
            raise UndecidedError(
                "`failurePolicy.maxRestarts` is a placeholder: how often the job restarts is not known"
            )
        self.name = text(fields(tree.get("metadata")), "name")
        self.roles = [role for _, role in maps(self.spec.get("replicatedJobs"))]
        pods = sum(_count(role) * _width(role) for role in self.roles)
        jobs = sum(_count(role) for role in self.roles)
        for count, most, what in (
            (pods, _MAX_PODS, "pods"),
            (jobs, _MAX_JOBS, "Jobs"),
            (len(self.roles), _MAX_ROLES, "roles"),
        ):
            if count > most:
                raise UndecidedError(f"it has {count} {what}, and only the life of {most} or fewer is played through")
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
            job = self._job(rest)
            for pod in job.active():
                job.succeed(pod)
        elif verb == "failed":
            self._fail(rest)
        else:
            raise EventError(f"`{event}` is not an event: ready: POD, succeeded JOB, failed POD, resumed")
        self._reconcile()
        self._see(event)

    def _fail(self, rest: str) -> None:
        name, _, how = rest.partition(" ")
        job, pod = _named(name, self._pods())
        code = how.removeprefix("exit ")
        if how and not how.startswith("exit "):
            self.did = job.fail(pod, condition=how)
        elif code and not (code.isascii() and code.isdigit() and len(code) <= 3):
            raise EventError(f"`{code}` is not an exit code")
        else:
            self.did = job.fail(pod, int(code or 1))

    def _job(self, name: str) -> ChildJob:
        if name not in self.jobs:
            raise EventError(f"no Job `{name}` runs: {', '.join(sorted(self.jobs)) or 'none does'}")
        return self.jobs[name]

    def _pods(self) -> dict[str, tuple[ChildJob, PodState]]:
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
        failed = [job for job in self.jobs.values() if job.outcome == "Failed"]
        if failed:
            self._fail_or_restart(failed)
            return
        if any(job.outcome for job in self.jobs.values()) and self._has_succeeded():
            self._end("Completed", "AllJobsCompleted")
            return
        self._create()

    def _fail_or_restart(self, failed: list[ChildJob]) -> None:
        policy = self.spec.get("failurePolicy")
        if policy is None:
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
            self._create_jobs(role)
            if not self.is_suspended and in_order:
                self._set(_IN_PROGRESS, instead_of=_STARTED)
                return
        if self.is_suspended:
            self.conditions["Suspended"] = "SuspendedJobs"
        elif in_order:
            self._set(_STARTED, instead_of=_IN_PROGRESS)

    def _create_jobs(self, role: dict[str, Any]) -> None:
        for name in self._names[text(role, "name")]:
            if name not in self.jobs:
                spec = fields(fields(role.get("template")).get("spec"))
                job = ChildJob(name, text(role, "name"), spec, self.restarts, suspended=self.is_suspended)
                self.jobs[name] = job

    def _jobs_of(self, role: dict[str, Any]) -> list[ChildJob]:
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
            seen.update(self._state())
        self.steps.append(seen)

    def _state(self) -> dict[str, Any]:
        jobs = sorted(self.jobs.values(), key=lambda job: job.name)
        pods = sorted(f"{job.pod_name(pod)}:{pod.phase}:att{job.attempt}" for job in jobs for pod in job.pods)
        seen = {
            "cond": dict.fromkeys(self.conditions, "True"),
            "reason": dict(self.conditions),
            "terminal": self.terminal,
            "restarts": self.restarts,
            "toMax": self.counted,
            "pods": pods,
            "jobs": [f"{job.name}{'(susp)' if job.suspended else ''}:{job.conditions}" for job in jobs],
        }
        return {key: held for key, held in seen.items() if held or key == "restarts"}


def _named(name: str, pods: dict[str, tuple[ChildJob, PodState]]) -> tuple[ChildJob, PodState]:
    if name not in pods:
        raise EventError(f"no pod `{name}` runs")
    return pods[name]


def _count(role: dict[str, Any]) -> int:
    replicas = role.get("replicas")
    return replicas if type(replicas) is int else 1


def _width(role: dict[str, Any]) -> int:
    """How many pods of each of its Jobs run at once."""
    width = fields(fields(role.get("template")).get("spec")).get("parallelism")
    return width if type(width) is int else 1


def _applies(rule: dict[str, Any], job: ChildJob) -> bool:
    reasons, targets = items(rule.get("onJobFailureReasons")), items(rule.get("targetReplicatedJobs"))
    patterns = items(rule.get("onJobFailureMessagePatterns"))
    if (reasons and job.reason not in reasons) or (targets and job.role not in targets):
        return False
    return not patterns or any(_is_in(job.message, str(pattern)) for pattern in patterns)


def _is_in(message: str, pattern: str) -> bool:
    _, is_refused = engine().pattern_trouble(pattern)
    if is_refused:
        return False  # JobSet writes the error into its log, and goes on with the next pattern
    try:
        return engine().matches(pattern, message)
    except NotJudgedError as error:
        raise UndecidedError(f"whether `{pattern}` is found in how a Job failed is not known: {error}") from error
