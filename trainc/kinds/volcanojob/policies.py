"""What a Volcano Job's policies make of the end of a pod or a task: the first policy that matches decides."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainc.kinds.shared.job import items
from trainc.kinds.shared.restart import ALWAYS, FOREVER
from trainc.kinds.shared.run_policy import CLEAN_UP
from trainc.kinds.volcanojob.spec import JobOfTasks, Task
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.sourced import derive
from trainc.model.tree import Path, Tree, get, plain, stamp, value

RESTART, FAIL, REPLACE = "restart", "fail", "replace"
_OUTCOMES = {
    **dict.fromkeys(("RestartJob", "RestartTask", "RestartPartition"), RESTART),
    **dict.fromkeys(("AbortJob", "TerminateJob"), FAIL),
    "RestartPod": REPLACE,
}
ANY = "*"
EVENTS = (ANY, "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated")
ACTIONS = (
    "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob",
)  # fmt: skip
NO_COUNTERPART = Rule("policy-without-counterpart", ERROR)
UNWATCHED = Rule("policy-unwatched", WARNING)
WIDER = Rule("restart-differs", WARNING)
ABORTED = Rule("abort-is-final", NOTE)
_UNWATCHED = ("PodPending", "Unknown", "TaskFailed", "JobUpdated")
MIXED = Rule("policies-mixed", ERROR)
_BY = "policies of the Volcano Job"
_DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]
_POLICY, _LIMIT = "PodFailurePolicy", "BackoffLimitExceeded"


class LifecycleRule(NamedTuple):
    """One lifecycle policy: what has to happen, and what is done then."""

    events: list[str]
    code: int | None
    action: str
    timeout: str | None
    path: Path

    @property
    def outcome(self) -> str:
        """What the action means for a pod that failed, "" where a JobSet has nothing like it."""
        return _OUTCOMES.get(self.action, "")

    def has(self, event: str) -> bool:
        return event in self.events or ANY in self.events


def of_task(job: JobOfTasks, task: Task) -> list[LifecycleRule]:
    """The policies that count for a task in the order in which they are looked at: its own, then the job's."""
    return [*_read(task.tree, task.path), *_read(job.spec, ("spec",))]


def _read(holder: Tree, above: Path) -> list[LifecycleRule]:
    rules = []
    for index, tree in enumerate(items(get(holder, "policies"))):
        code, action, timeout = (value(tree, field) for field in ("exitCode", "action", "timeout"))
        rules.append(LifecycleRule(events_of(tree), code, action or "", timeout, (*above, "policies", index)))
    return rules


def matching(policies: Sequence[LifecycleRule], event: str, code: int | None = None) -> LifecycleRule | None:
    """The policy that decides about an event and an exit code of the first container, None where none does."""
    return next((p for p in policies if p.has(event) or (code is not None and p.code == code)), None)


class Failures:
    """What a task's policies make of a pod that failed (by exit code, and of every other code) or was evicted.

    `other` and `evicted` are None where no policy matches: Volcano then leaves a failed pod as it is, and makes an
    evicted one again.
    """

    def __init__(self, policies: Sequence[LifecycleRule]) -> None:
        codes = dict.fromkeys(policy.code for policy in policies if policy.code is not None)
        self.other = matching(policies, "PodFailed")
        self.evicted = matching(policies, "PodEvicted")
        self.codes = {code: matching(policies, "PodFailed", code) for code in codes}

    def codes_for(self, outcome: str) -> list[int]:
        """The exit codes with that outcome, where it is not that of all other codes."""
        if outcome == self.default:
            return []
        return [code for code, policy in self.codes.items() if policy is not None and policy.outcome == outcome]

    @property
    def default(self) -> str:
        """The outcome of a failure whose exit code no policy names."""
        return self.other.outcome if self.other is not None else FAIL

    @property
    def eviction(self) -> str:
        return self.evicted.outcome if self.evicted is not None else REPLACE

    @property
    def outcomes(self) -> set[str]:
        return {self.default, *(policy.outcome for policy in self.codes.values() if policy is not None)}

    @property
    def restarts(self) -> bool:
        return RESTART in self.outcomes or self.eviction == RESTART


