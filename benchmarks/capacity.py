"""What it costs to judge jobs by a cluster's dump: 10,000 different jobs, 2,000 nodes, 50 queues.

`python -m benchmarks.capacity [JOBS]` prints the processor time of `build` without a dump, of `build` with one, and of
`fit`, each in a process of its own.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from trainc.yaml.writer import dump

NODES, QUEUES, POOLS = 2_000, 50, 50
PROJECT = """apiVersion: trainc.dev/v1alpha1
kind: Project
spec: {clusters: {big: {folder: clusters/big, scheduler: kueue}}}
"""
RUNTIME = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {numNodes: 1, torch: {}}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec:
              template:
                spec: {containers: [{name: node, image: "registry.example.com/t:1", command: [torchrun, train.py]}]}
"""
JOB = """apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {{name: run-{at}, namespace: team-{queue}, labels: {{kueue.x-k8s.io/queue-name: q}}}}
spec:
  runtimeRef: {{name: torch}}
  trainer:
    numNodes: {nodes}
    resourcesPerNode:
      requests: {{cpu: {cpu}, memory: {memory}Gi, nvidia.com/gpu: {gpus}}}
      limits: {{nvidia.com/gpu: {gpus}}}
"""


def write(folder: Path, jobs: int) -> None:
    """A repository whose jobs differ in what they ask for, and the inventory of its cluster."""
    for name in ("jobs", "runtimes", "clusters/big"):
        (folder / name).mkdir(parents=True)
    (folder / "trainc.yaml").write_text(PROJECT, "utf-8")
    (folder / "runtimes/torch.yaml").write_text(RUNTIME, "utf-8")
    random = Random(1)  # noqa: S311 (which jobs, not which keys)
    for at in range(jobs):
        text = JOB.format(
            at=at,
            queue=at % QUEUES,
            nodes=random.randint(1, 32),
            cpu=random.randint(4, 96),
            memory=random.choice([64, 128, 256]),
            gpus=random.choice([1, 2, 4, 8]),
        )
        (folder / f"jobs/run-{at}.yaml").write_text(text, "utf-8")


def inventory() -> str:
    """50 queues in 10 cohorts, each with two flavors, and 2,000 nodes in 50 pools."""
    objects: list[object] = []
    quotas = [("cpu", "4000"), ("memory", "16Ti"), ("nvidia.com/gpu", "256")]
    resources = [{"name": name, "nominalQuota": amount} for name, amount in quotas]
    for at in range(QUEUES):
        flavors = [{"name": f"f{one % QUEUES}", "resources": resources} for one in (at, at + 1)]
        groups = [{"coveredResources": [name for name, _ in quotas], "flavors": flavors}]
        queue = {"cohortName": f"c{at // 5}", "namespaceSelector": {}, "resourceGroups": groups}
        api = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
        objects += [
            {
                **api,
                "kind": "ResourceFlavor",
                "metadata": {"name": f"f{at}"},
                "spec": {"nodeLabels": {"pool": f"p{at}"}},
            },
            {**api, "kind": "ClusterQueue", "metadata": {"name": f"cq{at}"}, "spec": queue},
            {
                **api,
                "kind": "LocalQueue",
                "metadata": {"name": "q", "namespace": f"team-{at}"},
                "spec": {"clusterQueue": f"cq{at}"},
            },
        ]
    room = {"cpu": "128", "memory": "1Ti", "nvidia.com/gpu": "8", "pods": "110"}
    nodes = [
        {"names": [f"n{at}" for at in range(pool, NODES, POOLS)], "labels": {"pool": f"p{pool}"}, "allocatable": room}
        for pool in range(POOLS)
    ]
    spec = {"date": "2026-08-22T08:00:00Z", "nodes": nodes, "objects": objects}
    return dump({"apiVersion": "trainc.dev/v1alpha1", "kind": "Inventory", "spec": spec})


def seconds(folder: Path, *words: str) -> float:
    """The processor time of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "trainc", *words], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(jobs: int) -> dict[str, float]:
    """The seconds of each command."""
    build = ("build", "--no-cache", "--jobs", "1", ".")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "repository"
        write(folder, jobs)
        found = {"build": seconds(folder, *build)}
        (folder / "clusters/big/inventory.yaml").write_text(inventory(), "utf-8")
        found["build with a dump"] = seconds(folder, *build)
        found["fit"] = seconds(folder, "fit", ".")
    return found


if __name__ == "__main__":
    for name, spent in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000).items():
        print(f"{name:20} {spent:6.2f} s")
