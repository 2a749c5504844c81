"""Frameworks that listen on one port in every pod, or lose a pod and get it back: run from the emitted manifests."""

import re
import shutil
from pathlib import Path

import yaml

from tests.authoring.rehearse.pods_in_namespaces import rehearse
from tests.authoring.rehearse.test_other_kinds import needs
from tests.compiling import ROOT, compile_in

# Rank 1 kills its own agent once, in the middle of training; what it wrote first stays, as on a volume.
LOSES_ITS_AGENT = """
import os, pathlib, signal, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
mark = pathlib.Path(sys.argv[1])
for step in range(3):
    total = torch.tensor([float(dist.get_rank() + 1)])
    dist.all_reduce(total)
    if step == 1 and dist.get_rank() == 1 and not mark.exists():
        mark.touch()
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(1)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: sum {int(total.item())}, restart {os.environ['TORCHELASTIC_RESTART_COUNT']}")
dist.destroy_process_group()
"""


def example(name: str, folder: Path, *, seconds: int = 500) -> str:
    """What the pods of a shipped example print, as it stands."""
    place = folder / name
    shutil.copytree(ROOT / "examples" / name, place)
    run = compile_in(place, "build", "jobs")
    assert run.code == 0, run.err
    done = rehearse(run.objects, folder, where=place, seconds=seconds)
    assert done.succeeded, done.out
    return done.out


def test_lightgbm_workers_make_one_model(tmp_path: Path) -> None:
    needs("lightgbm")
    lines = re.findall(r"worker (\d) of 3: error [\d.]+, model (\w+)", example("lightgbm", tmp_path))
    assert sorted(rank for rank, _ in lines) == ["0", "1", "2"]
    assert len({model for _, model in lines}) == 1


def test_paddle_launchers_meet_at_the_leader(tmp_path: Path) -> None:
    """The launchers run as in the manifest; the ranks that they give out add up on every node."""
    needs("paddle")
    out = example("paddle", tmp_path)
    assert set(re.findall(r"rank (\d) of 3: sum over ranks 6", out)) == {"0", "1", "2"}, out


def test_a_torch_node_that_loses_its_agent_comes_back(tmp_path: Path) -> None:
    """The Job makes the pod again, the other agent meets it again, and both end the training."""
    needs("torch")
    (tmp_path / "train.py").write_text(LOSES_ITS_AGENT)
    launch = ["torchrun", "--rdzv-backend=c10d", "--rdzv-endpoint=$(PET_MASTER_ADDR):$(PET_MASTER_PORT)"]
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "elastic", "namespace": "ml"},
        "spec": {
            "runtimeRef": {"name": "elastic"},
            "trainer": {
                "numNodes": 2,
                "command": [*launch, "--max-restarts=3", str(tmp_path / "train.py"), str(tmp_path / "mark")],
                "resourcesPerNode": {"limits": {"cpu": 1, "memory": "1Gi"}},
            },
        },
    }
    pod = {"containers": [{"name": "node", "image": "registry.example/torch:1"}], "restartPolicy": "Never"}
    step = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    template = {"metadata": {"labels": step}, "spec": {"backoffLimit": 3, "template": {"spec": pod}}}
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "elastic", "labels": {"trainer.kubeflow.org/framework": "torch"}},
        "spec": {
            "mlPolicy": {"numNodes": 2, "torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": template}]}},
        },
    }
    (tmp_path / "job.yaml").write_text(yaml.safe_dump_all([runtime, job], sort_keys=False), "utf-8")
    run = compile_in(tmp_path, "build", "job.yaml")
    assert run.code == 0, run.err
    done = rehearse(run.objects, tmp_path, where=tmp_path, seconds=500)
    assert done.succeeded, done.out
    assert "[elastic-node-0-1] ended with -9" in done.out, done.out
    assert sorted(re.findall(r"rank (\d) of 2: sum 3, restart", done.out)) == ["0", "1"], done.out
