"""Numbers of pods that another tool fills in later: nobody can say that they are wrong, only that they are unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in

if TYPE_CHECKING:
    from pathlib import Path

V1, OPERATOR = "kubeflow.org/v1", "kubeflow.org/v2beta1"
ROLE = """\
    {role}:
      replicas: ${{NUMBER}}
      template:
        spec:
          containers:
            - name: {container}
              image: registry.example.com/research/train:1.0.0
              command: [python, train.py]
"""


@pytest.mark.parametrize(
    ("version", "kind", "field", "container", "roles"),
    [
        (V1, "JAXJob", "jaxReplicaSpecs", "jax", ["Worker"]),
        (V1, "PyTorchJob", "pytorchReplicaSpecs", "pytorch", ["Master", "Worker"]),
        (V1, "TFJob", "tfReplicaSpecs", "tensorflow", ["Chief", "PS", "Worker"]),
        (V1, "XGBoostJob", "xgbReplicaSpecs", "xgboost", ["Master", "Worker"]),
        (V1, "PaddleJob", "paddleReplicaSpecs", "paddle", ["Master", "Worker"]),
        (V1, "MPIJob", "mpiReplicaSpecs", "mpi", ["Launcher", "Worker"]),
        (OPERATOR, "MPIJob", "mpiReplicaSpecs", "mpi", ["Launcher", "Worker"]),
    ],
)
def test_only_the_number_is_missed(
    version: str, kind: str, field: str, container: str, roles: list[str], tmp_path: Path
) -> None:
    head = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: bert, namespace: nlp}}\nspec:\n  {field}:\n"
    text = head + "".join(ROLE.format(role=role, container=container) for role in roles)
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert run.code == 1
    errors = [finding.message for finding in run.findings if finding.level == "error"]
    assert errors == [f"how many pods `{role}` has is not known here" for role in roles]


def test_a_listed_master(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: mlkube.io/v1beta1\nkind: TfJob\nmetadata: {name: bert, namespace: nlp}\nspec:\n  replicaSpecs:\n"
        "    - replicas: ${NUMBER}\n      tfReplicaType: MASTER\n      template:\n        spec:\n          containers:\n"
        "            - {name: tensorflow, image: registry.example.com/research/train:1.0.0}\n",
        "utf-8",
    )
    run = compile_in(tmp_path, "build", "job.yaml")
    assert [f.rule.name for f in run.findings if f.level == "error"] == ["unknown-size"]


def test_roles_that_are_no_map(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(
        "apiVersion: kubeflow.org/v1beta1\nkind: TFJob\nmetadata: {name: bert, namespace: nlp}\n"
        "spec:\n  tfReplicaSpecs: three\n",
        "utf-8",
    )
    run = compile_in(tmp_path, "build", "job.yaml")
    assert [f.rule.name for f in run.findings if f.level == "error"] == ["invalid-field"]
