"""A runtime's podGroupPolicy as the Trainer controller obeys it, and which back ends a job gets."""

from typing import Any

import pytest

from tests.schedulers.building import JOB, choose, found, made, placed, plan_of
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.tree import plain
from trainc.schedulers import TABLE, chosen, find, refuse

WRITTEN = {"cpu": "131", "memory": "2052Gi"}


def test_coscheduling_as_the_controller_has_it() -> None:
    (group,), _, pods = made(JOB, Cluster(), gang={"coscheduling": {"scheduleTimeoutSeconds": 180}})
    assert group["spec"] == {"minMember": 5, "scheduleTimeoutSeconds": 180, "minResources": WRITTEN}
    assert all("schedulerName" not in pod["spec"] for pod in pods)


def test_volcano_as_the_controller_has_it() -> None:
    text = JOB.replace("{name: llm, namespace: ml}", "{name: llm, annotations: {scheduling.volcano.sh/queue-name: q}}")
    (group,), _, _ = made(
        text, Cluster(), gang={"volcano": {"networkTopology": {"mode": "hard", "highestTierName": "x"}}}
    )
    assert group["spec"] == {
        "minMember": 5,
        "minResources": WRITTEN,
        "queue": "q",
        "priorityClassName": "training",
        "networkTopology": {"mode": "hard"},
    }


def test_the_controller_counts_replicas_once_and_initializers_too() -> None:
    text = JOB.replace(
        "- name: node\n", "- name: node\n    replicas: 3\n    dependsOn: [{name: launcher, status: Complete}]\n"
    )
    bundle = placed(plan_of(text, {"coscheduling": {}}), Cluster())
    assert plain(bundle.objects[0])["spec"]["minMember"] == 5
    assert found(bundle) == ["error[initializer-in-gang]", "warning[gang-scheduler-name]", "warning[gang-size]"]
    (group,), _, pods = made(text, choose("coscheduling"))
    assert group["spec"]["minMember"] == 12
    assert "metadata" not in pods[0]


def test_both_policies_make_both_groups() -> None:
    objects, _, pods = made(JOB, Cluster(), gang={"coscheduling": {}, "volcano": {}})
    assert [tree["apiVersion"] for tree in objects] == ["scheduling.x-k8s.io/v1alpha1", "scheduling.volcano.sh/v1beta1"]
    assert all(pod["metadata"]["labels"] and pod["metadata"]["annotations"] for pod in pods)


@pytest.mark.parametrize(
    ("gang", "cluster", "names"),
    [
        (None, Cluster(), ()),
        ({}, Cluster(), ()),
        ({"volcano": {}}, Cluster(), ("volcano",)),
        ({"volcano": None}, Cluster(), ()),
        ({"volcano": {}}, choose("kueue"), ("kueue",)),
        (None, choose("native"), ("native",)),
    ],
)
def test_which_back_ends_a_job_gets(gang: Any, cluster: Cluster, names: tuple[str, ...]) -> None:
    assert chosen(plan_of(JOB, gang), cluster) == names


def test_the_table_and_the_modules_agree() -> None:
    assert [back_end.name for name in TABLE if (back_end := find(name))] == list(TABLE)
    assert find("nobody-has-this") is None


OLDER = {"scheduler": "volcano", "minAvailable": 3, "queue": "old", "priorityClass": "high"}


def test_an_older_jobs_scheduling_policy_is_kept() -> None:
    (group,), _, _ = made(JOB, choose("volcano"), gang={"older": OLDER})
    assert group["spec"] == {
        "minMember": 3,
        "queue": "old",
        "priorityClassName": "high",
        # The launcher and two of the four nodes make up the minimum.
        "minResources": {"cpu": "66", "memory": "1027Gi", "nvidia.com/gpu": "16"},
    }


def test_an_older_jobs_own_sum_is_kept() -> None:
    policy = {"minResources": {"cpu": "7"}, "scheduleTimeoutSeconds": 5}
    (group,), _, _ = made(JOB, choose("coscheduling"), gang={"older": policy})
    assert group["spec"] == {"minMember": 5, "scheduleTimeoutSeconds": 5, "minResources": {"cpu": "7"}}


REFUSED = "spec.templateSpec.priorityClassName: Invalid value: "
MISSING = 'PriorityClass "training" doesn\'t exist: priorityclasses.scheduling.k8s.io "training" not found'


@pytest.mark.parametrize(
    ("text", "cluster", "refusals"),
    [
        (JOB, Cluster(), []),
        (JOB, Cluster(objects={"PriorityClass": {"training": {}}}), []),
        (JOB, Cluster(closed=True), [f'{REFUSED}"training": {MISSING}']),
        (JOB.replace("training", "system-node-critical"), Cluster(closed=True), []),
        (
            JOB.replace("namespace: ml", "annotations: {scheduling.volcano.sh/queue-name: ''}"),
            Cluster(),
            [
                'spec.annotations[scheduling.volcano.sh/queue-name]: Invalid value: "": Volcano queue name must not be empty'
            ],
        ),
    ],
)
def test_what_the_webhook_refuses(text: str, cluster: Cluster, refusals: list[str]) -> None:
    report = Report()
    refuse(plan_of(text, {"volcano": {}}), cluster, report)
    assert sorted({f.refusal.text for f in report.findings if f.refusal}) == refusals
