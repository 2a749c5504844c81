"""One mistake is one finding, at the place that a person changes."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.matrix.kinds import KINDS
from tests.matrix.matrix import REMOVED, edited
from trainc.yaml.writer import dump

MAIN = {
    "name": "node",
    "image": "registry.example.com/ml/train:1.0",
    "command": ["python", "train.py"],
    "resources": {"limits": {"cpu": 2, "memory": "4Gi"}, "requests": {"cpu": 2, "memory": "4Gi"}},
}
POD = {"spec": {"restartPolicy": "Never", "containers": [MAIN]}}
WITHOUT_IMAGE = edited(POD, {"containers 0 image": REMOVED})
LONG = "a-very-long-name-of-a-job-that-does-not-fit-into-the-name-of-a-pod"
TRAINJOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: NAME
  namespace: ml
  annotations: {ANNOTATIONS}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    image: registry.example.com/ml/train:1.0
    command: [torchrun, train.py]
    resourcesPerNode: {limits: {LIMITS}}
"""


def errors(folder: Path, text: str) -> list[tuple[str, int]]:
    (folder / "job.yaml").write_text(text, "utf-8")
    run = compile_in(folder, "validate", "job.yaml")
    return [(one.rule.name, one.span.line) for one in run.findings if one.level == "error"]


@pytest.mark.parametrize("role", ["head", "worker"])
def test_a_ray_group_without_image(role: str, tmp_path: Path) -> None:
    """The driver has the head's image, and the container that waits for the head that of the worker."""
    kind = next(one for one in KINDS if one.name == f"RayJob/{role}")
    (document,) = kind.documents(WITHOUT_IMAGE, POD, 3)
    (document_with_image,) = kind.documents(POD, POD, 3)
    assert [rule for rule, _ in errors(tmp_path, dump(document))] == ["missing-image"]
    assert errors(tmp_path, dump(document_with_image)) == []


@pytest.mark.parametrize("limits", ["nvidia.com/gpu: 8, memory: 64Gi, cpu: 8", "memory: 64Gi, cpu: 8"])
def test_a_component_for_another_machine(limits: str, tmp_path: Path) -> None:
    """Its requests, its machine and its claims do not fit: the annotation that enables it is the place."""
    text = TRAINJOB.replace("NAME", "fit").replace("LIMITS", limits)
    found = errors(tmp_path, text.replace("ANNOTATIONS", "trainc.dev/components: 'gke-a4x,shm'"))
    assert [line for _, line in found] == [6]
    assert errors(tmp_path, text.replace("ANNOTATIONS", "trainc.dev/components: shm")) == []


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    kind = next(one for one in KINDS if one.name == "JobSet")
    (document,) = kind.documents(POD, POD, 2)
    assert errors(tmp_path, dump(document)) == []
    document["metadata"]["name"] = LONG
    assert [rule for rule, _ in errors(tmp_path, dump(document))] == ["refused-by-webhook"]


@pytest.mark.parametrize(
    ("spec", "annotations", "is_meant"),
    [
        ("trainer: {numNodes: 4}", "", True),
        ("trainer: {numNodes: 4, image: 'registry.example.com/t:1'}", "trainc.dev/cluster: prod", True),
        ("trainer: {numNodes: 4, image: 'registry.example.com/t:1'}", "", False),
    ],
)
def test_a_trainjob_that_is_a_patch(spec: str, annotations: str, is_meant: bool, tmp_path: Path) -> None:
    head = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
    text = f"{head}metadata: {{name: fit, namespace: ml, annotations: {{{annotations}}}}}\nspec:\n  {spec}\n"
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    project = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec:\n  clusters: {prod: {}}\n"
    (tmp_path / "trainc.yaml").write_text(project, "utf-8")
    (finding,) = [one for one in compile_in(tmp_path, "validate", "job.yaml").findings if one.level == "error"]
    assert "name a runtime" in finding.help
    assert ("TrainJobPatch" in finding.help) == is_meant
