"""What a server says of a JobSet and its pods rests on its frame and its names alone."""

from typing import Any

import pytest

from tests.compiling import ROOT
from tests.sampling import sampled
from tests.test_cases import CASES
from trainc.apiserver.frame import frame_of
from trainc.apiserver.jobs.child import children
from trainc.apiserver.jobset.defaults import KIND
from trainc.apiserver.schema.features import Features
from trainc.apiserver.schema.node import load
from trainc.apiserver.served import Served
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import stamp
from trainc.yaml.reader import read

RENDERED = [file for case in CASES if (file := case / "expected/manifests.yaml").exists()]
PROGRAM_TEXTS = ("command", "args", "image")  # of a container; with them, the values of its variables
POD = ("spec", "replicatedJobs", "template", "spec", "template", "spec")
ODD: list[Any] = [None, 1, 1.0, True, "", " x", "x ", "${X}", [], {}, [None], [1], {"a": "b"}]


def jobsets(path: Any) -> list[Any]:
    return [one.tree for one in read(path.read_bytes(), "jobset.yaml", Report()) if one.kind == "JobSet"]


def said(jobset: Any, server: Served, features: Features) -> tuple[Any, ...]:
    """What is said of a JobSet and of what it becomes."""
    judged, refused = server.judge_jobset(jobset), children(jobset, features, {})
    return judged.by, judged.messages, [fault.message for fault in (*refused.faults, *refused.dropped)]


def fresh() -> tuple[Served, Features]:
    """A server that was asked nothing yet."""
    return Served(Cluster()), Features((1, 36), frozenset())


def changed(node: Any, way: tuple[str, ...] = POD) -> Any:
    """A JobSet with other texts for its programs, other numbers of pods and another place to run."""
    if type(node) is list:
        return [changed(item, way) for item in node]
    if type(node) is not dict:
        return node
    out = {key: changed(part, way[1:]) if way and key == way[0] else part for key, part in node.items()}
    for key in {"replicas", "completions", "parallelism"} & out.keys():
        out[key] = other(out[key])
    if not way:
        for key in {"containers", "initContainers"} & out.keys():
            out[key] = [container(one) for one in out[key]]
        if "serviceAccountName" in out:
            out["serviceAccountName"] = other(out["serviceAccountName"])
        if type(out.get("nodeSelector")) is dict:
            out["nodeSelector"] = stamp({"example.com/other": "a"}, "test")
    return out


def container(tree: Any) -> Any:
    out = dict(tree)
    for key in {*PROGRAM_TEXTS} & tree.keys():
        out[key] = [other(leaf) for leaf in tree[key]] if type(tree[key]) is list else other(tree[key])
    if type(tree.get("env")) is list:
        out["env"] = [
            {**entry, "value": other(entry["value"])} if len(entry) == 2 and "value" in entry else entry
            for entry in tree["env"]
        ]
    return out


def other(leaf: Any) -> Any:
    if type(leaf) is Sourced and type(leaf.value) is int and 0 < leaf.value < 9:
        return Sourced(leaf.value + 1, leaf.source)
    return Sourced("other", leaf.source) if type(leaf) is Sourced and type(leaf.value) is str else leaf


@pytest.mark.parametrize("path", sampled(RENDERED, lambda path: str(path.relative_to(ROOT / "tests/cases")), every=20))
def test_texts_for_programs_decide_nothing(path: Any) -> None:
    warm = fresh()
    for jobset in jobsets(path):
        own = said(jobset, *warm)
        assert own == said(jobset, *warm) == said(jobset, *fresh())
        twin = changed(jobset)
        if frame_of(twin) == frame_of(jobset):
            assert said(twin, *fresh()) == said(twin, *warm)
            assert bool(own[0] or own[2]) == any(said(twin, *fresh())[::2])


def test_the_schema_asks_nothing_of_them() -> None:
    at: Any = (*POD[:2], 0, *POD[2:], "containers", 0)
    texts = [(*at, "command", 0), (*at, "args", 0), (*at, "image"), (*at, "env", 0, "value")]
    assert all(load().at(KIND, text).quick is str for text in texts)


def job(**own: Any) -> Any:
    pod = {"containers": [{"name": "node", "image": "a:1", "command": ["a"], **own}], "restartPolicy": "Never"}
    spec = {"template": {"spec": pod}, "completions": 2, "parallelism": 2, "completionMode": "Indexed"}
    tree = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
            "successPolicy": {"operator": "All"},
            "replicatedJobs": [{"name": "node", "replicas": 1, "groupName": "default", "template": {"spec": spec}}],
        },
    }
    return stamp(tree, "test")


@pytest.mark.parametrize("field", [*PROGRAM_TEXTS, "env"])
def test_what_is_odd_is_looked_at(field: str) -> None:
    """After an ordinary JobSet, whose frame is known."""
    warm = fresh()
    assert not any(said(job(), *warm))
    for odd in ODD:
        one = job(**{field: [{"name": "A", "value": odd}] if field == "env" else odd})
        assert said(one, *warm) == said(one, *fresh()), odd
        assert said(one, *warm) == said(one, *fresh()), odd


@pytest.mark.parametrize("field", ["completions", "parallelism", "serviceAccountName", "nodeSelector"])
def test_odd_numbers_and_places_are_looked_at(field: str) -> None:
    warm = fresh()
    assert not any(said(job(), *warm))
    for odd in [*ODD, -1, 10**5, 10**6, 2**31, "A b", {"a b": "c"}, {"a": "b c"}, {"a": 1}]:
        one = job()
        spec = one["spec"]["replicatedJobs"][0]["template"]["spec"]
        (spec["template"]["spec"] if field in ("serviceAccountName", "nodeSelector") else spec)[field] = stamp(
            odd, "test"
        )
        assert said(one, *warm) == said(one, *fresh()), odd
        assert said(one, *warm) == said(one, *fresh()), odd


def test_names_are_looked_at() -> None:
    warm = fresh()
    assert not any(said(job(), *warm))
    for name in ("a" * 70, "A", "1", "a.b", "${X}", ""):
        one = {**job(), "metadata": stamp({"name": name, "namespace": "b"}, "test")}
        assert said(one, *warm) == said(one, *fresh()), name


def test_values_of_other_types_are_another_frame() -> None:
    frames = [frame_of(stamp({"spec": {"x": value}}, "test")) for value in (1, 1.0, True, "1", [1], {"1": 1}, None)]
    assert len(set(frames)) == len(frames)


def test_what_is_kept_is_bounded() -> None:
    server, features = fresh()
    for number in range(1_100):
        assert not any(said(job(terminationMessagePath=f"/dev/{number}"), server, features))
    assert len(features.taken) <= 1_000
