"""Small edits of a JobSet that would change a verdict, for saying which one helps."""

from __future__ import annotations

from trainc.model.plan import ANCESTOR_LABEL
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, stamp, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Tree

_BY = Origin(None, "what if")


def trainer_index(jobset: Tree) -> int:
    """Which replicatedJob trains: the one that says so, else the one with the most pods."""
    jobs = _jobs(jobset)
    for index, job in enumerate(jobs):
        if value(job, "template", "metadata", "labels", ANCESTOR_LABEL) == "trainer":
            return index
    return max(range(len(jobs)), key=lambda index: pods_of(jobs[index]), default=0)


def pods_of(job: Tree) -> int:
    """The pods of a replicatedJob."""
    spec = get(job, "template", "spec")
    parallelism = _number(spec, "parallelism", 1)
    return _number(job, "replicas", 1) * min(parallelism, _number(spec, "completions", parallelism))


def trainer_pods(jobset: Tree) -> int:
    """The pods of the role that trains."""
    jobs = _jobs(jobset)
    return pods_of(jobs[trainer_index(jobset)]) if jobs else 0


def with_pods(jobset: Tree, count: int) -> Tree:
    """The JobSet with another number of pods in the role that trains: in its Job, or by more equal Jobs."""
    jobs, at = _jobs(jobset), trainer_index(jobset)
    if not jobs:
        return jobset
    job, number = jobs[at], Sourced(count, _BY)
    spec = get(job, "template", "spec")
    if _number(job, "replicas", 1) > 1 and _number(spec, "parallelism", 1) == 1:
        return _replaced(jobset, at, {**job, "replicas": number})
    spec = {**spec, "parallelism": number, "completions": number}
    return _replaced(jobset, at, {**job, "replicas": Sourced(1, _BY), "template": {**job["template"], "spec": spec}})


def with_pod_field(jobset: Tree, field: str, content: Any) -> Tree:
    """The JobSet with one more toleration in every pod, or with another node selector."""
    for at, job in enumerate(_jobs(jobset)):
        pod = get(job, "template", "spec", "template", "spec")
        if type(pod) is not dict:
            continue
        before = pod.get(field)
        changed = [*before, *content] if type(before) is list else content
        pod = {**pod, field: stamp(changed, "what if")}
        template = {**job["template"]["spec"]["template"], "spec": pod}
        spec = {**job["template"]["spec"], "template": template}
        jobset = _replaced(jobset, at, {**job, "template": {**job["template"], "spec": spec}})
    return jobset


def _replaced(jobset: Tree, at: int, job: Tree) -> Tree:
    jobs = list(_jobs(jobset))
    jobs[at] = job
    return {**jobset, "spec": {**jobset["spec"], "replicatedJobs": jobs}}


def _jobs(jobset: Tree) -> list[Tree]:
    jobs = get(jobset, "spec", "replicatedJobs")
    return jobs if type(jobs) is list else []


def _number(holder: Tree, name: str, default: int) -> int:
    number = value(holder, name)
    return number if type(number) is int and number >= 0 else default
