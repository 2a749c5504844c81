"""Volcano's queues: state and capability, of the queue and of those above it."""

from __future__ import annotations

import pytest

from trainc.capacity.facts import Facts
from trainc.capacity.volcano import groups_of, refusal
from trainc.model.tree import stamp

GROUP = {
    "apiVersion": "scheduling.volcano.sh/v1beta1",
    "kind": "PodGroup",
    "spec": {"queue": "team", "minResources": {"cpu": "8", "nvidia.com/gpu": "16"}},
}


def asked(queues: dict[str, dict[str, object]]) -> str:
    facts = Facts({"Queue": {name: stamp(queue, "dump") for name, queue in queues.items()}})
    (group,) = groups_of([stamp(GROUP, "job"), stamp({"apiVersion": "v1", "kind": "Service"}, "job")])
    return refusal(facts, group)


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
            {"team": {"spec": {"parent": "all"}}, "all": {"spec": {"parent": "team", "capability": {"cpu": "4"}}}},
            "the group needs 8 cpu at once, and Volcano's queue `all` is capable of 4",
        ),
        ({"team": {"spec": {"parent": "team"}}}, ""),
    ],
)
def test_what_keeps_a_group_out(queues: dict[str, dict[str, object]], expected: str) -> None:
    assert asked(queues) == expected
