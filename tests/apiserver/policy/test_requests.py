"""What policies are asked about: everything that is read, everything that is made of it, each as the server has it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apiserver.policy.judging import binding, policy
from tests.compiling import ROOT, Run, compile_in
from tests.conformance.children import child_jobs, first_pods
from tests.repository import PROJECT, Repository, write
from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.policy.requests import AdmissionRequest
from trainc.apiserver.policy.stored import UID, children
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.tree import plain, stamp
from trainc.yaml.reader import read

RENDERED = [
    ROOT / "tests/cases" / case / "expected/manifests.yaml"
    for case in ("torch/gpu-nodes", "mpi/two-nodes", "schedulers/pytorch/volcano")
]


def jobsets() -> Iterator[tuple[str, Any]]:
    for path in RENDERED:
        for document in read(path.read_bytes(), path.name, Report()):
            if document.kind == "JobSet":
                yield path.parent.parent.name, document.tree


def _missing(wanted: Any, found: Any, at: str = "") -> Iterator[str]:
    """What of one object another one does not say; it may say more, as a server that fills in defaults does."""
    if isinstance(wanted, dict):
        for key, inner in wanted.items():
            if not isinstance(found, dict) or key not in found:
                yield f"{at}.{key}"
            else:
                yield from _missing(inner, found[key], f"{at}.{key}")
    elif isinstance(wanted, list):
        for index, inner in enumerate(wanted):
            if not isinstance(found, list) or index >= len(found):
                yield f"{at}[{index}]"
            else:
                yield from _missing(inner, found[index], f"{at}[{index}]")
    elif wanted != found and not at.endswith((".limits.nvidia.com/gpu", ".requests.nvidia.com/gpu")):
        yield f"{at}: {wanted!r}, not {found!r}"


@pytest.mark.parametrize(("name", "tree"), list(jobsets()), ids=[name for name, _ in jobsets()])
def test_children_are_those_of_the_controllers(name: str, tree: Any) -> None:
    """The Jobs and pods are those that the conformance suite compares with a server's."""
    del name
    whole = plain(with_defaults(tree))
    whole["metadata"].setdefault("namespace", "default")
    made = [plain(one) for one in children(tree)]
    jobs = {one["metadata"]["name"]: one for one in made if one["kind"] == "Job"}
    pods = {one["metadata"]["generateName"]: one for one in made if one["kind"] == "Pod"}
    expected = {one["metadata"]["name"]: one for one in child_jobs(whole)}
    assert jobs.keys() <= expected.keys()
    assert {next(iter(expected)), list(expected)[-1]} <= jobs.keys()
    for key, job in jobs.items():
        job["metadata"].setdefault("namespace", "default")
        assert list(_missing(expected[key], job)) == []
        for pod in first_pods(expected[key]):
            if pod["metadata"]["generateName"] in pods:
                found = pods.pop(pod["metadata"]["generateName"])
                found["metadata"].setdefault("namespace", "default")
                assert list(_missing(pod, found)) == []


def test_what_a_server_fills_in() -> None:
    tree = dict(jobsets())["gpu-nodes"]
    made = [plain(one) for one in children(tree)]
    pod = next(one for one in made if one["kind"] == "Pod")
    spec, container = pod["spec"], pod["spec"]["containers"][0]
    assert (spec["serviceAccountName"], spec["dnsPolicy"], spec["securityContext"]) == ("default", "ClusterFirst", {})
    assert container["terminationMessagePolicy"] == "File"
    assert all(type(amount) is str for amount in container["resources"]["limits"].values())
    assert container["resources"]["requests"].keys() >= container["resources"]["limits"].keys()
    assert [one["key"] for one in spec["tolerations"]][-2:] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert any("projected" in volume for volume in spec["volumes"])
    job = next(one for one in made if one["kind"] == "Job")
    assert job["spec"]["podReplacementPolicy"] == "TerminatingOrFailed"


def test_values_that_a_server_makes_are_not_known() -> None:
    tree = dict(jobsets())["gpu-nodes"]
    pod = next(one for one in children(tree) if plain(one)["kind"] == "Pod")
    (document,) = read(b"kind: TrainJob\nmetadata: {name: a}\n", "a.yaml", Report())
    held, unknown = AdmissionRequest(pod, document, Cluster(), written=False).held
    paths = [path[1:-1] for path in unknown]
    assert ["metadata", "labels", "jobset.sigs.k8s.io/jobset-uid"] in paths
    assert ["metadata", "name"] in paths
    assert UID not in yaml.safe_dump(held)


