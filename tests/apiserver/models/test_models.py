"""Specs written in Python become the manifests that were meant, and manifests survive the way through a model."""

import doctest
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import trainc.api
from trainc.api import (
    ClusterTrainingRuntime,
    CoschedulingPodGroup,
    CoschedulingPodGroupSpec,
    JobSet,
    JobSetSpec,
    ObjectMeta,
    ReplicatedJob,
    Resource,
    RuntimeRef,
    Trainer,
    TrainingRuntime,
    TrainJob,
    TrainJobSpec,
    VolcanoPodGroup,
    kinds,
)

TRAINJOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: bert
  labels:
    team: nlp
spec:
  initializer:
    dataset:
      secretRef:
        name: hf-token
      storageUri: hf://squad/v2
  runtimePatches:
  - manager: team.example.org/cache
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec:
                template:
                  spec:
                    nodeSelector:
                      pool: gpu
  runtimeRef:
    name: torch-distributed
  suspend: false
  trainer:
    args: []
    command:
    - python
    - train.py
    env:
    - name: EPOCHS
      value: "3"
    numNodes: 4
    resourcesPerNode:
      requests:
        cpu: "4"
        memory: 16Gi
        nvidia.com/gpu: 8
"""

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: torch-distributed
spec:
  mlPolicy:
    numNodes: 1
    torch: {}
  podGroupPolicy:
    volcano:
      networkTopology:
        mode: soft
  template:
    spec:
      failurePolicy:
        maxRestarts: 3
      network:
        enableDNSHostnames: true
      replicatedJobs:
      - name: node
        template:
          metadata:
            labels:
              trainer.kubeflow.org/trainjob-ancestor-step: trainer
          spec:
            template:
              spec:
                containers:
                - name: node
                  image: pytorch/pytorch:2.9.1
"""

VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata:
  name: gang
spec:
  minMember: 8
  minResources:
    cpu: 500m
    memory: 1073741824
  subGroupPolicy:
  - name: pipe
    labelSelector:
      matchLabels:
        role: worker
status:
  conditions:
  - transitionID: "7"
    type: Scheduled
