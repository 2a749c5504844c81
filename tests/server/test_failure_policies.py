"""A failure policy that is passed over is one that no server and no job says anything against."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from trainc.model.tree import stamp
from trainc.server.jobset.failure import PLAIN, policy_faults
from trainc.server.profile import Profile

NAMES = st.sampled_from(["rule", "", "0rule", "rule-", "a" * 129, "failurePolicyRule0"])
ACTIONS = st.sampled_from(["FailJobSet", "RestartJobSet", "RestartJob", "RestartJobAndIgnoreMaxRestarts"])
REASONS = st.lists(st.sampled_from(["PodFailurePolicy", "DeadlineExceeded", "Never"]), max_size=2)
RULE = st.fixed_dictionaries(
    {"name": NAMES, "action": ACTIONS},
    optional={"onJobFailureReasons": REASONS, "targetReplicatedJobs": st.lists(st.just("node"), max_size=1)},
)
POLICY = st.fixed_dictionaries(
    {},
    optional={
        "maxRestarts": st.just(3),
        "restartStrategy": st.sampled_from(["Recreate", "BlockingRecreate", "InPlaceRestart"]),
        "rules": st.lists(RULE, max_size=2),
    },
)


@example({"maxRestarts": 3, "restartStrategy": "Recreate"}).via("what most jobs say")
@given(POLICY)
def test_nothing_is_said_against_a_plain_policy(policy: Any) -> None:
    spec = stamp({"failurePolicy": policy, "replicatedJobs": [{"name": "node", "template": {"spec": {}}}]}, "test")
    jobs = spec["replicatedJobs"]
    if PLAIN[spec["failurePolicy"]]:
        for gates in ((), ("RestartJob",), ("InPlaceRestart", "RestartJob")):
            assert not policy_faults(spec, jobs, {}, Profile(gates=gates))
    assert (
        not ("rules" not in policy and policy.get("restartStrategy") != "InPlaceRestart")
        or PLAIN[spec["failurePolicy"]]
    )
