"""Verdicts stage by stage, and what the profile of a server changes."""

from typing import Any

import pytest

from tests.apiserver.seeds import explicit_jobset, seeds
from trainc.apiserver.fault import Verdict
from trainc.apiserver.jobset.defaults import BY
from trainc.apiserver.profile import Profile
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import verdict
from trainc.model.tree import plain, stamp


def judged(tree: Any, profile: Profile | None = None, **more: Any) -> Verdict:
    return verdict(stamp(tree, "test"), load(), profile or Profile(), **more)


def changed(change: Any, index: int = 2) -> dict[str, Any]:
    tree = seeds()[index]
    change(tree)
    return tree


@pytest.mark.parametrize("index", [0, 1, 3, 4])
def test_the_seeds_are_accepted(index: int) -> None:
    found = judged(seeds()[index])
    assert found.accepted
    assert found.empty_patch is None


def test_an_explicit_jobset_is_stored_as_written() -> None:
    tree = explicit_jobset()
    tree["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["spec"]["containers"][0]["ports"][1][
        "protocol"
    ] = "TCP"
    given = stamp(tree, "test")
    found = verdict(given, load(), Profile())
    assert found.accepted
    assert found.empty_patch is True
    assert found.stored is given


def test_a_defaulted_jobset_is_respelled() -> None:
    tree = changed(lambda t: t["spec"].pop("startupPolicy"))
    found = judged(tree)
    assert found.accepted
    assert found.empty_patch is False
    container = found.stored["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert plain(container["resources"]) == {}
    assert found.stored["spec"]["startupPolicy"]["startupPolicyOrder"].origin.by == BY


@pytest.mark.parametrize(
    ("change", "by", "message"),
    [
        (lambda t: t.update(kind="Jobset"), "decode", 'no matches for kind "Jobset" in version "jobset.x-k8s.io/v1alpha2"'),
        (lambda t: t["metadata"].update(labels={"x": 1}), "decode", "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"),
        (lambda t: t["spec"].update(x=1), "unknown-field", 'unknown field "spec.x"'),
        (lambda t: t["spec"].update(suspend="no"), "webhook", "json: cannot unmarshal string into Go struct field JobSetSpec.spec.suspend of type bool"),
        (lambda t: t["spec"].update(ttlSecondsAfterFinished=-1), "schema", "spec.ttlSecondsAfterFinished: Invalid value: -1: spec.ttlSecondsAfterFinished in body should be greater than or equal to 0"),
        (lambda t: t["spec"]["startupPolicy"].update(startupPolicyOrder="InOrder"), "cel", "spec: Invalid value: StartupPolicy and DependsOn APIs are mutually exclusive"),
        (lambda t: t["spec"].update(managedBy="me"), "webhook", 'spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'),
    ],
)  # fmt: skip
def test_stages(change: Any, by: str, message: str) -> None:
    found = judged(changed(change))
    assert (found.by, found.messages) == (by, [message])
    assert found.faults[0].message == message


def _placeholders(tree: dict[str, Any]) -> None:
    tree["metadata"].update(name="ring-${ENV}", labels={"team": "${TEAM}"})
    spec = tree["spec"]
    spec.update(suspend="${SUSPEND}", ttlSecondsAfterFinished="${TTL}", managedBy="${MANAGER}")
    spec["successPolicy"].update(operator="${OPERATOR}", targetReplicatedJobs=["${TARGET}"])
    spec["failurePolicy"]["rules"][0].update(name="${RULE}", targetReplicatedJobs=["${TARGET}"])
    workers = spec["replicatedJobs"][1]
    workers.update(replicas="${N}", groupName="${GROUP}")
    workers["template"]["spec"].update(parallelism="${N}", completions="${N}")
    container = workers["template"]["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"cpu": "${CPU}"}}


@pytest.mark.parametrize("profile", [Profile(), Profile(kueue=True, gates=frozenset(["ElasticJobSet"]))])
def test_what_is_filled_in_later_is_not_wrong(profile: Profile) -> None:
    found = judged(changed(_placeholders), profile)
    assert found.accepted, found.messages
    assert {str(fault.value) for fault in found.unchecked} >= {"${TTL}", "${N}", "${CPU}", "${OPERATOR}", "${MANAGER}"}
    assert judged(changed(_placeholders), profile, old=found.stored).accepted
    job = changed(lambda t: t["spec"].update(managedBy="${M}", activeDeadlineSeconds="${D}"), 0)
    assert judged(job).accepted


def _two_mistakes(tree: dict[str, Any]) -> None:
    tree["spec"]["ttlSecondsAfterFinished"] = -1
    tree["spec"]["startupPolicy"]["startupPolicyOrder"] = "InOrder"


def test_rules_run_beside_what_does_not_block_them() -> None:
    found = judged(changed(_two_mistakes))
    assert found.by == "schema"
    assert [fault.kind for fault in found.faults] == ["schema", "cel"]
    assert not any("were not checked" in message for message in found.messages)


def _negative_replicas(tree: dict[str, Any]) -> None:
    tree["spec"]["replicatedJobs"][0]["replicas"] = -1


def _long_generated_name(tree: dict[str, Any]) -> None:
    tree["metadata"] = {"generateName": "a" * 50}
    del tree["spec"]["coordinator"], tree["spec"]["volumeClaimPolicies"]


@pytest.mark.parametrize("change", [_negative_replicas, _long_generated_name])
def test_what_jobset_0_12_does_not_check(change: Any) -> None:
    tree = changed(change)
    assert not judged(tree).accepted
    assert judged(tree, Profile(jobset=(0, 12))).accepted


def test_a_profile_does_not_change() -> None:
    with pytest.raises(AttributeError):
        Profile().kueue = True  # type: ignore[misc]


def test_an_amount_longer_than_any_is_kept() -> None:
    def change(tree: dict[str, Any]) -> None:
        del tree["spec"]["startupPolicy"], tree["spec"]["volumeClaimPolicies"]
        containers = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
        containers[0]["resources"] = {"limits": {"cpu": "1" * 5000}}

    stored = judged(changed(change)).stored
    assert judged(changed(change), old=stored).accepted


def test_unknown_queues_are_not_wrong() -> None:
    queue = {"metadata": {"name": "default"}, "status": {"state": "Open"}}
    known = Profile(state={"Queue": {("", "default"): stamp(queue, "test")}})
    elsewhere = changed(lambda t: t["spec"].update(queue="lab"), 3)
    assert judged(elsewhere).accepted
    assert judged(elsewhere, known).by == "webhook"
    assert judged(seeds()[3], known).accepted


def test_kueue_suspends_what_has_a_queue() -> None:
    tree = changed(lambda t: t["metadata"].update(labels={"kueue.x-k8s.io/queue-name": "team"}))
    found = judged(tree, Profile(kueue=True))
    assert found.accepted
    assert found.stored["spec"]["suspend"].value is True
    assert "suspend" not in judged(tree).stored["spec"]
    assert judged(explicit_jobset(), Profile(kueue=True, unqueued=True)).stored["spec"]["suspend"].value is True


@pytest.mark.parametrize(
    ("change", "by"),
    [
        (lambda _: None, ""),
        (lambda t: t["spec"].update(suspend=True), ""),
        (lambda t: t["spec"]["network"].update(subdomain="other"), "cel"),
        (lambda t: t["spec"].pop("network"), ""),
        (lambda t: t["spec"]["replicatedJobs"].reverse(), "webhook"),
        (lambda t: t["spec"]["replicatedJobs"][0].pop("groupName"), ""),
        (lambda t: t["spec"].update(managedBy="acme.io/x"), "webhook"),
    ],
)
def test_changes_of_a_jobset(change: Any, by: str) -> None:
    old = judged(explicit_jobset()).stored
    assert judged(changed(change), old=old).by == by


@pytest.mark.parametrize(
    ("change", "by"),
    [
        (lambda t: t["spec"]["trainer"]["env"].reverse(), ""),
        (lambda t: t["spec"]["trainer"].update(image="other"), "cel"),
        (lambda t: t["spec"]["trainer"]["command"].reverse(), "cel"),
        (lambda t: t["spec"].update(suspend=True), ""),
        (lambda t: t["spec"].update(activeDeadlineSeconds=60), "cel"),
        (lambda t: t["spec"]["runtimePatches"][0].update(manager="acme.dev/other"), ""),
    ],
)
def test_changes_of_a_trainjob(change: Any, by: str) -> None:
    """A list that is a map is the same in any order, as typed CEL compares it."""
    old = judged(seeds()[0]).stored
    found = judged(changed(change, 0), old=old)
    assert found.by == by
    assert all("field is immutable" in message for message in found.messages)


def test_status_is_taken_from_the_stored_object() -> None:
    old = {**judged(explicit_jobset()).stored, "status": stamp({"restarts": 1}, "test")}
    found = judged({**explicit_jobset(), "status": {"restarts": 5}}, old=old)
    assert plain(found.stored["status"]) == {"restarts": 1}
    assert "status" not in judged({**explicit_jobset(), "status": {"restarts": 5}}).stored