"""


@pytest.mark.parametrize(
    ("kind", "text"), [(TrainJob, TRAINJOB), (ClusterTrainingRuntime, RUNTIME), (VolcanoPodGroup, VOLCANO)]
)
def test_same_yaml(kind: type[Resource], text: str) -> None:
    assert kind.from_yaml(text).to_yaml() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "text:2:1: this is not YAML"),
        ("a: 1\na: 2\n", "text:2:1: "),
        ("", "one document is wanted, here are 0"),
        ("kind: TrainJob\n---\nkind: TrainJob\n", "one document is wanted, here are 2"),
        ("spec:\n  runtimeRef: {name: r}\n  suspend: y\n  labels: {}\n", "has no field `labels`"),
    ],
)
def test_unreadable(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TrainJob.from_yaml(text)


def test_yaml_is_read_as_kubernetes_reads_it() -> None:
    job = TrainJob.from_yaml(
        "spec: {runtimeRef: {name: r}, trainer: {numNodes: 010, env: [{name: A, value: 2024-01-02}]}}"
    )
    assert job.spec is not None
    assert job.spec.trainer == Trainer(num_nodes=8, env=[{"name": "A", "value": "2024-01-02"}])


def test_written_in_python() -> None:
    group = CoschedulingPodGroup(
        metadata=ObjectMeta(name="gang"),
        spec=CoschedulingPodGroupSpec(min_member=4, min_resources={"cpu": "16", "nvidia.com/gpu": 8}),
    )
    assert group.to_dict() == {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "gang"},
        "spec": {"minMember": 4, "minResources": {"cpu": "16", "nvidia.com/gpu": 8}},
    }


def test_camel_case_is_read_as_well() -> None:
    assert RuntimeRef.model_validate({"name": "r", "apiGroup": "g"}) == RuntimeRef(name="r", api_group="g")


@pytest.mark.parametrize("value", [None, {}, {"replicatedJobs": None}, {"suspend": None}])
def test_absent_empty_and_null_stay_apart(value: dict[str, Any] | None) -> None:
    given = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "spec": value}
    assert JobSet.model_validate(given).to_dict() == given


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_head_is_filled_in(kind: type[Resource]) -> None:
    assert kind().to_dict() == {"apiVersion": kind.NAMES.api_version, "kind": kind.NAMES.kind}


@pytest.mark.parametrize(
    ("kind", "document", "message"),
    [
        (TrainJob, {"kind": "JobSet"}, "this is trainer.kubeflow.org/v1alpha1 JobSet, not"),
        (TrainJob, {"spec": {}}, "Field required"),
        (TrainJob, {"spec": {"runtimeRef": {"name": ""}}}, "at least 1 character"),
        (TrainJob, {"spec": {"runtimeRef": {"name": "a"}, "labels": {}}}, "has no field `labels`"),
        (TrainJob, {"spec": {"runtimeRef": {"name": "a"}, "trainer": {"numNodes": "4"}}}, "valid integer"),
        (TrainJob, {"spec": {"runtimeRef": {"name": "a"}, "trainer": {"numNodes": True}}}, "valid integer"),
        (TrainJob, {"spec": {"runtimeRef": {"name": "a"}, "trainer": {"args": [1]}}}, "valid string"),
        (TrainJob, {"spec": {"runtimeRef": {"name": "a"}, "activeDeadlineSeconds": 0}}, "greater than or equal to 1"),
        (TrainingRuntime, {"spec": {"mlPolicy": {"mpi": {"mpiImplementation": "MPICH"}}}}, "'OpenMPI' or ''"),
        (JobSet, {"spec": {"ttlSecondsAfterFinished": -1}}, "greater than or equal to 0"),
        (CoschedulingPodGroup, {"spec": {"minResources": {"cpu": 0.5}}}, "valid integer"),
        (CoschedulingPodGroup, {"spec": {"minResources": {"cpu": "lots"}}}, "String should match pattern"),
        (VolcanoPodGroup, {"spec": {"queue": "Lab"}}, "String should match pattern"),
    ],
)
def test_refused(kind: type[Resource], document: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message.replace("(", r"\(")):
        kind.model_validate(document)


@pytest.mark.parametrize("pattern_text", ["Lab\n", "a\n"])
def test_patterns_end_at_the_end_of_the_text(pattern_text: str) -> None:
    with pytest.raises(ValidationError):
        VolcanoPodGroup.model_validate({"spec": {"queue": pattern_text}})


@pytest.mark.parametrize("text", ["y", "no", "On", "null", "~", "1e3", "4", "0x10", "1:20", "a: b", " x", "a\nb\n", ""])
def test_strings_stay_strings(text: str) -> None:
    job = TrainJob(spec=TrainJobSpec(runtime_ref=RuntimeRef(name="r"), trainer=Trainer(args=[text])))
    line = job.to_yaml().splitlines()[7]
    assert line[4] == "-"
    assert line[6] in "\"'|"
    assert TrainJob.model_validate(yaml.safe_load(job.to_yaml())) == job


NAMES = st.text("abcdefghijklmnopqrstuvwxyz-0123456789", min_size=1, max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("abcXYZ._/-", min_size=1), below, max_size=3),
    max_leaves=8,
)
TEMPLATES = st.dictionaries(NAMES, VALUES, max_size=3)


@pytest.mark.slow
@given(
    st.lists(st.builds(dict, name=NAMES, template=TEMPLATES), max_size=3), st.dictionaries(NAMES, st.text("ab y\n1"))
)
def test_any_template_survives(jobs: list[dict[str, Any]], labels: dict[str, str]) -> None:
    document = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a", "labels": labels},
        "spec": {"replicatedJobs": jobs},
    }
    model = JobSet.model_validate(document)
    assert model.to_dict() == document
    assert yaml.safe_load(model.to_yaml()) == document


def test_equal_in_both_spellings() -> None:
    written = JobSetSpec(replicated_jobs=[ReplicatedJob(name="a", template={}, group_name="g")])
    read = JobSetSpec.model_validate({"replicatedJobs": [{"name": "a", "template": {}, "groupName": "g"}]})
    assert written == read


def test_examples_of_the_documentation() -> None:
    results = doctest.testmod(trainc.api)
    assert results.attempted > 0
    assert results.failed == 0
