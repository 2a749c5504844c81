"""A job whose size is filled in later, for a framework that computes with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.compiling import compile_in

if TYPE_CHECKING:
    from pathlib import Path

ROLE = """\
        - name: {name}
          template:
            metadata:
              labels:
                trainer.kubeflow.org/trainjob-ancestor-step: trainer
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: registry.example.com/research/train:1.0.0
                      command: [mpirun, /opt/train]
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: mpi
spec:
  mlPolicy:
    numNodes: 2
    mpi: {{mpiImplementation: OpenMPI, sshAuthMountPath: /root/.ssh, runLauncherAsNode: {as_node}}}
  template:
    spec:
      replicatedJobs:
"""
JOB = """\
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: nlp}
spec:
  runtimeRef: {name: mpi}
  trainer: {numNodes: "x-${NODES}"}
"""


@pytest.mark.parametrize("as_node", ["true", "false"])
@pytest.mark.parametrize("names", [["launcher", "node"], ["launcher"], ["node"]])
def test_the_number_of_nodes_is_missed(as_node: str, names: list[str], tmp_path: Path) -> None:
    roles = "".join(ROLE.format(name=name) for name in names)
    (tmp_path / "job.yaml").write_text(RUNTIME.format(as_node=as_node) + roles + JOB, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert (run.code, run.out) == (1, "")
    assert "unknown-size" in [finding.rule.name for finding in run.findings]
