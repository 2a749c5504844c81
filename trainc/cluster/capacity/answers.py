"""Answers and verdicts as plain data for JSON, in Kueue's own words; and what an edit does to the answers of all jobs."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from trainc.cluster.capacity.amounts import spelled
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.fit import FITS, UNKNOWN, Fit, FitAnswer
from trainc.cluster.capacity.jobpods import run_data
from trainc.cluster.capacity.verdict import KueueVerdict, PodSetAssignment
from trainc.model.tree import Tree

Key = tuple[str, str, str]  # cluster, namespace, name
Jobs = Mapping[Key, Tree]
Objects = Mapping[str, Mapping[str, Tree]]


def verdict_data(verdict: KueueVerdict) -> dict[str, Any]:
    data: dict[str, Any] = {"managed": verdict.is_managed, "queue": verdict.queue}
    if verdict.missing:
        return {**data, "missing": verdict.missing}
    data |= {"quotaReserved": verdict.has_quota, "admitted": verdict.is_admitted, "borrowing": verdict.borrowing}
    data["cycles"] = verdict.cycles
    fields = {
        "clusterQueue": verdict.cluster_queue,
        "reason": verdict.reason,
        "message": verdict.message,
        "cycleMessages": verdict.messages,
        "rejected": verdict.refusal,
        "rejectedBy": verdict.refused_by,
        "inactive": verdict.detail,
        "pendingAdmissionChecks": verdict.checks,
        "maximumExecutionTimeSeconds": verdict.seconds,
        "priorityClass": verdict.priority_class,
        "borrowed": [
            {"resource": name, "amount": spelled(name, amount), "cohort": cohort}
            for name, amount, cohort in verdict.borrowed
        ],
        "podSets": [_pod_set(member) for member in verdict.assigned],
    }
    data |= {name: content for name, content in fields.items() if content}
    if verdict.priority is not None:
        data["priority"] = verdict.priority
    return data


def _pod_set(member: PodSetAssignment) -> dict[str, Any]:
    data: dict[str, Any] = {"name": member.pods.name, "count": member.pods.count}
    requests = {name: spelled(name, amount) for name, amount in sorted(member.requests.items())}
    flavors = {name: choice.flavor for name, choice in sorted(member.choices.items())}
    data |= {name: content for name, content in (("requests", requests), ("flavors", flavors)) if content}
    if member.domains is not None:
        domains = [{"values": list(values), "count": count} for values, count in member.domains]
        data["topology"] = {"levels": member.levels, "domains": domains}
    return {**data, "delayedTopology": "Pending"} if member.is_delayed else data


def answer_data(answer: FitAnswer) -> dict[str, Any]:
    """The answer as plain data for JSON; what is empty is left out."""
    data: dict[str, Any] = {"status": answer.status}
    data |= {name: text for name, text in (("reason", answer.reason), ("change", answer.change)) if text}
    if answer.headroom is not None:
        data["headroom"] = answer.headroom
    if answer.verdict is not None:
        data["kueue"] = verdict_data(answer.verdict)
    if (gang := answer.gang) is not None:
        data["nodes"] = {"fits": gang.fits, "room": gang.rooms, "first": gang.nodes}
        if gang.run is not None:
            data["pods"] = run_data(gang.run)
    return data


class Effect(NamedTuple):
    """The answer for one job before and after an edit, `old` empty for a job that is new; and why it is what it is."""

    key: Key
    old: str
    new: str
    reason: str


def effects(objects: Objects, before: Jobs, after: Jobs) -> list[Effect]:
    """The jobs of one cluster whose answer is another one after an edit, with all jobs at once.

    Nothing where an amount of the dump is not one: it decides nothing then.
    """
    if ClusterFacts(objects).malformed:
        return []
    old, new = _answers(objects, before), _answers(objects, after)
    return [
        Effect(key, was, answer.status, answer.reason)
        for key, answer in sorted(new.items())
        for was in [old[key].status if key in old else ""]
        if UNKNOWN not in {was, answer.status} and answer.status != (was or FITS)
    ]


def _answers(objects: Objects, jobs: Jobs) -> dict[Key, FitAnswer]:
    """The answers for all jobs at once, by priority, then by name; each holds what it gets."""
    alone = Fit(ClusterFacts(objects), names_nodes=False)
    fit = Fit(ClusterFacts(objects), alone=alone, names_nodes=False).without_jobs(jobs.values())
    answers = {}
    for key in sorted(jobs, key=lambda key: (-alone.priority(jobs[key]), key)):
        answers[key] = fit.answer(jobs[key])
        fit.reserve(answers[key])
    return answers
