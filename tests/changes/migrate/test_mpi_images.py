"""Images of an MPIJob after its migration: launcher and workers keep what each of them had."""

from pathlib import Path

from tests.compiling import compile_in
from tests.repository import write

LAUNCHER, WORKER = "registry.example.com/hpc/launcher:1.0", "registry.example.com/hpc/worker:2.0"
MPI_JOB = f"""\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {{name: solver, namespace: research}}
spec:
  mpiReplicaSpecs:
    Launcher:
      template:
        spec:
          containers:
            - {{name: launcher, image: {LAUNCHER}, command: [mpirun, -np, "2", /opt/solver]}}
    Worker:
      replicas: 2
      template:
        spec:
          containers:
            - {{name: worker, image: {WORKER}}}
"""


def test_workers_with_another_image_than_the_launcher_keep_it(tmp_path: Path) -> None:
    """The image of the job is the launcher's alone: one for all would run the workers without their program."""
    write(tmp_path, {"solver.yaml": MPI_JOB})
    before = _images(tmp_path)
    assert compile_in(tmp_path, "migrate", "-w", "solver.yaml").code == 0
    assert "kind: TrainJob\n" in (tmp_path / "solver.yaml").read_text("utf-8")
    assert _images(tmp_path) == before == [WORKER, LAUNCHER]


def _images(folder: Path) -> list[str]:
    done = compile_in(folder, "build", "solver.yaml")
    assert done.code == 0
    return [line.partition("image: ")[2] for line in done.out.splitlines() if "image: " in line]