def refused_policies(holder: Tree, above: Path, field: str) -> Iterator[tuple[Path, str, str]]:
    """The mistakes in policies of a job or a task, in the webhook's words; `field` is the path that it prints."""
    events: set[str] = set()
    codes: set[int] = set()
    for index, policy in enumerate(items(get(holder, "policies"))):
        if (mistake := _mistake(policy, field, events, codes)) is not None:
            name, text, help_ = mistake
            path: Path = (*above, "policies", index)
            yield ((*path, name) if name else path), text, help_
            break
    if ANY in events and len(events) > 1:
        yield (*above, "policies"), "if there's * here, no other policy should be here", "list the events"


def events_of(policy: Tree) -> list[str]:
    """The events of a policy: its list, then the single one, each once."""
    single = value(policy, "event")
    return list(dict.fromkeys([*(plain(get(policy, "events")) or ()), *([single] if single else ())]))


def _mistake(policy: Tree, field: str, events: set[str], codes: set[int]) -> tuple[str, str, str] | None:
    names, code = events_of(policy), value(policy, "exitCode")
    if names and code is not None:
        return "exitCode", "must not specify event and exitCode simultaneously", "keep one of them"
    if not names and code is None:
        return "", "either event and exitCode should be specified", "set an event or an exit code"
    if names:
        where = "event" if get(policy, "event") is not None else "events"
        for event in names:
            action = value(policy, "action") or ""
            if event not in EVENTS:
                return where, f'{field}: Invalid value: "{event}": invalid policy event', f"one of {', '.join(EVENTS)}"
            if action not in ACTIONS:
                help_ = f"one of {', '.join(ACTIONS)}"
                return "action", f'{field}: Invalid value: "{action}": invalid policy action', help_
            if event in events:
                return where, f"duplicate event {event}  across different policy", "keep one of them"
            events.add(event)
        return None
    if code == 0:
        return "exitCode", "0 is not a valid error code", "write a code from 1 to 255"
    if code in codes:
        return "exitCode", f"duplicate exitCode {code}", "keep one of them"
    codes.add(code)
    return None


def check_policies(job: JobOfTasks, lifecycle: "TaskLifecycle") -> bool:
    """Whether every policy has a counterpart; what has none, and what will be different, is reported."""
    policies = [*(policy for task in job.tasks for policy in _read(task.tree, task.path)), *_read(job.spec, ("spec",))]
    done = [_has_counterpart(job, policy) for policy in policies]
    for policy in policies:
        _say_differences(job, policy, lifecycle)
    for task in lifecycle.tasks:
        _say_of_restart(job, task)
    alone = [t for t in lifecycle.tasks if t.restart.value == "Never" and lifecycle.failures[t.role].other is None]
    if alone and (len(lifecycle.tasks) > 1 or alone[0].count.value > 1):
        message = f"a pod of `{alone[0].role}` that fails ends the job; in Volcano, the others continue"
        job.say(CLEAN_UP, alone[0].path, message, key=True)
    return all(done) and lifecycle.check()


def _has_counterpart(job: JobOfTasks, policy: LifecycleRule) -> bool:
    failure = policy.code is not None or any(policy.has(event) for event in ("PodFailed", "PodEvicted"))
    if failure and not policy.outcome:
        message = f"`{policy.action}` when a pod fails has no JobSet equivalent: a failed Job cannot complete it"
        help_ = "let the program exit with 0 if its failure counts as success, or use another action"
        job.say(NO_COUNTERPART, (*policy.path, "action"), message, help=help_)
        return False
    if "TaskCompleted" in policy.events and policy.action != "CompleteJob":
        message = f"`{policy.action}` when a task is completed has no JobSet equivalent"
        job.say(NO_COUNTERPART, (*policy.path, "action"), message, help="use `CompleteJob`, or remove it")
        return False
    return True


