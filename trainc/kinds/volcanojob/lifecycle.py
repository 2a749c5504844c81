"""A Volcano Job's policies as what a JobSet does when a child Job fails, and as what its Jobs do about their pods."""

from __future__ import annotations

from trainc.kinds.shared.restart import FOREVER
from trainc.kinds.volcanojob.policies import FAIL, REPLACE, RESTART, Failures, of_task
from trainc.model.finding import ERROR, Rule
from trainc.model.sourced import derive
from trainc.model.tree import stamp, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.volcanojob.spec import JobOfTasks, Task
    from trainc.model.tree import Tree

MIXED = Rule(
    "policies-mixed",
    ERROR,
    "the policies of a task need more failure outcomes than a Job has",
    "A Job fails by its podFailurePolicy or by its backoffLimit; a JobSet distinguishes only these two.",
)
_BY = "policies of the Volcano Job"
_LOST = [{"type": "DisruptionTarget", "status": "True"}]
_POLICY, _LIMIT = "PodFailurePolicy", "BackoffLimitExceeded"


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
        policy = {"maxRestarts": most, "restartStrategy": "BlockingRecreate"}
        rules = self._rules()
        return stamp({**policy, **({"rules": rules} if rules else {})}, _BY)

    def child_fields(self, task: Task) -> Tree:
        """The fields of a task's child Jobs that say what happens to pods that fail."""
        if task.restart.value != "Never":
            return {"backoffLimit": stamp(FOREVER, "containers restart in place", task.restart)}
        failures = self.failures[task.role]
        fields: dict[str, Tree] = {"backoffLimit": 0}
        if REPLACE in failures.outcomes:
            fields["backoffLimit"] = derive("runs without the first", lambda runs: runs - 1, self.job.runs)
        rules = self._pod_rules(task, failures)
        if rules:
            fields["podFailurePolicy"] = {"rules": rules}
        return stamp(fields, _BY)

    def check(self) -> bool:
        """Whether every task can be said with the two ways to fail; one that cannot is reported."""
        mixed = [task for task in self.tasks if task.restart.value == "Never" and self._is_mixed(task)]
        for task in mixed:
            at = self.job.span((*task.path, "name"))
            message = f"`{task.role}` replaces a pod, restarts the job or ends it, depending on how the pod ends"
            self.job.say(MIXED.at(at, message, help="keep RestartPod and one other action"))
        return not mixed

    def _is_mixed(self, task: Task) -> bool:
        failures = self.failures[task.role]
        if REPLACE not in failures.outcomes:
            return False
        others = {RESTART, FAIL} & failures.outcomes | ({failures.eviction} - {REPLACE})
        return self.job.runs.value > 1 and len(others) > 1

    def _rules(self) -> list[Tree]:
        """Which child Jobs end the JobSet when they fail, by the reason for which they fail."""
        reasons: dict[str, list[str]] = {}
        for task in self.tasks:
            reason = self._ending(task)
            if reason is not None:
                reasons.setdefault(reason, []).append(task.role)
        return [
            {
                "action": "FailJobSet",
                **({"onJobFailureReasons": [reason]} if reason else {}),
                "targetReplicatedJobs": names,
            }
            for reason, names in reasons.items()
        ]

    def _ending(self, task: Task) -> str | None:
        """The reason for which a task's Job fails where that ends the JobSet: "" for any, None for no reason."""
        failures = self.failures[task.role]
        if task.restart.value != "Never":
            return None if failures.restarts else ""
        if not failures.restarts:
            return ""
        if REPLACE in failures.outcomes:
            return _LIMIT
        ends = FAIL in failures.outcomes or failures.eviction == FAIL
        return _POLICY if ends else None

    def _pod_rules(self, task: Task, failures: Failures) -> list[Tree]:
        """The rules of a child Job's podFailurePolicy: what counts against its limit, and what fails it at once."""
        first = value(task.containers[0], "name") if task.containers else ""
        counted = RESTART if REPLACE not in failures.outcomes else REPLACE
        rules = self._eviction(failures, counted)
        if counted == RESTART and not self.restarts:
            return rules
        if counted == RESTART and not failures.restarts:
            return rules
        counts = failures.codes_for(counted)
        if failures.default == counted:
            fails = [
                code for other in (RESTART, FAIL, REPLACE) if other != counted for code in failures.codes_for(other)
            ]
            if fails:
                rules.append(_on_codes("FailJob", fails, first))
            return rules
        if counts:
            rules.append(_on_codes("Count", counts, first))
        rules.append({"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}})
        return rules

    def _eviction(self, failures: Failures, counted: str) -> list[Tree]:
        """The rule for a pod that is lost: replaced without counting, counted, or the end of the Job."""
        if failures.eviction == REPLACE:
            return [{"action": "Count" if counted == REPLACE else "Ignore", "onPodConditions": _LOST}]
        if failures.eviction == counted:
            plain = failures.default == counted and not failures.codes
            return [] if plain or not self.restarts else [{"action": "Count", "onPodConditions": _LOST}]
        if counted == RESTART and (not self.restarts or not failures.restarts):
            return []
        return [{"action": "FailJob", "onPodConditions": _LOST}]


def _on_codes(action: str, codes: list[int], container: str) -> Tree:
    return {
        "action": action,
        "onExitCodes": {"containerName": container, "operator": "In", "values": sorted(codes)},
    }
