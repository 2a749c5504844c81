"""What Volcano's webhook says of a new PodGroup."""

from typing import Any

import pytest

from trainc.apiserver import volcano
from trainc.apiserver.profile import Profile
from trainc.model.tree import stamp

BOTH = {"highestTierAllowed": 1, "highestTierName": "rack"}
SAID = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously."


def told(spec: dict[str, Any], **queues: dict[str, Any]) -> list[str]:
    known = Profile(state={"Queue": {("", name): stamp(tree, "test") for name, tree in queues.items()}})
    return [fault.message for fault in volcano.create_faults(stamp({"spec": spec}, "test"), known)]


@pytest.mark.parametrize(
    ("spec", "messages"),
    [
        ({"networkTopology": {"highestTierAllowed": 1, "highestTierName": ""}}, []),
        ({"networkTopology": BOTH, "subGroupPolicy": [{"name": "a"}]}, [SAID]),
        (
            {"subGroupPolicy": [{"name": "a", "networkTopology": BOTH}, {"name": "b", "networkTopology": BOTH}]},
            [f"in subGroupPolicy 'a': {SAID}"],
        ),
        (
            {"networkTopology": BOTH, "subGroupPolicy": [{"networkTopology": BOTH}]},
            [f"{SAID} in subGroupPolicy '': {SAID}"],
        ),
    ],
)
def test_topologies(spec: dict[str, Any], messages: list[str]) -> None:
    assert told(spec) == messages


@pytest.mark.parametrize(
    ("queue", "messages"),
    [
        ({}, []),  # a manifest: what the cluster will make of it is not known
        ({"status": {"state": "Open"}}, []),
        ({"status": {}}, ["can only submit PodGroup to queue with state `Open`, queue `lab` status is ``."]),
        (None, ['unable to find queue: queue.scheduling.volcano.sh "lab" not found']),
    ],
)
def test_queues(queue: dict[str, Any] | None, messages: list[str]) -> None:
    assert told({"queue": "lab"}, **({} if queue is None else {"lab": queue})) == messages
