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