def test_amounts_that_a_limit_range_fills_in_are_not_known() -> None:
    tree = dict(jobsets())["gpu-nodes"]
    pod = next(one for one in children(tree) if plain(one)["kind"] == "Pod")
    (document,) = read(b"kind: TrainJob\nmetadata: {name: a}\n", "a.yaml", Report())
    namespace = plain(pod)["metadata"]["namespace"]
    limits = {
        "kind": "LimitRange",
        "metadata": {"namespace": namespace},
        "spec": {"limits": [{"default": {"cpu": "1"}}]},
    }
    cluster = Cluster(objects={"LimitRange": {"a": stamp(limits, "a dump")}})
    unknown = AdmissionRequest(pod, document, cluster, written=False).held[1]
    assert any("resources" in path for path in unknown)


def about(resource: str, expression: str = "false", group: str = "*") -> str:
    """A policy about one resource."""
    rule = {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": [resource]}
    return yaml.safe_dump_all([policy(expression, constraints={"resourceRules": [rule]}), binding()], width=1000)


def refusals(run: Run) -> list[str]:
    return [f.message.partition(":")[0] for f in run.findings if f.rule.name == "policy-denied"]


@pytest.mark.parametrize(
    ("resource", "wanted"),
    [
        ("trainjobs", ["policy `p` denies TrainJob `line`"]),
        ("clustertrainingruntimes", ["policy `p` denies ClusterTrainingRuntime `torch`"]),
        ("jobsets", ["policy `p` denies JobSet `line`"]),
        ("services", ["policy `p` denies Service `line`"]),
        ("jobs", ["policy `p` denies Job `line-node-0`"]),
        ("pods", ["policy `p` denies Pod `line-node-0-0`"]),
        ("podgroups", ["policy `p` denies PodGroup `line`"]),
        ("configmaps", []),
    ],
)
def test_each_object_is_asked_about(tmp_path: Path, resource: str, wanted: list[str]) -> None:
    made = Repository(tmp_path, "line")
    made.write("policies/p.yaml", about(resource))
    assert refusals(made.run("validate", "--set", "scheduler=coscheduling")) == wanted


def test_an_older_kind_is_asked_about(tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": PROJECT, "job.yaml": OLDER, "policies/p.yaml": about("pytorchjobs")})
    assert refusals(compile_in(tmp_path, "validate", "job.yaml")) == ["policy `p` denies PyTorchJob `older`"]


OLDER = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata:
  name: older
spec:
  pytorchReplicaSpecs:
    Master:
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          containers:
          - name: pytorch
            image: registry.example.com/ml/train:1
            command: [python, train.py]
"""
CLUSTERS = """\
apiVersion: trainc.dev/v1alpha1
kind: Project
spec:
  clusters:
    staging: {}
    prod: {folder: dumps/prod}
"""
PATCH = """\
---
apiVersion: trainc.dev/v1alpha1
kind: TrainJobPatch
metadata:
  name: line
  namespace: research
  annotations:
    trainc.dev/cluster: prod
spec:
  trainer:
    numNodes: 16
"""


def test_each_cluster_asks_its_own_policies_about_its_own_values(tmp_path: Path) -> None:
    """Two nodes in staging and sixteen in prod, whose policy allows eight: the refusal stands in the patch."""
    made = Repository(tmp_path, "line")
    made.write("trainc.yaml", CLUSTERS)
    job = made.read("jobs/line.yaml")
    annotated = "  annotations:\n    trainc.dev/cluster: staging,prod\nspec:"
    made.write("jobs/line.yaml", job.replace("spec:", annotated, 1) + PATCH)
    few = "object.spec.?trainer.numNodes.orValue(1) <= 8"
    made.write("dumps/prod/policies.yaml", about("trainjobs", few))
    run = made.run("validate")
    assert refusals(run) == ["policy `p` denies TrainJob `line`"], run.err
    (finding,) = [one for one in run.findings if one.rule.name == "policy-denied"]
    line = made.read("jobs/line.yaml").splitlines()[finding.span.line - 1]
    assert line.strip() == "numNodes: 16"
    made.change("jobs/line.yaml", "numNodes: 16", "numNodes: 8")
    assert refusals(made.run("validate")) == []


def test_an_object_beside_a_job_is_asked_about(tmp_path: Path) -> None:
    made = Repository(tmp_path, "line")
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "research"}}
    made.write("jobs/line.yaml", f"{made.read('jobs/line.yaml')}---\n{yaml.safe_dump(claim)}")
    made.write("policies/p.yaml", about("persistentvolumeclaims", "has(object.spec)", group=""))
    assert refusals(made.run("validate")) == ["policy `p` denies PersistentVolumeClaim `data`"]
