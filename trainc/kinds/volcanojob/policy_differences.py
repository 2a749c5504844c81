"""What the policies of a Volcano Job ask for that a JobSet does in another way, or not at all."""

from __future__ import annotations

from trainc.kinds.shared.restart import ALWAYS
from trainc.kinds.shared.run_policy import CLEAN_UP
from trainc.kinds.volcanojob.policies import REPLACE, RESTART, matching, of_job, of_task
from trainc.kinds.volcanojob.policy_admission import ANY
from trainc.model.finding import ERROR, NOTE, WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.volcanojob.lifecycle import TaskLifecycle
    from trainc.kinds.volcanojob.policies import LifecycleRule
    from trainc.kinds.volcanojob.spec import JobOfTasks, Task

NO_COUNTERPART = Rule(
    "policy-without-counterpart",
    ERROR,
    "a Volcano policy has no JobSet equivalent",
    "A JobSet ends or restarts when a child Job fails, and succeeds when chosen Jobs succeed. Volcano has more "
    "actions.",
)
UNWATCHED = Rule(
    "policy-unwatched",
    WARNING,
    "a Volcano policy waits for an event that JobSet does not watch",
    "Volcano's controller watches pending pods, lost nodes and timeouts; JobSet and Job react only when pods end.",
)
WIDER = Rule(
    "restart-differs",
    WARNING,
    "a Volcano Job restarts other pods than its JobSet",
    "A JobSet restarts as a whole, or a Job replaces a pod. Volcano also restarts single tasks and counts "
    "restarts per job.",
)
ABORTED = Rule(
    "abort-is-final",
    NOTE,
    "a failed JobSet cannot be resumed",
    "Volcano keeps an aborted job and resumes it with a Command.",
)
_UNWATCHED = ("PodPending", "Unknown", "TaskFailed", "JobUpdated")


def check_policies(job: JobOfTasks, lifecycle: TaskLifecycle) -> bool:
    """Whether every policy has a counterpart; what has none, and what will be different, is reported."""
    done = [_has_counterpart(job, policy) for policy in of_job(job)]
    for policy in of_job(job):
        _say_differences(job, policy, lifecycle)
    for task in lifecycle.tasks:
        _say_of_restart(job, task)
    _say_of_peers(job, lifecycle)
    return all(done) and lifecycle.check()


def _has_counterpart(job: JobOfTasks, policy: LifecycleRule) -> bool:
    failure = policy.code is not None or any(policy.has(event) for event in ("PodFailed", "PodEvicted"))
    if failure and not policy.outcome:
        message = f"`{policy.action}` when a pod fails has no counterpart in a JobSet: a failed Job cannot complete it"
        help_ = "let the program end with 0 where its failure counts as success, or use another action"
        job.say(NO_COUNTERPART.at(job.span((*policy.path, "action")), message, help=help_))
        return False
    if "TaskCompleted" in policy.events and policy.action != "CompleteJob":
        message = f"`{policy.action}` when a task is completed has no counterpart in a JobSet"
        job.say(NO_COUNTERPART.at(job.span((*policy.path, "action")), message, help="use `CompleteJob`, or remove it"))
        return False
    return True


def _say_differences(job: JobOfTasks, policy: LifecycleRule, lifecycle: TaskLifecycle) -> None:
    for event in _UNWATCHED:
        if event in policy.events:
            message = f"`{event}` does nothing here: nobody watches for it"
            help_ = "remove the policy; what a pod waits for is in its events and in those of its PodGroup"
            job.say(UNWATCHED.at(job.span(policy.path, key=True), message, help=help_))
    if policy.timeout:
        message = f"`{policy.action}` follows at once: nobody waits for `timeout: {policy.timeout}`"
        job.say(UNWATCHED.at(job.span((*policy.path, "timeout")), message, help="remove `timeout`"))
    if ANY in policy.events and policy.outcome:
        message = f"`*` means failures and evictions here: Volcano does `{policy.action}` when a task is completed too"
        job.say(WIDER.at(job.span(policy.path, key=True), message, help="name the events: PodFailed, PodEvicted"))
    many = len(lifecycle.tasks) > 1
    if policy.action in {"RestartTask", "RestartPartition"} and (many or policy.action == "RestartPartition"):
        message = f"`{policy.action}` restarts all tasks: a JobSet restarts as a whole"
        job.say(WIDER.at(job.span((*policy.path, "action")), message, help="use `RestartJob` to say so"))
    if policy.outcome == REPLACE and many:
        message = f"each task may replace {job.runs.value - 1} pods: Volcano counted those of all tasks"
        job.say(WIDER.at(job.span((*policy.path, "action")), message, help="lower `maxRetry` if the sum matters"))
    if policy.action == "AbortJob":
        message = "a JobSet that failed is over: no Command resumes it"
        job.say(ABORTED.at(job.span((*policy.path, "action")), message))


def _say_of_peers(job: JobOfTasks, lifecycle: TaskLifecycle) -> None:
    """Say that a pod that fails ends the others, where Volcano lets them go on."""
    alone = [t for t in lifecycle.tasks if t.restart.value == "Never" and lifecycle.failures[t.role].other is None]
    if alone and (len(lifecycle.tasks) > 1 or alone[0].count.value > 1):
        message = f"a pod of `{alone[0].role}` that fails ends the job: Volcano lets the others go on"
        job.say(CLEAN_UP.at(job.span(alone[0].path, key=True), message))


def _say_of_restart(job: JobOfTasks, task: Task) -> None:
    """What a restart policy other than Never makes of a task's policies."""
    path = (*task.path, "template", "spec", "restartPolicy")
    if task.restart.value == "Always":
        message = f"containers of `{task.role}` end here: pods of a Job cannot restart for ever, as `Always` wants"
        effect = "`OnFailure` is written: a container that fails restarts in its pod, one that succeeds does not"
        help_ = "write `restartPolicy: Never`, or `OnFailure`"
        job.say(ALWAYS.at(job.span(path), message, effect=effect, help=help_, level=WARNING))
    if task.restart.value == "Never":
        return
    policies = of_task(job, task)
    failed, evicted = matching(policies, "PodFailed"), matching(policies, "PodEvicted")
    if failed is not None or any(policy.code is not None for policy in policies):
        message = f"a failure of `{task.role}` meets no policy: the kubelet restarts its containers in place"
        help_ = "write `restartPolicy: Never` so that a failure ends the pod"
        job.say(WIDER.at(job.span(path), message, help=help_))
    if evicted is not None and evicted.outcome == RESTART:
        message = f"an evicted pod of `{task.role}` is replaced alone: the others go on"
        job.say(WIDER.at(job.span(path), message, help="write `restartPolicy: Never` to restart all"))
