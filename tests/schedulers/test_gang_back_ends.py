"""What each back end makes of one job of a launcher and four nodes, field by field."""

from typing import Any

import pytest

from tests.schedulers.building import JOB, choose, found, made, placed, plan_of, sourced
from trainc.model.report import Report
from trainc.model.tree import leaves
from trainc.schedulers import TABLE, contribute

ALL = {"cpu": "131", "memory": "2052Gi", "nvidia.com/gpu": "32"}


def test_none_adds_nothing() -> None:
    objects, _, pods = made(JOB, choose("none"))
    assert objects == []
    assert [pod.get("metadata") for pod in pods] == [None, None]


def test_coscheduling() -> None:
    (group,), _, pods = made(JOB, choose("coscheduling"))
    assert group == {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "llm"},
        "spec": {"minMember": 5, "scheduleTimeoutSeconds": 60, "minResources": ALL},
    }
    for pod in pods:
        assert pod["metadata"]["labels"] == {"scheduling.x-k8s.io/pod-group": "llm"}
        assert pod["spec"]["schedulerName"] == "scheduler-plugins-scheduler"


@pytest.mark.parametrize(
    ("gang", "more", "seconds"),
    [
        ({"coscheduling": {"scheduleTimeoutSeconds": 300}}, {}, 300),
        ({"coscheduling": {"scheduleTimeoutSeconds": 0}}, {}, 60),
        (None, {"timeout": 90}, 90),
        (None, {"autoscaling": True}, 300),
    ],
)
def test_how_long_coscheduling_waits(gang: Any, more: dict[str, Any], seconds: int) -> None:
    settings = {key: sourced(value) if key == "timeout" else value for key, value in more.items()}
    (group,), _, _ = made(JOB, choose("coscheduling", **settings), gang=gang)
    assert group["spec"]["scheduleTimeoutSeconds"] == seconds


@pytest.mark.parametrize("name", ["coscheduling", "volcano"])
def test_nothing_is_asked_of_free_capacity_where_nodes_come_on_demand(name: str) -> None:
    (group,), _, _ = made(JOB, choose(name, autoscaling=True))
    assert "minResources" not in group["spec"]


def test_nothing_is_asked_of_free_capacity_where_a_queue_reserves_it() -> None:
    job = {"kind": "TrainJob", "metadata": {"name": "llm", "labels": {"kueue.x-k8s.io/queue-name": "team-a"}}}
    (group,), _, _ = made(JOB, choose("coscheduling"), job=job)
    assert "minResources" not in group["spec"]


def test_volcano() -> None:
    (group,), _, pods = made(JOB, choose("volcano", queue=sourced("team-a")))
    assert group == {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "llm"},
        "spec": {"minMember": 5, "queue": "team-a", "priorityClassName": "training", "minResources": ALL},
    }
    for pod in pods:
        assert pod["metadata"]["annotations"] == {"scheduling.k8s.io/group-name": "llm"}
        assert pod["spec"]["schedulerName"] == "volcano"


def test_volcano_with_a_minimum_for_each_role() -> None:
    (group,), _, pods = made(JOB, choose("volcano", unit="roles"))
    assert group["spec"]["minTaskMember"] == {"launcher": 1, "node": 4}
    assert [pod["metadata"]["annotations"]["volcano.sh/task-spec"] for pod in pods] == ["launcher", "node"]


def test_volcano_with_a_gang_for_each_replica() -> None:
    text = JOB.replace("- name: node\n", "- name: node\n    replicas: 2\n")
    (group,), _, _ = made(text, choose("volcano", unit="replicas", topology=sourced("1")))
    assert group["spec"]["minMember"] == 9
    assert "networkTopology" not in group["spec"]
    assert group["spec"]["subGroupPolicy"] == [
        {
            "name": "node",
            "subGroupSize": 4,
            "minSubGroups": 2,
            "labelSelector": {"matchLabels": {"jobset.sigs.k8s.io/replicatedjob-name": "node"}},
            "matchLabelKeys": ["jobset.sigs.k8s.io/job-index"],
            "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
        }
    ]


@pytest.mark.parametrize(
    ("annotations", "gang", "tier", "expected"),
    [
        ({}, None, None, None),
        ({}, None, "2", {"mode": "hard", "highestTierAllowed": 2}),
        ({}, None, "rack", {"mode": "hard", "highestTierName": "rack"}),
        ({}, {"mode": "soft", "highestTierAllowed": 3}, "2", {"mode": "soft", "highestTierAllowed": 3}),
        ({"volcano.sh/network-topology-mode": "soft"}, {"mode": "hard"}, "2", {"mode": "soft"}),
        ({"volcano.sh/network-topology-highest-tier": "1"}, None, "2", {"mode": "hard", "highestTierAllowed": 1}),
    ],
)
def test_the_nearest_wish_for_a_topology_wins(
    annotations: dict[str, str], gang: Any, tier: str | None, expected: Any
) -> None:
    cluster = choose("volcano", topology=None if tier is None else sourced(tier))
    job = {"kind": "TrainJob", "metadata": {"name": "llm", "annotations": annotations}}
    (group,), _, _ = made(JOB, cluster, job=job, gang=gang and {"volcano": {"networkTopology": gang}})
    assert group["spec"].get("networkTopology") == expected


@pytest.mark.parametrize(
    ("metadata", "queue"),
    [
        ({}, "shared"),
        ({"annotations": {"scheduling.volcano.sh/queue-name": "mine"}}, "mine"),
        ({"labels": {"volcano.sh/queue-name": "mine"}}, "mine"),
    ],
)
def test_a_job_chooses_its_volcano_queue(metadata: Any, queue: str) -> None:
    job = {"kind": "TrainJob", "metadata": {"name": "llm", **metadata}}
    (group,), _, _ = made(JOB, choose("volcano", queue=sourced("shared")), job=job)
    assert group["spec"]["queue"] == queue


