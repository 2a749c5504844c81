"""Volcano's queues: state and capability, of the queue and of those above it."""

from typing import Any

import pytest

from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.groups import GroupRefusal, group_refusal, groups_of
from trainc.cluster.capacity.nodes import Node
from trainc.model.tree import stamp

GROUP: dict[str, Any] = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "PodGroup",
    "spec": {"queue": "team", "minResources": {"cpu": "8", "nvidia.com/gpu": "16"}},
}
TEMPLATE = {"metadata": {"annotations": {"scheduling.k8s.io/group-name": "run"}}, "spec": {"containers": []}}
JOBSET = {
    "metadata": {"name": "run"},
    "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"parallelism": 2, "template": TEMPLATE}}}]},
}


def facts_of(gpus: int, **queues: dict[str, Any]) -> ClusterFacts:
    facts = ClusterFacts({"Queue": {name: stamp({"spec": spec}, "dump") for name, spec in queues.items()}, "Node": {}})
    facts.nodes["n1"] = Node("n1", {}, {"cpu": 100_000, "nvidia.com/gpu": gpus, "pods": 100})
    return facts


def asked(queues: dict[str, dict[str, Any]]) -> str:
    facts = ClusterFacts({"Queue": {name: stamp(queue, "dump") for name, queue in queues.items()}})
    found = refused(facts)
    return found.reason if found else ""


def refused(
    facts: ClusterFacts, *, used: dict[str, dict[str, int]] | None = None, **spec: object
) -> GroupRefusal | None:
    tree = {**GROUP, "metadata": {"name": "run"}, "spec": {**GROUP["spec"], **spec}}
    groups = groups_of([stamp(tree, "job"), stamp({"apiVersion": "v1", "kind": "Service"}, "job")])
    return group_refusal(facts, stamp(JOBSET, "job"), groups, used or {})


def test_what_other_queues_are_guaranteed_is_not_there() -> None:
    guaranteed = {"guarantee": {"resource": {"nvidia.com/gpu": "8"}}}
    assert refused(facts_of(24, team={}, other=guaranteed)) is None
    assert refused(facts_of(16, team=guaranteed, other={})) is None
    found = refused(facts_of(16, team={}, other=guaranteed))
    assert found is not None
    assert not found.is_final
    assert "the nodes have 8 after what Volcano guarantees to other queues" in found.reason


def test_what_other_groups_hold_of_a_queue_is_waited_for() -> None:
    facts = facts_of(64, team={"capability": {"nvidia.com/gpu": "24"}})
    assert refused(facts, used={"team": {"nvidia.com/gpu": 8}}) is None
    found = refused(facts, used={"team": {"nvidia.com/gpu": 9}})
    assert found is not None
    assert not found.is_final


@pytest.mark.parametrize(
    ("queues", "reason"),
    [
        ({"other": {}}, "Volcano has no queue `team`"),
        (
            {"team": {}, "part": {"parent": "team"}},
            "Volcano's queue `team` has child queues, and takes no PodGroups itself",
        ),
    ],
)
def test_queues_that_take_no_groups(queues: dict[str, dict[str, Any]], reason: str) -> None:
    found = refused(facts_of(64, **queues))
    assert found is not None
    assert (found.reason, found.is_final) == (reason, True)


@pytest.mark.parametrize(("minimum", "is_refused"), [(1, False), (2, False), (3, True)])
def test_a_minimum_above_the_pods_is_never_reached(minimum: int, *, is_refused: bool) -> None:
    found = refused(facts_of(64, team={}), minMember=minimum)
    assert bool(found) is is_refused
    assert found is None or found.change == "set `minMember` to 2"


@pytest.mark.parametrize(("gpus", "is_refused"), [("64", False), ("65", True)])
def test_coscheduling_compares_a_group_with_all_nodes(gpus: str, *, is_refused: bool) -> None:
    group = {"apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup", "metadata": {"name": "run"}}
    groups = groups_of([stamp({**group, "spec": {"minResources": {"nvidia.com/gpu": gpus}}}, "job")])
    found = group_refusal(facts_of(64), stamp(JOBSET, "job"), groups, {})
    assert bool(found) is is_refused
    assert found is None or not found.is_final


@pytest.mark.parametrize(
    ("queues", "expected"),
    [
        ({}, ""),
        ({"team": {"spec": {}}}, ""),
        ({"team": {"spec": {"capability": {"nvidia.com/gpu": "16"}}, "status": {"state": "Open"}}}, ""),
        ({"team": {"spec": {}, "status": {"state": "Closing"}}}, "Volcano's queue `team` is closing"),
        (
            {"team": {"spec": {"capability": {"nvidia.com/gpu": "8"}}}},
            "the group needs 16 nvidia.com/gpu at once, and Volcano's queue `team` is capable of 8",
        ),
        (
            {"team": {"spec": {"parent": "all"}}, "all": {"spec": {"parent": "all", "capability": {"cpu": "4"}}}},
            "the group needs 8 cpu at once, and Volcano's queue `all` is capable of 4",
        ),
        ({"team": {"spec": {"parent": "team"}}}, ""),
    ],
)
def test_what_keeps_a_group_out(queues: dict[str, dict[str, Any]], expected: str) -> None:
    assert asked(queues) == expected
