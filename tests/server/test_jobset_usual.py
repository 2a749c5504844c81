"""What is usual passes both of JobSet's webhooks as it is, however they are asked."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from tests.server.seeds import explicit_jobset
from tests.server.test_fuzz import COUNT, ROUNDS, mutate
from trainc.model.tree import stamp
from trainc.server.jobset import defaults as jobset
from trainc.server.jobset.create import create_faults
from trainc.server.jobset.usual import is_usual
from trainc.server.profile import Profile
from trainc.server.schema.glance import DoubtError, glance
from trainc.server.schema.table import load

PROFILES = (Profile(), Profile(jobset="0.12"), Profile(gates=["RestartJob"]))
NAMES = ("abcde", "ring-1", "1ring", "r" * 40, "r" * 63, "ring.example")


def usual() -> dict[str, Any]:
    """A JobSet as jobs become one: all is said, and nothing seldom."""
    tree = explicit_jobset()
    spec = tree["spec"]
    del spec["coordinator"], spec["volumeClaimPolicies"], spec["network"]["subdomain"]
    spec["successPolicy"] = {"operator": "All"}
    spec["failurePolicy"]["rules"] = [{"name": "lost", "action": "FailJobSet"}]
    del spec["replicatedJobs"][1]["dependsOn"]
    return tree


def test_usual() -> None:
    assert is_usual(stamp(usual(), "test"))
    assert not is_usual(stamp(explicit_jobset(), "test"))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_the_webhooks_are_silent_about_what_is_usual(seed: int) -> None:
    chance = random.Random(3000 + seed)  # noqa: S311 (the same objects on every run)
    root = load().root(jobset.KIND)
    assert root is not None
    told = 0
    for _ in range(COUNT // ROUNDS):
        given = copy.deepcopy(usual())
        given["metadata"]["name"] = chance.choice(NAMES)
        for _ in range(chance.choice((0, 1, 1, 2))):
            mutate(given, chance)
        try:
            stored = glance(root, stamp(given, "test"))
        except DoubtError:
            continue
        if is_usual(stored):
            told += 1
            assert jobset.with_defaults(stored) is stored
            assert not any(create_faults(stored, root, profile) for profile in PROFILES)
    assert told > COUNT // ROUNDS // 10
