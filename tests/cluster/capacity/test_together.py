"""Answers while other jobs run, or hold what they got before."""

from typing import Any

import pytest

from tests.cluster.capacity.clusters import HOSTNAME, ask, facts, job, node, queue, thing, topology
from trainc.cluster.capacity.fit import Fit
from trainc.model.tree import stamp


def busy(cpu: int) -> dict[str, Any]:
    owner = [{"kind": "Job", "name": "other"}]
    containers = [{"resources": {"requests": {"cpu": str(cpu)}}}]
    return thing(
        "Pod", "p", "lab", metadata={"ownerReferences": owner}, spec={"nodeName": "n1", "containers": containers}
    )


def test_what_runs_now_is_waited_for() -> None:
    objects = (node("n1"), busy(2))
    now = Fit(facts(*objects), is_idle=False, alone=Fit(facts(*objects)))
    assert now.answer(stamp(job(), "job")).status == "waits"
    assert now.answer(stamp(job(pods=3), "job")).status == "needs nodes"
    assert ask(job(), *objects).status == "fits"


def together(*jobs: dict[str, Any], objects: list[dict[str, Any]]) -> list[str]:
    fit = Fit(facts(*objects), alone=Fit(facts(*objects)))
    out = []
    for one in jobs:
        answer = fit.answer(stamp(one, "job"))
        fit.reserve(answer)
        out.append(answer.status)
    return out


def test_jobs_together_hold_their_nodes() -> None:
    three = [job(name) for name in "abc"]
    assert together(*three, objects=[node("n1"), node("n2")]) == ["fits", "fits", "waits"]
    assert together(job("a", pods=3), *three, objects=[node("n1"), node("n2")]) == ["fits", "waits", "waits", "waits"]


def test_a_queued_job_and_one_without_a_queue_share_nodes() -> None:
    jobs = [job("a", queued=True), job("b"), job("c", queued=True)]
    plain = [*queue(), node("n1"), node("n2")]
    assert together(*jobs, objects=plain) == ["fits", "fits", "waits"]
    placed = [*queue(flavor={"topologyName": "tree"}), topology(HOSTNAME), node("n1"), node("n2")]
    assert together(*jobs, objects=placed) == ["fits", "fits", "waits"]
    assert together(*jobs[1:], job("d"), objects=placed) == ["fits", "fits", "waits"]


@pytest.mark.slow
def test_large_jobs_together_hold_their_nodes() -> None:
    nodes = [node(f"n{at}") for at in range(400)]
    jobs = [job(name, pods=700) for name in "ab"]
    assert together(*jobs, objects=nodes) == ["fits", "waits"]
    assert together(jobs[0], job("b", pods=100), objects=nodes) == ["fits", "fits"]


def running(name: str, node_name: str, *, cpu: int = 4, pods: int = 2) -> list[dict[str, Any]]:
    """What an admitted JobSet has on a cluster: its Workload, and its pods on one node."""
    owner = [{"kind": "JobSet", "name": name, "controller": True}]
    flavors = {"name": "node", "count": pods, "flavors": {"cpu": "main"}, "resourceUsage": {"cpu": str(cpu * pods)}}
    status = {"admission": {"clusterQueue": "all", "podSetAssignments": [flavors]}}
    workload = thing("Workload", f"jobset-{name}-1f2e3", "lab", metadata={"ownerReferences": owner}, status=status)
    labels = {"jobset.sigs.k8s.io/jobset-name": name, "batch.kubernetes.io/job-name": f"{name}-node-0"}
    metadata = {"labels": labels, "ownerReferences": [{"kind": "Job", "name": f"{name}-node-0"}]}
    spec = {"nodeName": node_name, "containers": [{"resources": {"requests": {"cpu": str(cpu)}}}]}
    each = [thing("Pod", f"{name}-node-0-{at}", "lab", metadata=metadata, spec=spec) for at in range(pods)]
    return [workload, *each]


def now(*objects: dict[str, Any]) -> Fit:
    return Fit(facts(*objects), is_idle=False, alone=Fit(facts(*objects)))


def test_a_running_job_does_not_wait_for_itself() -> None:
    """Its Workload and its pods take all quota and the whole node; another job of that size waits for them."""
    objects = [*queue(8), node("n1"), *running("a", "n1")]
    for quota in ([], [thing("ResourceQuota", "q", "lab", status={"hard": {"pods": "2"}, "used": {"pods": "2"}})]):
        fit = now(*objects, *quota)
        assert fit.answer(stamp(job("a", queued=True), "job")).status == "fits"
        assert fit.answer(stamp(job("b", queued=True), "job")).status == "waits"
        assert fit.answer(stamp(job("a", queued=True, pods=3), "job")).status != "fits"


def test_a_running_job_is_known_by_its_workload_alone() -> None:
    """An inventory counts pods of all jobs together, and keeps no owners."""
    workload, *_ = running("a", "n1")
    del workload["metadata"]["ownerReferences"]
    amounts = {"cpu": "8", "memory": "64Gi", "pods": "110"}
    group = {"names": ["n1"], "allocatable": amounts, "jobs": {"cpu": "8"}}
    fit = now(*queue(8), workload, thing("Inventory", "eu", spec={"nodes": [group]}))
    answer = fit.answer(stamp(job("a", queued=True), "job"))
    assert (answer.status, answer.reason) == ("admitted", "its Workload has its quota already")
    assert fit.answer(stamp(job("b", queued=True), "job")).status == "waits"


def test_jobs_together_begin_with_those_that_run() -> None:
    objects = [*queue(16), node("n1"), node("n2"), *running("a", "n1"), *running("c", "n2")]
    jobs = [stamp(job(name, queued=True), "job") for name in "abc"]
    fit = now(*objects).without_jobs(jobs)
    statuses = []
    for jobset in (jobs[0], jobs[2], jobs[1]):
        answer = fit.answer(jobset)
        fit.reserve(answer)
        statuses.append(answer.status)
    assert statuses == ["fits", "fits", "waits"]
