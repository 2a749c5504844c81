"""The whole answer for one job on one cluster: queue, flavors, nodes; or the first reason and what would help."""

from __future__ import annotations

from trainc.capacity.advice import change_for, headroom
from trainc.capacity.edits import trainer_pods, with_pods
from trainc.capacity.gang import Gang, gang_of
from trainc.capacity.jobpods import run_data
from trainc.capacity.kueue import Kueue
from trainc.capacity.pods import EXCLUSIVE
from trainc.capacity.shown import verdict_data
from trainc.capacity.volcano import refusal
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from trainc.capacity.facts import Facts
    from trainc.capacity.rules import Problem
    from trainc.capacity.verdict import Verdict
    from trainc.model.tree import Tree

FITS, WAITS, NO_NODES, NEVER, UNKNOWN = "fits", "waits", "needs nodes", "never", "unknown"


class Answer:
    """What becomes of one job.

    `status` is fits; waits (others hold the quota or the nodes); needs nodes (there are not enough, an autoscaler may
    add them); never (as things are configured); or unknown (the dump does not tell).
    """

    __slots__ = ("change", "gang", "headroom", "reason", "status", "verdict")

    def __init__(self, verdict: Verdict | None) -> None:
        self.verdict = verdict
        self.gang: Gang | None = None
        self.status = UNKNOWN
        self.reason = ""
        self.change = ""
        self.headroom: int | None = None


class Fit:
    """Answers for the jobs of one cluster; equal jobs are judged once."""

    def __init__(self, facts: Facts, *, is_idle: bool = True) -> None:
        self.facts = facts
        self.is_idle = is_idle
        self.kueue = Kueue(facts, is_idle=is_idle) if facts.is_listed("ClusterQueue") else None
        self._known: dict[str, Answer] = {}
        self._gangs: dict[str, Gang] = {}
        self.problems: dict[str, tuple[Problem | str, ...]] = {}  # what rules found, by class of jobs

    def answer(self, jobset: Tree, groups: Sequence[Tree] = (), *, with_headroom: bool = False) -> Answer:
        """The answer for one JobSet; `groups` are the PodGroups of Volcano that go with it."""
        for group in groups:
            refused = refusal(self.facts, group)
            if refused:
                answer = Answer(None)
                answer.status, answer.reason = NEVER, refused
                answer.change = "ask for fewer or smaller pods, or name another queue"
                return answer
        # Refusals by quotas name the pods.
        name = value(jobset, "metadata", "name") if self.facts.objects.get("ResourceQuota") else ""
        key = f"{with_headroom}{name}{class_of(jobset)}"
        if key not in self._known:
            self._known[key] = self._answer(jobset)
            if with_headroom:
                self._known[key].headroom = self._headroom(jobset)
        return self._known[key]

    def reserve(self, answer: Answer) -> None:
        """Let an admitted job hold its quota while others are asked about."""
        verdict = answer.verdict
        if self.kueue is not None and verdict is not None and verdict.has_quota:
            self.kueue.snapshot.reserve(verdict)
            self._known.clear()

    def verdict(self, jobset: Tree) -> Verdict | None:
        """What Kueue answers, None for a job that it does not manage."""
        verdict = self.kueue.judge(jobset) if self.kueue else None
        return verdict if verdict and verdict.is_managed else None

    def gang(self, jobset: Tree, verdict: Verdict | None) -> Gang:
        """Whether the nodes hold the job's pods, with what its queue adds to them; equal pods are judged once."""
        added = added_by_queue(verdict, self.facts)
        names = ("ResourceQuota", "LimitRange")
        own = (value(jobset, "metadata", part) for part in ("namespace", "name"))
        apart = [*own] if any(self.facts.objects.get(kind) for kind in names) else []
        key = f"{apart}{_pods_of(jobset)}{value(jobset, 'metadata', 'annotations', EXCLUSIVE)}{added}"
        if key not in self._gangs:
            self._gangs[key] = gang_of(self.facts, jobset, added, is_idle=self.is_idle)
        return self._gangs[key]

    def change(self, jobset: Tree, verdict: Verdict) -> str:
        """What would help a job that Kueue does not admit."""
        return change_for(self.kueue, jobset, verdict) if self.kueue else ""

    def _answer(self, jobset: Tree) -> Answer:
        answer = Answer(self.verdict(jobset))
        if answer.verdict is not None and not answer.verdict.has_quota:
            self._refused(answer, answer.verdict, jobset)
            return answer
        if not self.facts.has_nodes or (answer.verdict and is_placed(answer.verdict)):
            answer.status = FITS if answer.verdict else UNKNOWN
            answer.reason = "" if answer.verdict else "the dump shows neither queues of Kueue for this job nor nodes"
            return answer
        self._look_at_nodes(answer, jobset)
        return answer

    def _refused(self, answer: Answer, verdict: Verdict, jobset: Tree) -> None:
        if verdict.missing:
            answer.reason = f"{verdict.missing}: there is no verdict"
            answer.change = "dump it as well (`trainc inventory --help` prints the command)"
            return
        answer.status = NEVER
        answer.reason = verdict.refusal or verdict.message
        if self.kueue is None:
            return
        waits = "more needed" in verdict.message
        if waits or not self.kueue.snapshot.is_untouched:
            ever = Kueue(self.facts).judge(jobset)
            answer.status = WAITS if ever.has_quota else NEVER
            waits = ever.has_quota
        answer.change = "wait until others finish" if waits else self.change(jobset, verdict)

    def _look_at_nodes(self, answer: Answer, jobset: Tree) -> None:
        gang = answer.gang = gang_of(
            self.facts, jobset, added_by_queue(answer.verdict, self.facts), is_idle=self.is_idle
        )
        run = gang.run
        refused = next((role.refused for role in run.roles if role.refused), "") if run else ""
        if refused:
            answer.status, answer.reason = NEVER, refused
            answer.change = "change the requests, or the limits and quotas of the namespace"
        elif gang.fits and (run is None or run.is_placed):
            answer.status = FITS
        elif gang.fits:
            answer.status = UNKNOWN
            answer.reason = "the nodes hold all pods, but the scheduler places them one by one and may miss it"
            answer.change = "ask a gang scheduler, or let the larger pods be created first"
        else:
            answer.status = UNKNOWN if gang.fits is None else NO_NODES
            answer.reason, answer.change = gang.reason, gang.change

    def _headroom(self, jobset: Tree) -> int:
        pods = trainer_pods(jobset)

        def works(count: int) -> bool:
            return self._answer(with_pods(jobset, count)).status == FITS

        return headroom(works, pods) if works(pods) else 0


