"""The name that an operator gave the first pod, in the text of a job of today: `fix` writes what the JobSet calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in

if TYPE_CHECKING:
    from pathlib import Path

JOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: distill, namespace: ml}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
    image: registry.example.com/ml/train:1.0
    command:
    - bash
    - -c
    - |
      # the head of the group
      accelerate launch --num_machines=2 --machine_rank=$JOB_COMPLETION_INDEX \\
        --main_process_ip=HOST --main_process_port=29500 train.py  # go
"""


@pytest.mark.parametrize("name", ["distill-worker-0", "distill-master-0"])
def test_a_script_keeps_all_but_the_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("HOST", name), "utf-8")
    assert compile_in(tmp_path, "fix", "-w", "job.yaml").code == 0
    assert (tmp_path / "job.yaml").read_text("utf-8") == JOB.replace("HOST", "distill-node-0-0.distill")


@pytest.mark.parametrize("name", ["distill-worker-1", "other-worker-0"])
def test_another_pod_is_left_to_a_person(name: str, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(JOB.replace("HOST", name), "utf-8")
    compile_in(tmp_path, "fix", "-w", "job.yaml")
    assert (tmp_path / "job.yaml").read_text("utf-8") == JOB.replace("HOST", name)
