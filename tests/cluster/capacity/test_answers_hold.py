"""Whole answers on random small clusters: they agree with a placement that tries everything, and laws hold."""

import os
from random import Random
from typing import Any

import pytest

from tests.cluster.capacity.clusters import facts, job, node, queue, thing, topology
from tests.cluster.capacity.test_packing import is_possible
from trainc.cluster.capacity.advice import with_pod_field
from trainc.cluster.capacity.fit import Fit
from trainc.cluster.capacity.jobpods import JobPlacement
from trainc.model.tree import stamp

CLUSTERS = int(os.environ.get("TRAINC_SMALL_CLUSTERS", "120"))
SPOT = {"key": "spot", "value": "true", "effect": "NoSchedule"}
RACK = "example.com/rack"


SETTINGS: list[dict[str, Any]] = [{}, {}, {"taints": [SPOT]}, {"unschedulable": True}]


def nodes(random: Random, start: int = 0) -> list[dict[str, Any]]:
    return [
        node(
            f"n{start + at}",
            cpu=random.randint(1, 6),
            labels={"pool": random.choice("ab"), RACK: random.choice("rs")},
            **random.choice(SETTINGS),
        )
        for at in range(random.randint(0, 4))
    ]


def tree(random: Random, *, queued: bool) -> Any:
    """A job of one role or two, each with pods of its own size."""
    spec: dict[str, Any] = {}
    if random.random() < 0.3:
        spec["nodeSelector"] = {"pool": random.choice("ab")}
    if random.random() < 0.4:
        spec["tolerations"] = [{"key": "spot", "operator": "Exists"}]
    made = job(pods=random.randint(1, 3), cpu=random.randint(1, 5), queued=queued, **spec)
    if random.random() < 0.5:
        other = job(pods=random.randint(1, 2), cpu=random.randint(1, 4), **spec)["spec"]["replicatedJobs"][0]
        made["spec"]["replicatedJobs"].append({**other, "name": "lead"})
    return stamp(made, "job")


def test_answers_agree_with_a_placement_that_tries_everything() -> None:
    random = Random(31)  # noqa: S311 (which clusters, not which keys)
    seen: dict[str, int] = {}
    for _ in range(CLUSTERS):
        known, made = (
            facts(*nodes(random), thing("Node", "away", status={"allocatable": {}})),
            tree(random, queued=False),
        )
        roles = [(role.pod, role.podset.count) for role in JobPlacement(known, made).roles]
        if len(known.nodes) ** sum(count for _, count in roles) > 300:
            continue
        answer = Fit(known).answer(made)
        seen[answer.status] = seen.get(answer.status, 0) + 1
        possible = is_possible(list(known.nodes.values()), roles)
        assert answer.status in ({"fits", "unknown"} if possible else {"needs nodes"}), answer.reason
    assert min(seen.get("fits", 0), seen.get("needs nodes", 0)) > CLUSTERS // 20


@pytest.mark.slow
def test_more_nodes_more_quota_and_another_order_never_turn_an_answer_to_the_worse() -> None:
    random = Random(37)  # noqa: S311 (which clusters, not which keys)
    for _ in range(CLUSTERS):
        flavor: dict[str, Any] = random.choice([{}, {"nodeLabels": {"pool": "a"}}, {"topologyName": "tree"}])
        quota, here = random.randint(2, 14), nodes(random)
        made = tree(random, queued=True)
        known = [*queue(quota, flavor=flavor), topology(RACK, "kubernetes.io/hostname"), node("first", cpu=2), *here]
        before = Fit(facts(*known)).answer(made)
        assert before.status != "unknown" or before.gang is not None
        shuffled = random.sample(known, len(known))
        after = Fit(facts(*shuffled)).answer(made)
        assert (after.status, after.reason, after.change) == (before.status, before.reason, before.change)
        if before.status not in ("fits", "never"):
            continue
        more = [*queue(quota + random.randint(0, 9), flavor=flavor), *known[4:], *nodes(random, start=10)]
        richer = Fit(facts(*more)).answer(made)
        if before.status == "fits":
            # With more nodes to choose from the scheduler may spread pods so that a larger one finds no room.
            assert richer.status in {"fits", "unknown"}
            assert richer.status == "fits" or len(JobPlacement(facts(*more), made).roles) > 1


@pytest.mark.slow
def test_a_toleration_more_never_takes_a_place_away() -> None:
    random = Random(41)  # noqa: S311 (which clusters, not which keys)
    for _ in range(CLUSTERS):
        known, made = facts(node("first", cpu=2), *nodes(random)), tree(random, queued=False)
        before = Fit(known).answer(made).status
        loose = with_pod_field(made, "tolerations", [{"operator": "Exists"}])
        after = Fit(known).answer(loose).status
        assert before != "fits" or after in {"fits", "unknown"}
