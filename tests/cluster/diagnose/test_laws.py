"""Laws of a diagnosis: strangers' input breaks nothing, order of objects decides nothing, effort grows with the input."""

import json
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.compiling import ROOT
from tests.effort import cpu, within
from tests.sampling import sampled
from trainc.cluster.diagnose.cause import FAILED, RUNS, Diagnosis
from trainc.cluster.diagnose.cluster import DumpedCluster
from trainc.cluster.diagnose.judge import diagnoses
from trainc.cluster.diagnose.reading import Reading
from trainc.text.trouble import Trouble

CASES = sorted(ROOT.glob("tests/cluster/diagnose/cases/*/input.yaml"))
ODD = ["null", "7", "-1", "1.5", "true", '""', '"x"', '"2026-13-99T00:00:00Z"', "[]", "[null]", "{}", '{"name": 3}']


@cache
def objects(at: int) -> str:
    try:
        found = yaml.load(CASES[at].read_text("utf-8"), yaml.CSafeLoader)
    except yaml.YAMLError:
        return "[]"  # the case whose text is cut off
    items = found["items"] if isinstance(found, dict) else []
    return json.dumps([item for item in items if isinstance(item, dict) and isinstance(item.get("kind"), str)])


@pytest.mark.slow
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, len(CASES) - 1), st.data())
def test_odd_values_anywhere_break_nothing(case: int, data: st.DataObject) -> None:
    trees = json.loads(objects(case))
    for _ in range(data.draw(st.integers(1, 6))):
        replace_one(trees, data)
    whole = [tree for tree in trees if isinstance(tree, dict) and isinstance(tree.get("kind"), str)]
    for one in diagnoses(DumpedCluster(whole)):
        assert one.status
        assert one.cause is None or one.cause.headline


def replace_one(trees: list[Any], data: st.DataObject) -> None:
    """Put something odd in the place of a node, anywhere."""
    node: Any = trees
    while isinstance(node, dict | list) and node:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        inner = node[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.integers(0, 4)) == 0:
            node[key] = json.loads(data.draw(st.sampled_from(ODD)))
            return
        node = inner


@pytest.mark.parametrize("at", sampled(range(len(CASES)), [case.parent.name for case in CASES], every=10))
def test_order_of_objects_decides_nothing(at: int) -> None:
    forwards = json.loads(objects(at))
    assert said(diagnoses(DumpedCluster(forwards))) == said(diagnoses(DumpedCluster(forwards[::-1])))


def said(found: list[Diagnosis]) -> list[tuple[Any, ...]]:
    return [(one.namespace, one.name, one.status, one.cause and one.cause[:5], one.notes, one.unknown) for one in found]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(CASES) - 1), st.integers(1, 4000))
def test_json_cut_off_anywhere_is_read_or_refused(case: int, cut: int) -> None:
    text = json.dumps({"apiVersion": "v1", "items": json.loads(objects(case)), "kind": "List"})
    reading = Reading()
    try:
        reading.add(text[: max(1, len(text) - cut)].encode(), "input")
    except Trouble:
        return
    assert reading.faults
    whole = Reading()
    whole.add(text.encode(), "input")
    assert reading.objects == whole.objects[: len(reading.objects)]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"items":[' * 30_000, "- " * 50_000 + "x", "a: &a [*a, *a]", "{", "\0"]
)
def test_nesting_without_end_is_refused(text: str) -> None:
    with pytest.raises(Trouble):
        Reading().add(text.encode(), "input")


@pytest.mark.slow
def test_effort_grows_with_the_input_alone() -> None:
    """Many pods of one job with an event each, among which one failed first."""
    judged: list[Diagnosis] = []
    within(10, lambda: cpu(lambda: judged.extend(diagnoses(DumpedCluster([*gang(4000)])))))
    found = judged[0]
    assert found.status == FAILED
    assert found.cause is not None
    assert found.cause.headline.startswith("rank 1234 ")


def gang(pods: int) -> list[dict[str, Any]]:
    condition = {
        "type": "Failed",
        "status": "True",
        "reason": "FailedJobs",
        "lastTransitionTime": "2026-11-22T10:00:00Z",
    }
    jobset = {
        "kind": "JobSet",
        "metadata": {"name": "big", "namespace": "nlp"},
        "spec": {"replicatedJobs": [{"name": "node", "replicas": pods}]},
        "status": {"conditions": [condition]},
    }
    return [jobset, *(tree for index in range(pods) for tree in member(index))]


def member(index: int) -> list[dict[str, Any]]:
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "big",
        "jobset.sigs.k8s.io/replicatedjob-name": "node",
        "jobset.sigs.k8s.io/job-index": str(index),
        "batch.kubernetes.io/job-name": f"big-node-{index}",
        "batch.kubernetes.io/job-completion-index": "0",
    }
    end = "2026-11-22T09:58:00Z" if index == 1234 else "2026-11-22T09:59:00Z"
    ended = {"name": "node", "state": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": end}}}
    name = f"big-node-{index}-0-abcde"
    about = {"kind": "Pod", "namespace": "nlp", "name": name}
    return [
        {"kind": "Job", "metadata": {"name": f"big-node-{index}", "namespace": "nlp", "labels": labels}},
        {
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "nlp", "labels": labels},
            "spec": {"nodeName": "n"},
            "status": {"phase": "Failed", "containerStatuses": [ended]},
        },
        {
            "kind": "Event",
            "metadata": {"name": f"e{index}", "namespace": "nlp"},
            "involvedObject": about,
            "reason": "Started",
        },
    ]


def test_a_dump_of_another_namespace_proves_nothing() -> None:
    """What another namespace has says nothing about what this one lacks."""
    pod = member(0)[1]
    pod["status"] = {"phase": "Running"}
    others = [
        {"kind": kind, "metadata": {"name": "x", "namespace": "vision"}} for kind in ("JobSet", "Service", "Workload")
    ]
    found = next(one for one in diagnoses(DumpedCluster([pod, *others])) if one.name == "big")
    assert found.status == RUNS
    assert found.notes == ("the JobSet itself is not in the input: add `jobset` to kubectl get",)