def test_native_in_1_37() -> None:
    (group,), _, pods = made(JOB, choose("native", kubernetes=(1, 37), gates=["GenericWorkload"]))
    assert group == {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "llm"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": 5}},
            "priorityClassName": "training",
            "disruptionMode": {"all": {}},
        },
    }
    for pod in pods:
        assert pod["spec"]["schedulingGroup"] == {"podGroupName": "llm"}
        assert "schedulerName" not in pod["spec"]


def test_native_in_1_36_comes_with_the_workload_that_it_is_of() -> None:
    (workload, group), _, _ = made(JOB, choose("native", kubernetes=(1, 36)))
    policy = {"gang": {"minCount": 5}}
    assert workload["apiVersion"] == group["apiVersion"] == "scheduling.k8s.io/v1alpha2"
    assert workload["kind"] == "Workload"
    assert workload["spec"] == {
        "controllerRef": {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "llm"},
        "podGroupTemplates": [{"name": "all", "schedulingPolicy": policy}],
    }
    assert group["spec"] == {
        "podGroupTemplateRef": {"workload": {"workloadName": "llm", "podGroupTemplateName": "all"}},
        "schedulingPolicy": policy,
    }


def test_native_in_1_36_with_preemption() -> None:
    (_, group), _, _ = made(JOB, choose("native", kubernetes=(1, 36), gates=["WorkloadAwarePreemption"]))
    assert (group["spec"]["priorityClassName"], group["spec"]["disruptionMode"]) == ("training", "PodGroup")


@pytest.mark.parametrize("version", [None, (1, 30), (1, 35)])
def test_native_makes_nothing_that_is_not_served(version: Any) -> None:
    objects, _, pods = made(JOB, choose("native", kubernetes=version))
    assert objects == []
    assert all("schedulingGroup" not in pod["spec"] for pod in pods)


@pytest.mark.parametrize(("gates", "made_of"), [([], None), (["TopologyAwareWorkloadScheduling"], "example.com/rack")])
def test_a_native_topology_needs_its_gate(gates: list[str], made_of: str | None) -> None:
    cluster = choose("native", kubernetes=(1, 37), gates=gates, topology=sourced("example.com/rack"))
    (group,), _, _ = made(JOB, cluster)
    expected = None if made_of is None else {"topology": [{"key": made_of}]}
    assert group["spec"].get("schedulingConstraints") == expected


def test_kueue() -> None:
    cluster = choose("kueue", queue=sourced("shared"), topology=sourced("example.com/block"))
    job = {"kind": "TrainJob", "metadata": {"name": "llm", "labels": {"kueue.x-k8s.io/priority-class": "prod"}}}
    objects, jobset, pods = made(JOB, cluster, job=job)
    assert objects == []
    assert jobset["metadata"]["labels"] == {
        "kueue.x-k8s.io/queue-name": "shared",
        "kueue.x-k8s.io/priority-class": "prod",
    }
    for pod in pods:
        assert pod["metadata"]["annotations"] == {
            "kueue.x-k8s.io/podset-required-topology": "example.com/block",
            "kueue.x-k8s.io/podset-group-name": "llm",
        }
        assert "schedulerName" not in pod["spec"]


def test_a_job_chooses_its_own_topology_of_kueue() -> None:
    wish = {"kueue.x-k8s.io/podset-preferred-topology": "example.com/rack", "kueue.x-k8s.io/podset-group-name": "ring"}
    job = {"kind": "TrainJob", "metadata": {"name": "llm", "annotations": {**wish, "other": "x"}}}
    _, _, pods = made(JOB, choose("kueue", topology=sourced("example.com/block")), job=job)
    assert [pod["metadata"]["annotations"] for pod in pods] == [wish, wish]


@pytest.mark.parametrize("name", ["none", "kueue", "native"])
def test_a_gang_schedulers_name_goes_with_its_gang(name: str) -> None:
    text = JOB.replace("restartPolicy: Never", "schedulerName: volcano")
    _, _, pods = made(text, choose(name, kubernetes=(1, 37)))
    assert all("schedulerName" not in pod["spec"] for pod in pods)


@pytest.mark.parametrize("name", sorted(TABLE))
def test_another_schedulers_name_is_the_clusters(name: str) -> None:
    _, _, pods = made(JOB, choose(name, kubernetes=(1, 37), scheduler_name=sourced("mine")))
    assert {pod["spec"]["schedulerName"] for pod in pods} == {"mine"}


@pytest.mark.parametrize("name", sorted(TABLE))
def test_every_leaf_knows_who_set_it(name: str) -> None:
    contribution = contribute(plan_of(JOB), choose(name, kubernetes=(1, 37), queue=sourced("q")), Report())
    for tree in contribution.objects:
        assert all(leaf.origin.by or leaf.origin.at for path, leaf in leaves(tree))


@pytest.mark.parametrize("name", sorted(TABLE))
def test_what_is_made_has_nothing_to_complain_about(name: str) -> None:
    cluster = choose(name, kubernetes=(1, 37), gates=["GenericWorkload"], queue=sourced("q"))
    assert found(placed(plan_of(JOB), cluster), cluster) == []


def test_a_count_names_the_places_it_rests_on() -> None:
    (group,) = contribute(plan_of(JOB), choose("coscheduling"), Report()).objects
    lines = [span.line for span in group["spec"]["minMember"].origin.spans()]
    assert lines == [10, 22]