def _say_differences(job: JobOfTasks, policy: LifecycleRule, lifecycle: "TaskLifecycle") -> None:
    for event in _UNWATCHED:
        if event in policy.events:
            message = f"`{event}` has no effect: no controller watches for it"
            help_ = "remove the policy; the events of a pod and its PodGroup show what it waits for"
            job.say(UNWATCHED, policy.path, message, key=True, help=help_)
    if policy.timeout:
        message = f"`{policy.action}` follows immediately: `timeout: {policy.timeout}` has no effect"
        job.say(UNWATCHED, (*policy.path, "timeout"), message, help="remove `timeout`")
    if ANY in policy.events and policy.outcome:
        message = "`*` means failures and evictions here; in Volcano, also that a task is completed"
        job.say(WIDER, policy.path, message, key=True, help="name the events: PodFailed, PodEvicted")
    many = len(lifecycle.tasks) > 1
    if policy.action in {"RestartTask", "RestartPartition"} and (many or policy.action == "RestartPartition"):
        message = f"`{policy.action}` restarts all tasks: a JobSet restarts as a whole"
        job.say(WIDER, (*policy.path, "action"), message, help="use `RestartJob` to make it explicit")
    if policy.outcome == REPLACE and many:
        message = f"each task may replace {job.runs.value - 1} pods: Volcano counted those of all tasks"
        job.say(WIDER, (*policy.path, "action"), message, help="lower `maxRetry` if the sum matters")
    if policy.action == "AbortJob":
        message = "a failed JobSet is final: no Command resumes it"
        job.say(ABORTED, (*policy.path, "action"), message)


def _say_of_restart(job: JobOfTasks, task: Task) -> None:
    """What a restart policy other than Never makes of a task's policies."""
    path = (*task.path, "template", "spec", "restartPolicy")
    if task.restart.value == "Always":
        message = f"containers of `{task.role}` end: pods of a Job cannot use `restartPolicy: Always`"
        effect = "trainc writes `OnFailure`: a failed container restarts in its pod, a succeeded one does not"
        help_ = "write `restartPolicy: Never`, or `OnFailure`"
        job.say(ALWAYS, path, message, effect=effect, help=help_, level=WARNING)
    if task.restart.value == "Never":
        return
    policies = of_task(job, task)
    failed, evicted = matching(policies, "PodFailed"), matching(policies, "PodEvicted")
    if failed is not None or any(policy.code is not None for policy in policies):
        message = f"no policy matches a failure of `{task.role}`: the kubelet restarts its containers in place"
        job.say(WIDER, path, message, help="write `restartPolicy: Never` so that a failure ends the pod")
    if evicted is not None and evicted.outcome == RESTART:
        message = f"an evicted pod of `{task.role}` is replaced, and the others continue"
        job.say(WIDER, path, message, help="write `restartPolicy: Never` to restart all")


