"""A job whose size is filled in later, for a framework that computes with it."""

from pathlib import Path

import pytest

from tests.compiling import compile_in

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


TUNED = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torchtune-llama3.2-1b}
spec:
  mlPolicy: {numNodes: 2, torch: {}}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec:
              template:
                spec:
                  containers:
                    - name: node
                      image: registry.example.com/research/tune:1.0.0
                      command: [tune, run, --config=a, output_dir=/out]
                      resources: {limits: {nvidia.com/gpu: 2}}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: nlp}
spec:
  runtimeRef: {name: torchtune-llama3.2-1b}
  trainer:
    command: [tune, run]
    numNodes: ${NODES}
"""


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("${NODES}", "${NODES}", 1),
        ("${NODES}", "1\n    numProcPerNode: ${PROCS}", 1),
        ("${NODES}", "1", 0),
        ("[tune, run]", "[torchrun, train.py]", 0),
    ],
)
def test_torchtune_alone_has_to_know_the_size(before: str, after: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(TUNED.replace(before, after), "utf-8")
    done = compile_in(tmp_path, "build", "job.yaml")
    assert done.code == code, done.err
    assert ("unknown-size" in done.err) is bool(code)


CLUSTER = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: mpi, labels: {trainer.kubeflow.org/framework: tensorflow}}
spec:
  template:
    spec:
      replicatedJobs:
"""


@pytest.mark.parametrize("role", ["chief", "ps", "evaluator"])
def test_the_size_of_another_part_of_the_cluster_is_missed(role: str, tmp_path: Path) -> None:
    own = ROLE.format(name=role).replace(
        "            spec:\n", '            spec:\n              parallelism: "${N}"\n', 1
    )
    text = CLUSTER + own + ROLE.format(name="worker") + JOB.replace("x-${NODES}", "2").replace('"2"', "2")
    (tmp_path / "job.yaml").write_text(text, "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert (run.code, run.out) == (1, "")
    assert "unknown-size" in [finding.rule.name for finding in run.findings]
