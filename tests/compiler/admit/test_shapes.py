"""Objects of versions that trainc does not know, and by definitions that allow any shape, are refused where they are odd."""

from pathlib import Path

import pytest

from tests.compiling import compile_in
from tests.repository import write

JOB = (
    "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: bert}\n"
    "spec: {runtimeRef: {name: small}, trainer: {image: r/x:1}}\n"
)
RUNTIME = "apiVersion: trainer.kubeflow.org/v2alpha1\nkind: ClusterTrainingRuntime\nmetadata: {name: small}\nspec: "
JOBSET = "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: a}\nspec: "
ANYTHING = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: jobsets.jobset.x-k8s.io}
spec:
  group: jobset.x-k8s.io
  names: {kind: JobSet, plural: jobsets}
  scope: Namespaced
  versions:
    - name: v1alpha2
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
PROJECT = "apiVersion: trainc.dev/v1alpha1\nkind: Project\nspec: {clusters: {eu: {folder: dumps}}}\n"
ODD = (
    "{template: {spec: {replicatedJobs: {name: node}}}}",
    "{template: {spec: {replicatedJobs: [x]}}}",
    "{template: {spec: {replicatedJobs: [{name: node, template: {spec: [1]}}]}}}",
    "{template: [1], mlPolicy: {numNodes: {}}}",
    "{template: {spec: {replicatedJobs: [{name: node, replicas: [], template: {spec: {template: {spec: {containers: {}}}}}}]}}}",
)


@pytest.mark.parametrize("spec", ODD)
def test_versions_that_are_not_known(spec: str, tmp_path: Path) -> None:
    write(tmp_path, {"job.yaml": f"{JOB}---\n{RUNTIME}{spec}\n"})
    found = compile_in(tmp_path, "validate")
    assert found.code == 1
    assert "error[invalid-field]" in found.err


@pytest.mark.parametrize(
    "spec",
    ["{replicatedJobs: [{name: a, template: [1]}]}", "{replicatedJobs: {}}", "{network: [], replicatedJobs: [x]}"],
)
def test_definitions_that_allow_anything(spec: str, tmp_path: Path) -> None:
    write(tmp_path, {"trainc.yaml": PROJECT, "dumps/crd.yaml": ANYTHING, "job.yaml": f"{JOBSET}{spec}\n"})
    found = compile_in(tmp_path, "validate")
    assert found.code == 1
    assert "error[invalid-field]" in found.err


def test_nulls_are_absent_fields(tmp_path: Path) -> None:
    spec = "{network: null, replicatedJobs: [{name: a, template: null}]}"
    write(tmp_path, {"trainc.yaml": PROJECT, "dumps/crd.yaml": ANYTHING, "job.yaml": f"{JOBSET}{spec}\n"})
    assert compile_in(tmp_path, "validate").code in {0, 1}
