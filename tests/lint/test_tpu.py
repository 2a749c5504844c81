"""TPU slices: which shapes exist, how many chips a pod has, and whether the pods of a Job make the slice."""

import pytest

from tests.lint.reading import verified

TPU = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: slices}}
spec:
  failurePolicy: {{maxRestarts: 0}}
  replicatedJobs:
  - name: slice
    replicas: {replicas}
    template:
      spec:
        backoffLimit: 0
        completionMode: Indexed
        parallelism: {pods}
        completions: {pods}
        template:
          metadata: {{annotations: {annotations}}}
          spec:
            restartPolicy: Never
            nodeSelector: {selector}
            containers:
            - name: jax
              image: registry.example.com/train:1.0
              command: [python, train.py]
              env: {env}
              resources: {{limits: {{google.com/tpu: {chips}, memory: 64Gi}}}}
"""
LABEL = "cloud.google.com/gke-tpu-"
MISMATCH, UNKNOWN, HOST, HALF = (
    "tpu-topology-mismatch",
    "tpu-topology-unknown",
    "tpu-chips-per-host",
    "multislice-half-set-up",
)


def rules(accelerator: str, topology: str, pods: int, chips: int, part: str = "", **more: object) -> set[str]:
    said = {
        "replicas": more.get("replicas", 1),
        "pods": pods,
        "chips": chips,
        "env": more.get("env", "[]"),
        "annotations": f"{{{LABEL}slice-topology: {part}}}" if part else "{}",
        "selector": f"{{{LABEL}accelerator: {accelerator}" + (f", {LABEL}topology: {topology}}}" if topology else "}"),
    }
    found = verified(TPU.format(**said)).findings
    return {finding.rule.name for finding in found if finding.level != "note"}


@pytest.mark.parametrize(
    ("accelerator", "topology", "pods", "chips", "expected"),
    [
        ("tpu-v4-podslice", "2x2x1", 1, 4, set()),
        ("tpu-v4-podslice", "8x4x4", 32, 4, set()),  # v4 has shapes in any order
        ("tpu-v4-podslice", "16x16x20", 1280, 4, {UNKNOWN}),  # 80 cubes
        ("tpu-v5p-slice", "1x1x1", 1, 1, set()),
        ("tpu-v5p-slice", "2x1x1", 1, 2, set()),
        ("tpu-v5p-slice", "2x2x1", 1, 4, set()),
        ("tpu-v5p-slice", "2x2x1", 2, 2, {HOST}),
        ("tpu-v5p-slice", "4x4x8", 32, 4, set()),
        ("tpu-v5p-slice", "8x4x4", 32, 4, {UNKNOWN}),
        ("tpu-v5p-slice", "4x4x6", 24, 4, {UNKNOWN}),
        ("tpu-v5p-slice", "0x4x4", 1, 4, {UNKNOWN, MISMATCH}),
        ("tpu-v5-lite-podslice", "2x4", 1, 8, set()),
        ("tpu-v5-lite-podslice", "2x4", 2, 4, set()),
        ("tpu-v5-lite-podslice", "4x2", 2, 4, {UNKNOWN}),
        ("tpu-v5-lite-podslice", "16x16", 64, 4, set()),
        ("tpu-v5-lite-podslice", "4x4", 2, 8, {HOST}),  # hosts of eight chips stand alone
        ("tpu-v6e-slice", "1x1", 1, 1, set()),
        ("tpu-v6e-slice", "2x2", 4, 1, {HOST}),
        ("tpu-v6e-slice", "4x4", 4, 4, set()),
        ("tpu-v6e-slice", "4x4", 3, 4, {MISMATCH}),
        ("tpu7x", "1x1x1", 1, 1, set()),
        ("tpu7x", "4x12x116", 1392, 4, set()),
        ("tpu7x", "4x4x580", 2320, 4, {UNKNOWN}),  # 145 cubes
    ],
)
def test_slices(accelerator: str, topology: str, pods: int, chips: int, expected: set[str]) -> None:
    assert rules(accelerator, topology, pods, chips) == expected


@pytest.mark.parametrize(
    ("accelerator", "topology", "part", "pods", "expected"),
    [
        ("tpu-v6e-slice", "4x4", "2x4", 2, set()),  # a part of a node pool
        ("tpu-v6e-slice", "4x4", "2x4", 4, {MISMATCH}),
        ("tpu7x", "4x4x4", "4x4x8", 32, set()),  # put together from node pools
        ("tpu7x", "", "4x12x16", 192, set()),
        ("tpu7x", "", "4x12x16", 191, {MISMATCH}),
        ("tpu7x", "", "4x12x18", 216, {UNKNOWN}),
    ],
)
def test_slices_that_gke_makes(accelerator: str, topology: str, part: str, pods: int, expected: set[str]) -> None:
    assert rules(accelerator, topology, pods, 4, part) == expected


def test_hosts_that_are_slices_by_themselves_run() -> None:
    selector = f"{{{LABEL}accelerator: tpu-v6e-slice, {LABEL}topology: 2x4}}"
    text = TPU.format(replicas=1, pods=3, chips=8, env="[]", annotations="{}", selector=selector)
    found = {finding.rule.name: finding.level for finding in verified(text).findings}
    assert found[MISMATCH] == "warning"


MEGASCALE = """[
  {name: MEGASCALE_NUM_SLICES, valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/replicatedjob-replicas']"}}},
  {name: MEGASCALE_SLICE_ID, valueFrom: {fieldRef: {fieldPath: "metadata.labels['jobset.sigs.k8s.io/job-index']"}}},
  {name: MEGASCALE_COORDINATOR_ADDRESS, value: slices-slice-0-0.slices}]"""


@pytest.mark.parametrize(
    ("replicas", "part", "expected"),
    [(1, "", set()), (2, "4x4x4", set()), (2, "", {HALF})],  # the last lacks a node pool for each slice
)
def test_launchers_write_the_same_for_one_slice_and_many(replicas: int, part: str, expected: set[str]) -> None:
    assert rules("tpu7x", "4x4x4", 16, 4, part, replicas=replicas, env=MEGASCALE) == expected