class TaskLifecycle:
    """What the policies of a whole job come to.

    A child Job has two ways to fail. Failures that end the JobSet, or restart it where pods are replaced, go through
    its podFailurePolicy; all others count against its backoffLimit.
    """

    def __init__(self, job: JobOfTasks) -> None:
        self.job = job
        self.failures = {task.role: Failures(of_task(job, task)) for task in job.tasks}
        self.tasks = [task for task in job.tasks if task.count.value]
        self.restarts = any(self.failures[task.role].restarts for task in self.tasks) and job.runs.value > 1

    def failure_policy(self) -> Tree:
        """The failurePolicy of the JobSet, None where it never restarts."""
        if not self.restarts:
            return None
        most = derive("runs without the first", lambda runs: runs - 1, self.job.runs)
        policy: Tree = {"maxRestarts": most, "restartStrategy": "BlockingRecreate"}
        # Which child Jobs end the JobSet when they fail, by the reason for which they fail.
        reasons: dict[str, list[str]] = {}
        for task in self.tasks:
            if (reason := self._ending(task)) is not None:
                reasons.setdefault(reason, []).append(task.role)
        if reasons:
            policy["rules"] = [
                {
                    **({"onJobFailureReasons": [reason]} if reason else {}),
                    "action": "FailJobSet",
                    "targetReplicatedJobs": names,
                }
                for reason, names in reasons.items()
            ]
        return stamp(policy, _BY)

    def child_fields(self, task: Task) -> Tree:
        """The fields of a task's child Jobs that say what happens to pods that fail."""
        if task.restart.value != "Never":
            return {"backoffLimit": stamp(FOREVER, "containers restart in place", task.restart)}
        failures = self.failures[task.role]
        fields: dict[str, Tree] = {"backoffLimit": 0}
        if REPLACE in failures.outcomes:
            fields["backoffLimit"] = derive("runs without the first", lambda runs: runs - 1, self.job.runs)
        if rules := self._pod_rules(task, failures):
            fields["podFailurePolicy"] = {"rules": rules}
        return stamp(fields, _BY)

    def check(self) -> bool:
        """Whether every task can be said with the two ways to fail; one that cannot is reported."""
        is_said = True
        for task in [task for task in self.tasks if task.restart.value == "Never"]:
            failures = self.failures[task.role]
            others = {RESTART, FAIL} & failures.outcomes | ({failures.eviction} - {REPLACE})
            if REPLACE in failures.outcomes and self.job.runs.value > 1 and len(others) > 1:
                message = f"`{task.role}` replaces a pod, restarts the job or ends it, depending on how the pod ends"
                self.job.say(MIXED, (*task.path, "name"), message, help="keep RestartPod and one other action")
                is_said = False
        return is_said

    def _ending(self, task: Task) -> str | None:
        """The reason for which a task's Job fails where that ends the JobSet: "" for any, None for no reason."""
        failures = self.failures[task.role]
        if task.restart.value != "Never":
            return None if failures.restarts else ""
        if not failures.restarts:
            return ""
        if REPLACE in failures.outcomes:
            return _LIMIT
        return _POLICY if FAIL in failures.outcomes or failures.eviction == FAIL else None

    def _pod_rules(self, task: Task, failures: Failures) -> list[Tree]:
        """The rules of a child Job's podFailurePolicy: what counts against its limit, and what fails it at once."""
        first = value(task.containers[0], "name") if task.containers else ""
        counted = RESTART if REPLACE not in failures.outcomes else REPLACE
        rules = self._eviction(failures, counted)
        if counted == RESTART and not (self.restarts and failures.restarts):
            return rules
        counts = failures.codes_for(counted)
        if failures.default == counted:
            others = (other for other in (RESTART, FAIL, REPLACE) if other != counted)
            if fails := [code for other in others for code in failures.codes_for(other)]:
                rules.append(_on_codes("FailJob", fails, first))
            return rules
        if counts:
            rules.append(_on_codes("Count", counts, first))
        rules.append({"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}})
        return rules

    def _eviction(self, failures: Failures, counted: str) -> list[Tree]:
        """The rule for a pod that is lost: replaced without counting, counted, or the end of the Job."""
        if failures.eviction == REPLACE:
            return [{"action": "Count" if counted == REPLACE else "Ignore", "onPodConditions": _DISRUPTED}]
        if failures.eviction == counted:
            plain = failures.default == counted and not failures.codes
            return [] if plain or not self.restarts else [{"action": "Count", "onPodConditions": _DISRUPTED}]
        if counted == RESTART and (not self.restarts or not failures.restarts):
            return []
        return [{"action": "FailJob", "onPodConditions": _DISRUPTED}]


def _on_codes(action: str, codes: list[int], container: str) -> Tree:
    values = sorted(codes, key=lambda code: (isinstance(code, str), code))  # a placeholder comes after the numbers
    return {"action": action, "onExitCodes": {"containerName": container, "operator": "In", "values": values}}
