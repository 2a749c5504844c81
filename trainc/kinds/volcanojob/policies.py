"""What a Volcano Job's policies make of the end of a pod or a task: the first policy that matches decides."""

from __future__ import annotations

from trainc.kinds.volcanojob.policy_admission import ANY, events_of
from trainc.model.tree import get, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.kinds.volcanojob.spec import JobOfTasks, Task
    from trainc.model.tree import Path, Tree

RESTART, FAIL, REPLACE = "restart", "fail", "replace"
_OUTCOMES = {
    "RestartJob": RESTART,
    "RestartTask": RESTART,
    "RestartPartition": RESTART,
    "RestartPod": REPLACE,
    "AbortJob": FAIL,
    "TerminateJob": FAIL,
}


class LifecycleRule:
    """One lifecycle policy: what has to happen, and what is done then."""

    __slots__ = ("action", "code", "events", "path", "timeout")

    def __init__(self, tree: Tree, path: Path) -> None:
        self.events = events_of(tree)
        self.code: int | None = value(tree, "exitCode")
        self.action: str = value(tree, "action") or ""
        self.timeout: str | None = value(tree, "timeout")
        self.path = path

    @property
    def outcome(self) -> str:
        """What the action means for a pod that failed, "" where a JobSet has nothing like it."""
        return _OUTCOMES.get(self.action, "")

    def has(self, event: str) -> bool:
        """Whether the policy is for an event."""
        return event in self.events or ANY in self.events


def of_task(job: JobOfTasks, task: Task) -> list[LifecycleRule]:
    """The policies that count for a task in the order in which they are looked at: its own, then the job's."""
    return [*_read(task.tree, task.path), *_read(job.spec, ("spec",))]


def of_job(job: JobOfTasks) -> list[LifecycleRule]:
    """Every policy, each once."""
    own = [policy for task in job.tasks for policy in _read(task.tree, task.path)]
    return [*own, *_read(job.spec, ("spec",))]


def _read(holder: Tree, above: Path) -> list[LifecycleRule]:
    policies = get(holder, "policies")
    return [
        LifecycleRule(tree, (*above, "policies", index))
        for index, tree in enumerate(policies if type(policies) is list else ())
    ]


def matching(policies: Sequence[LifecycleRule], event: str, code: int | None = None) -> LifecycleRule | None:
    """The policy that decides about an event and an exit code of the first container, None where none does."""
    return next((p for p in policies if p.has(event) or (code is not None and p.code == code)), None)


class Failures:
    """What a task's policies make of a pod that failed (by exit code, and of every other code) or was evicted.

    `other` and `evicted` are None where no policy matches: Volcano then leaves a failed pod as it is, and makes an
    evicted one again.
    """

    __slots__ = ("codes", "evicted", "other")

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
        """The outcome of an eviction."""
        return self.evicted.outcome if self.evicted is not None else REPLACE

    @property
    def outcomes(self) -> set[str]:
        """All outcomes of failures."""
        return {self.default, *(policy.outcome for policy in self.codes.values() if policy is not None)}

    @property
    def restarts(self) -> bool:
        """Whether anything restarts the job."""
        return RESTART in self.outcomes or self.eviction == RESTART
