"""Every recorded answer of Kueue to "is this JobSet ever admitted, with what, and where"."""

import json
from functools import cache
from typing import Any

import pytest

from tests.conformance.archives import groups, members
from tests.sampling import sampled
from trainc.cluster.capacity.answers import verdict_data
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.jobpods import JobPlacement, run_data
from trainc.cluster.capacity.kueue import Kueue
from trainc.model.report import Report
from trainc.yaml.reader import read

CASES = sorted(
    f"{group}/{file.removesuffix('.json')}"
    for group in groups("admission")
    if group != "pods"
    for file in members("admission", group)
    if file.endswith(".json")
)
# What is compared as it stands; where a message depends on the order of a Go map, any that was seen is right.
FIELDS = (
    "managed",
    "queue",
    "clusterQueue",
    "quotaReserved",
    "admitted",
    "borrowing",
    "cycles",
    "reason",
    "rejected",
    "rejectedBy",
    "pendingAdmissionChecks",
    "maximumExecutionTimeSeconds",
)


@cache
def asked(case: str) -> tuple[dict[str, Any], list[Any]]:
    """The cluster's objects of a case by kind and name, and its JobSets."""
    group, _, name = case.partition("/")
    report = Report()
    objects: dict[str, dict[str, Any]] = {}
    jobs = []
    for document in read(members("admission", group)[f"{name}.yaml"], f"{name}.yaml", report):
        if document.kind == "JobSet":
            jobs.append(document.tree)
        else:
            key = f"{document.namespace}/{document.name}" if document.namespace else document.name
            objects.setdefault(document.kind, {})[key] = document.tree
    assert not report.failed
    return objects, jobs


def recorded(case: str) -> list[dict[str, Any]]:
    group, _, name = case.partition("/")
    found: list[dict[str, Any]] = json.loads(members("admission", group)[f"{name}.json"])["verdicts"]
    return found


def test_the_record_is_there() -> None:
    assert len(CASES) == 257
    assert len(PODS) == 63


@pytest.mark.parametrize("case", sampled(CASES, every=5))
def test_as_recorded(case: str) -> None:
    objects, jobs = asked(case)
    kueue = Kueue(ClusterFacts(objects, closed=True))
    for job, theirs in zip(jobs, recorded(case), strict=True):
        ours = verdict_data(kueue.judge(job))
        assert {field: ours.get(field) for field in FIELDS} == {field: theirs.get(field) for field in FIELDS}
        messages = theirs.get("messagesSeen", [theirs.get("message")])
        assert ours.get("message") in messages
        if "messagesSeen" not in theirs:
            assert ours.get("cycleMessages", []) == theirs.get("cycleMessages", [])
        if "priority" in theirs:
            assert ours["priority"] == theirs["priority"]
        assert ours.get("podSets", []) == [pod_set(one) for one in theirs.get("podSets", [])]


def pod_set(theirs: dict[str, Any]) -> dict[str, Any]:
    """A recorded pod set without the modes of its flavors, which are preemption's business."""
    return {key: content for key, content in theirs.items() if key != "modes"}


PODS = sorted(name.removesuffix(".json") for name in members("admission", "pods") if name.endswith(".json"))


@pytest.mark.parametrize("name", PODS)
def test_pods_as_recorded(name: str) -> None:
    objects, jobs = asked(f"pods/{name}")
    for job, theirs in zip(jobs, recorded(f"pods/{name}"), strict=True):
        run = JobPlacement(ClusterFacts(objects, closed=True), job)
        run.place()
        ours = run_data(run)
        assert ours["allPodsPlaced"] == theirs["allPodsPlaced"]
        groups = [{key: one[key] for key in one if key != "podRequestsAfterAdmission"} for one in theirs["groups"]]
        assert ours["groups"] == groups


@pytest.mark.parametrize("case", CASES[::7])
def test_order_of_objects_does_not_matter(case: str) -> None:
    objects, jobs = asked(case)
    turned = {kind: dict(reversed(named.items())) for kind, named in reversed(objects.items())}
    ours, theirs = (Kueue(ClusterFacts(found, closed=True)).judge(jobs[0]) for found in (objects, turned))
    assert verdict_data(ours) == verdict_data(theirs)
