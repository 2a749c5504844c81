"""Roles that wait for the end of others: they need nodes and quota, but not at the same time."""

from typing import Any

from tests.cluster.capacity.clusters import ask, job, node, thing
from tests.cluster.capacity.test_together import together
from trainc.cluster.capacity.jobpods import stages_of
from trainc.model.tree import stamp


def staged(*roles: tuple[str, int, dict[str, str]], name: str = "run") -> dict[str, Any]:
    """A job whose roles have pods of 4 cpu each and wait for others."""
    made = job(name)
    spec = made["spec"]
    (model,) = spec["replicatedJobs"]
    spec["replicatedJobs"] = [
        {
            **job(pods=pods)["spec"]["replicatedJobs"][0],
            "name": role,
            **({"dependsOn": [{"name": other, "status": status} for other, status in waits.items()]} if waits else {}),
        }
        for role, pods, waits in roles
    ]
    assert model["name"] == "node"
    return made


INITIALIZED = staged(("data", 1, {}), ("model", 1, {"data": "Complete"}), ("node", 2, {"model": "Complete"}))
BESIDE = staged(("data", 1, {}), ("model", 1, {}), ("node", 2, {"data": "Complete"}))


def test_stages() -> None:
    names, are_strict = stages_of(stamp(INITIALIZED, "job"))
    assert ([*map(set, names)], are_strict) == ([{"data"}, {"model"}, {"node"}], True)
    names, are_strict = stages_of(stamp(BESIDE, "job"))
    assert ([*map(set, names)], are_strict) == ([{"data", "model"}, {"node"}], False)
    ready = staged(("lead", 1, {}), ("node", 2, {"lead": "Ready"}))
    assert [*map(set, stages_of(stamp(ready, "job")).names)] == [{"lead", "node"}]


def test_an_initializer_needs_no_room_beside_the_trainers() -> None:
    assert ask(INITIALIZED, node("n1")).status == "fits"
    found = ask(INITIALIZED, node("n1", cpu=4))
    assert (found.status, "`node` needs 2 pods" in found.reason) == ("needs nodes", True)
    assert ask(INITIALIZED, node("n1", cpu=3)).reason.startswith("`data` needs 1 pod")


def test_roles_that_may_meet_are_unknown() -> None:
    assert ask(BESIDE, node("n1"), node("n2")).status == "fits"
    assert ask(BESIDE, node("n1")).status == "unknown"


def test_a_quota_counts_what_runs_at_the_same_time() -> None:
    quota = thing("ResourceQuota", "q", "lab", spec={"hard": {"requests.cpu": "8"}})
    assert ask(INITIALIZED, node("n1"), quota).status == "fits"
    small = thing("ResourceQuota", "q", "lab", spec={"hard": {"requests.cpu": "7"}})
    assert ask(INITIALIZED, node("n1"), small).status == "never"


def test_a_staged_job_holds_the_nodes_of_its_largest_stage() -> None:
    jobs = [INITIALIZED, job("other", pods=1), job("third", pods=2)]
    assert together(*jobs, objects=[node("n1"), node("n2", cpu=4)]) == ["fits", "fits", "waits"]
