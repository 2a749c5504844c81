"""The frame of a JobSet: the same whether or not jobs share it."""

from __future__ import annotations

from typing import Any

import pytest

from trainc.lower.jobset import framed
from trainc.model.shared import Shared
from trainc.model.tree import leaves, plain, stamp

SPECS: list[Any] = [
    {},
    {"replicatedJobs": [{"name": "node"}]},
    {"network": {"subdomain": "x"}, "suspend": True},
    {"successPolicy": {"operator": "Any"}, "startupPolicy": {"startupPolicyOrder": "InOrder"}},
    {"failurePolicy": {"maxRestarts": 3, "rules": [{"action": "FailJobSet"}, {"name": "own", "action": "FailJobSet"}]}},
    {"volumeClaimPolicies": [{"templates": [{"metadata": {"name": "a"}}]}], "failurePolicy": {"maxRestarts": 3}},
]


@pytest.mark.parametrize("spec", SPECS)
def test_a_shared_frame_says_what_one_made_for_a_job_says(spec: Any) -> None:
    template = stamp({"metadata": {}, "spec": spec}, "runtime")
    alone = framed(template["spec"], None)
    shared = Shared(template)
    for _ in range(2):
        found = framed(template["spec"], shared)
        assert list(found) == list(alone)
        assert list(leaves(found)) == list(leaves(alone))
        assert [leaf.origin for _, leaf in leaves(found)] == [leaf.origin for _, leaf in leaves(alone)]
        found["replicatedJobs"] = []
    patched = {**template["spec"], "ttlSecondsAfterFinished": stamp(5, "job")}
    assert plain(framed(patched, shared)) == plain(framed(patched, None))
    assert plain(template["spec"]) == spec
