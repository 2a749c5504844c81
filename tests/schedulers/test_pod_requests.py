"""What one pod asks for, and what many of them do."""

from typing import Any

import pytest

from trainc.apiserver.pods.requests import pod_requests, total, written
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.tree import stamp
from trainc.yaml.reader import read

MAIN = "containers: [{name: a, resources: {requests: {cpu: 500m, memory: 1Gi}}}]"
WITH_LIMITS = "containers: [{name: a, resources: {requests: {cpu: 2}, limits: {cpu: 4, nvidia.com/gpu: 8}}}]"

TABLE = [
    ("nothing", "containers: [{name: a}]", {}),
    ("one container", MAIN, {"cpu": "500m", "memory": "1Gi"}),
    (
        "containers add up",
        "containers: [{resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 250m}}}]",
        {"cpu": "1250m"},
    ),
    ("a limit stands in for a missing request", WITH_LIMITS, {"cpu": "2", "nvidia.com/gpu": "8"}),
    (
        "an init container counts by its peak",
        "initContainers: [{resources: {requests: {cpu: 4, memory: 1Mi}}}]\n" + MAIN,
        {"cpu": "4", "memory": "1Gi"},
    ),
    (
        "a sidecar is added to the containers",
        "initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}]\n" + MAIN,
        {"cpu": "1500m", "memory": "1Gi"},
    ),
    (
        "a sidecar declared before an init container raises its peak",
        "initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 1}}}, {resources: {requests: {cpu: 4}}}]\n"
        + MAIN,
        {"cpu": "5", "memory": "1Gi"},
    ),
    (
        "a sidecar declared after it does not",
        "initContainers: [{resources: {requests: {cpu: 4}}}, {restartPolicy: Always, resources: {requests: {cpu: 1}}}]\n"
        + MAIN,
        {"cpu": "4", "memory": "1Gi"},
    ),
    ("requests of the pod replace the sum", MAIN + "\nresources: {requests: {cpu: 6}}", {"cpu": "6", "memory": "1Gi"}),
    (
        "limits of the pod stand in where nobody asks",
        "containers: [{name: a}]\nresources: {limits: {memory: 4Gi}}",
        {"memory": "4Gi"},
    ),
    (
        "limits of the pod do not replace what containers ask for",
        MAIN + "\nresources: {limits: {memory: 4Gi}}",
        {"cpu": "500m", "memory": "1Gi"},
    ),
    (
        "other resources are not pod-level",
        MAIN + "\nresources: {requests: {nvidia.com/gpu: 1}}",
        {"cpu": "500m", "memory": "1Gi"},
    ),
    ("overhead is added", MAIN + "\noverhead: {cpu: 250m}", {"cpu": "750m", "memory": "1Gi"}),
    (
        "what is not a quantity is passed over",
        "containers: [{resources: {requests: {cpu: lots, memory: 1Gi}}}]",
        {"memory": "1Gi"},
    ),
]


def pod(text: str) -> Any:
    (document,) = read(text, "pod.yaml", Report())
    assert isinstance(document, Document)
    return document.tree


def texts(amounts: Any) -> dict[str, str]:
    return {name: leaf.value for name, leaf in written(amounts, "test").items()}


@pytest.mark.parametrize(("text", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_requests_of_one_pod(text: str, expected: dict[str, str]) -> None:
    assert texts(pod_requests(pod(text))) == expected


def test_limits_are_left_alone_where_the_controller_counts() -> None:
    assert texts(pod_requests(pod(WITH_LIMITS), limits=False)) == {"cpu": "2"}


def test_the_overhead_of_a_runtime_class_is_used_where_the_pod_names_none() -> None:
    known = stamp({"cpu": "100m"}, "test")
    assert texts(pod_requests(pod(MAIN), overhead=known))["cpu"] == "600m"
    assert texts(pod_requests(pod(MAIN + "\noverhead: {cpu: 1}"), overhead=known))["cpu"] == "1500m"


def test_injected_sidecars_are_added_to_every_pod() -> None:
    assert texts(pod_requests(pod(MAIN), injected=stamp({"cpu": "100m"}, "test")))["cpu"] == "600m"


def test_a_total_multiplies_and_rests_on_every_leaf() -> None:
    asked = pod_requests(pod(MAIN))
    leaves = written(total([(asked, 3, ()), (asked, 1, ())]), "test")
    assert {name: leaf.value for name, leaf in leaves.items()} == {"cpu": "2", "memory": "4Gi"}
    assert [span.line for span in leaves["cpu"].origin.spans()] == [1]


def test_the_input_is_not_changed() -> None:
    tree = pod(MAIN)
    before = repr(tree)
    pod_requests(tree)
    assert repr(tree) == before
