"""How a worked case says that a job ends, and the same read from the JobSet."""

from typing import Any

from tests.compiling import Run
from tests.conformance.survey_pods import Pod, World

Roles = dict[str, list[Pod]]

NUMBERS = {"backoffLimit": "backoffLimit", "deadline": "activeDeadlineSeconds"}


def check_end(world: World, roles: Roles, expected: Any, _: Run) -> None:
    for jobset in world.jobsets:
        spec = jobset["spec"]
        restarts = spec.get("failurePolicy", {}).get("maxRestarts", 0)
        assert restarts == expected.get("restarts", restarts)
        assert restarts + 1 == expected.get("runs", restarts + 1)
        if "ttl" in expected:
            assert spec["ttlSecondsAfterFinished"] == expected["ttl"]
        if "success" in expected:
            _check_success(spec, roles, expected["success"])
        if expected.get("restarts_on") == "eviction":
            _check_eviction(spec)
    for field, written in NUMBERS.items():
        if field in expected:
            assert all(pod.job.get(written) == expected[field] for pod in world.pods)
    if "master_failure" in expected:
        _check_masters(world, roles)


def _check_success(spec: Any, roles: Roles, said: str) -> None:
    policy = spec.get("successPolicy", {})
    targets = set(policy.get("targetReplicatedJobs", ()))
    every = {one["name"] for one in spec["replicatedJobs"]}
    if said in {"all", "the lead broker's command"}:
        assert policy.get("operator", "All") == "All"
        assert targets in (set(), every)
    elif said.startswith("any of "):
        assert policy["operator"] == "Any"
        assert targets == set(said.removeprefix("any of ").split(", "))
    elif " pods of " in said:
        count, _, role = said.partition(" pods of ")
        rules = roles[role][0].job["successPolicy"]["rules"]
        assert [rule["succeededCount"] for rule in rules] == [int(count)]
    elif said == "the submitter container in head" and "driver" in every:
        assert targets == {"driver"}
    else:
        role = said.rpartition(" in ")[2]
        deciding = {pod.replicated for pod in roles[role]}
        assert targets == deciding or (not targets and every == deciding)


def _check_eviction(spec: Any) -> None:
    """A program that fails ends the job; a pod that is evicted starts all of them again."""
    rules = spec["failurePolicy"].get("rules", [])
    stops = [rule for rule in rules if rule["action"] == "FailJobSet"]
    assert any("PodFailurePolicy" in rule.get("onJobFailureReasons", ()) for rule in stops)
    for role in spec["replicatedJobs"]:
        policy = role["template"]["spec"]["podFailurePolicy"]["rules"]
        assert any(rule["action"] == "FailJob" and "onExitCodes" in rule for rule in policy)
        assert role["template"]["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def _check_masters(world: World, roles: Roles) -> None:
    """The failure of a master fails the job, that of a worker starts it again."""
    (jobset,) = world.jobsets
    policy = jobset["spec"]["failurePolicy"]
    masters, workers = ({pod.replicated for pod in roles[role]} for role in ("master", "worker"))
    ending = [rule for rule in policy["rules"] if rule["action"] == "FailJobSet"]
    named = {name for rule in ending for name in rule.get("targetReplicatedJobs", ())}
    assert masters <= named
    assert not workers & named
