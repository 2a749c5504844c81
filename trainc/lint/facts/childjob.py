"""One child Job as its controller runs it: which pods it makes, and when it has succeeded or failed.

Source: the Job controller of Kubernetes 1.36 with its default feature gates.
"""

from __future__ import annotations

from bisect import bisect_right
from heapq import heappop, heappush
from typing import Any

from trainc.apiserver.jobs.policies import DEFAULT_BACKOFF_LIMIT, size_of
from trainc.apiserver.pods.complaints import fields, items, maps, text

PENDING, RUNNING, SUCCEEDED, FAILED = "Pending", "Running", "Succeeded", "Failed"
_ACTIVE = (PENDING, RUNNING)
_BACKOFF = "Job has reached the specified backoff limit"


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
        parallelism, completions = spec.get("parallelism"), spec.get("completions")
        self.width = parallelism if type(parallelism) is int else 1
        self.size = completions if type(completions) is int else self.width
        self._unused = 0  # the lowest index that no pod has had
        self._returned: list[int] = []  # a heap of indexes whose pod is to be replaced: the lowest is made first
        self._policy = [PolicyRule(rule, self.size) for _, rule in maps(fields(spec.get("successPolicy")).get("rules"))]
        self.fill()

    @property
    def is_ready(self) -> bool:
        """Whether as many pods as run at once are ready or have succeeded."""
        ready = [pod for pod in self.pods if pod.phase in (RUNNING, SUCCEEDED)]
        return len(ready) >= min(self.width, self.size)

    @property
    def most(self) -> int:
        """How many failures of its pods it stands in all."""
        limit = self.spec.get("backoffLimit")
        if type(limit) is int:
            return limit
        return 2**31 - 1 if type(self.spec.get("backoffLimitPerIndex")) is int else DEFAULT_BACKOFF_LIMIT

    @property
    def conditions(self) -> str:
        """The conditions that are true, in the order in which they are set."""
        if self.suspended:
            return "Suspended"
        ends = {"Complete": "SuccessCriteriaMet,Complete", "Failed": "FailureTarget,Failed"}
        return ends.get(self.outcome, "")

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
            self.pods.append(PodState(self._index() if self.indexed else None))
            self._active += 1

    def _index(self) -> int:
        """The lowest index that is free."""
        if self._returned:
            return heappop(self._returned)
        self._unused += 1
        return self._unused - 1

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
        return self._count(pod, action)

    def _count(self, pod: PodState, action: str) -> str:
        per_index = self.spec.get("backoffLimitPerIndex")
        if type(per_index) is int and (action == "FailIndex" or self.by_index[pod.index] > per_index):
            return self._fail_index(pod.index)
        if self.failures > self.most:
            self._fail("BackoffLimitExceeded", _BACKOFF)
            return "its Job fails (BackoffLimitExceeded)"
        self._replace(pod)
        left = self.by_index[pod.index] if type(per_index) is int else self.failures
        bound = per_index if type(per_index) is int else self.most
        return f"the pod is replaced (failure {left} of {bound} that its {'index' if type(per_index) is int else 'Job'} stands)"

    def _replace(self, pod: PodState) -> None:
        if pod.index is not None:
            heappush(self._returned, pod.index)
        self.fill()

    def _fail_index(self, index: int | None) -> str:
        self.failed_indexes.add(index)
        most = self.spec.get("maxFailedIndexes")
        if type(most) is int and len(self.failed_indexes) > most:
            self._fail("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
            return "its Job fails (MaxFailedIndexesExceeded)"
        if self._has_succeeded():
            return f"its Job fails ({self.reason})"
        self.fill()
        return f"index {index} has failed for good; the other pods go on"

    def _action(self, code: int, condition: str) -> tuple[int, str]:
        """The rule of the pod failure policy that decides, and what it does."""
        for number, rule in maps(fields(self.spec.get("podFailurePolicy")).get("rules")):
            codes = rule.get("onExitCodes")
            if codes is not None and not condition and _is_among(code, fields(codes)):
                return number, text(rule, "action")
            if condition and any(
                text(pattern, "type") == condition for _, pattern in maps(rule.get("onPodConditions"))
            ):
                return number, text(rule, "action")
        return -1, "Count"

    def _fail(self, reason: str, message: str) -> None:
        self.reason, self.message = reason, message
        self._end("Failed")

    def _end(self, outcome: str) -> None:
        self.outcome = outcome
        self._active = 0
        self.pods = [pod for pod in self.pods if pod.phase not in _ACTIVE]


def _is_among(code: int, codes: dict[str, Any]) -> bool:
    return (code in items(codes.get("values"))) == (text(codes, "operator") == "In")


def indexes(written: str, size: int) -> list[range]:
    """The runs of indexes that a text such as `0,2-5` names in ascending order, none where it is not one."""
    try:
        size_of(written, size)
    except ValueError:
        return []
    limits = [interval.partition("-") for interval in written.split(",")] if written else []
    return [range(int(first), int(last or first) + 1) for first, _, last in limits]
