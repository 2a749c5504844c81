"""Answers and verdicts as plain data for JSON, in Kueue's own words where it has them."""

from __future__ import annotations

from trainc.cluster.capacity.amounts import spelled
from trainc.cluster.capacity.jobpods import run_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.cluster.capacity.fit import FitAnswer
    from trainc.cluster.capacity.verdict import Assigned, KueueVerdict


def verdict_data(verdict: KueueVerdict) -> dict[str, Any]:
    """The verdict with the fields that are set."""
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


def _pod_set(member: Assigned) -> dict[str, Any]:
    data: dict[str, Any] = {"name": member.pods.name, "count": member.pods.count}
    if member.requests:
        data["requests"] = {name: spelled(name, amount) for name, amount in sorted(member.requests.items())}
    if member.choices:
        data["flavors"] = {name: choice.flavor for name, choice in sorted(member.choices.items())}
    if member.domains is not None:
        domains = [{"values": list(values), "count": count} for values, count in member.domains]
        data["topology"] = {"levels": member.levels, "domains": domains}
    if member.is_delayed:
        data["delayedTopology"] = "Pending"
    return data


def answer_data(answer: FitAnswer) -> dict[str, Any]:
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