def is_placed(verdict: Verdict) -> bool:
    """Whether Kueue itself chose the nodes, or leaves them to a check that creates them."""
    hosts = [member.levels == ["kubernetes.io/hostname"] for member in verdict.assigned if member.pods.count]
    return bool(verdict.checks) or (bool(hosts) and all(hosts))


def added_by_queue(verdict: Verdict | None, facts: Facts) -> list[dict[str, Any]]:
    """What Kueue adds to the pods of each role when it starts the job: labels and tolerations of its flavors."""
    out = []
    for member in verdict.assigned if verdict else ():
        names = sorted({choice.flavor for choice in member.choices.values()})
        labels: dict[str, str] = {}
        tolerations: list[Any] = []
        for name in names:
            labels |= facts.flavors[name].labels
            tolerations += facts.flavors[name].tolerations
        out.append({"nodeSelector": labels, "tolerations": tolerations})
    return out


_POD_PARTS = ("containers", "initContainers")


def class_of(jobset: Tree) -> str:
    """A text that jobs share for which the same answer holds."""
    metadata = get(jobset, "metadata")
    own = [value(metadata, "namespace"), plain(get(metadata, "labels")), plain(get(metadata, "annotations"))]
    return f"{own}{_pods_of(jobset)}"


def _pods_of(jobset: Tree) -> str:
    """A text that jobs share whose pods are equal in number and in all that decides where they may run."""
    parts: list[Any] = []
    jobs = get(jobset, "spec", "replicatedJobs")
    for job in jobs if type(jobs) is list else []:
        spec = get(job, "template", "spec")
        pod = get(spec, "template", "spec")
        parts += [value(job, "name"), value(job, "replicas"), value(spec, "parallelism"), value(spec, "completions")]
        parts += [plain(get(job, "template", "metadata")), plain(get(spec, "template", "metadata"))]
        if type(pod) is not dict:
            continue
        for field, node in pod.items():
            if field in _POD_PARTS and type(node) is list:
                kept = ("name", "resources", "restartPolicy", "ports")
                parts += [[plain(get(one, part)) for part in kept] for one in node]
            elif field != "volumes":
                parts += [field, plain(node)]
    return repr(parts)


def answer_data(answer: Answer) -> dict[str, Any]:
    """The answer as plain data for JSON; what is empty is left out."""
    data: dict[str, Any] = {"status": answer.status}
    if answer.reason:
        data["reason"] = answer.reason
    if answer.change:
        data["change"] = answer.change
    if answer.headroom is not None:
        data["headroom"] = answer.headroom
    if answer.verdict is not None:
        data["kueue"] = verdict_data(answer.verdict)
    if answer.gang is not None:
        gang = answer.gang
        data["nodes"] = {"fits": gang.fits, "room": gang.rooms, "first": gang.nodes}
        if gang.run is not None:
            data["pods"] = run_data(gang.run)
    return data
