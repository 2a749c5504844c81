"""Jobs of other operators run from their emitted manifests: every pod has its own network, name and files, and all meet."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.authoring.rehearse.pods_in_namespaces import rehearse, why_not
from tests.compiling import ROOT, compile_in

pytestmark = pytest.mark.slow

# Two processes add up their ranks, each one more than its number.
GLOO = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([float(dist.get_rank() + 1)])
dist.all_reduce(total)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: sum {int(total.item())}")
dist.destroy_process_group()
"""
RAY = ROOT / "examples/rayjob"


def needs(*modules: str) -> None:
    """Skip, with the reason, where a package or the namespaces are missing."""
    missing = [module for module in modules if find_spec(module) is None]
    reason = f"needs the packages {', '.join(missing)}" if missing else why_not()
    if reason:
        pytest.skip(reason)


def compiled(folder: Path, job: Any) -> list[Any]:
    """The objects that a job becomes."""
    (folder / "job.yaml").write_text(yaml.safe_dump(job, sort_keys=False), "utf-8")
    run = compile_in(folder, "build", "job.yaml")
    assert run.code == 0, run.err
    return run.objects


def task(name: str, replicas: int, command: list[str], *, ends: bool = False) -> dict[str, Any]:
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}}
    container = {"name": "train", "image": "registry.example/train:1", "command": command, "resources": resources}
    policies = {"policies": [{"event": "TaskCompleted", "action": "CompleteJob"}]} if ends else {}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {"name": name, "replicas": replicas, **policies, "template": template}


def volcano(name: str, plugins: dict[str, list[str]], *tasks: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"plugins": plugins, "tasks": list(tasks)},
    }


def test_the_processes_of_a_volcano_pytorch_job_meet_over_gloo(tmp_path: Path) -> None:
    needs("torch")
    program = ["python", "-c", GLOO]
    job = volcano("ddp", {"pytorch": [], "env": []}, task("master", 1, program, ends=True), task("worker", 1, program))
    done = rehearse(compiled(tmp_path, job), tmp_path)
    assert done.succeeded, done.out
    assert "rank 0 of 2: sum 3" in done.out


def test_tensorflow_reads_the_cluster_of_a_volcano_job(tmp_path: Path) -> None:
    """TensorFlow's own resolver, and collectives between two workers at the addresses that it finds."""
    needs("tensorflow")
    job = volcano("mirrored", {"tensorflow": []}, task("worker", 2, ["python", "train.py"]))
    done = rehearse(compiled(tmp_path, job), tmp_path, where=ROOT / "examples/tensorflow", seconds=240)
    assert done.succeeded, done.out
    assert sorted(re.findall(r"worker (\d) of 2: loss", done.out)) == ["0", "1"], done.out


def test_mpirun_reaches_the_hosts_of_a_volcano_job_over_ssh(tmp_path: Path) -> None:
    """The emitted host file, the emitted configuration of ssh, keys of a Secret, a real sshd in each worker."""
    if shutil.which("mpirun") is None or shutil.which("sshd", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("needs mpirun and sshd (Debian: openmpi-bin, openssh-server)")
    needs()
    subprocess.run(["ssh-keygen", "-q", "-t", "rsa", "-N", "", "-f", tmp_path / "id_rsa"], check=True)
    public = (tmp_path / "id_rsa.pub").read_text("utf-8")
    keys = {"id_rsa": (tmp_path / "id_rsa").read_text("utf-8"), "id_rsa.pub": public, "authorized_keys": public}
    start = [
        *["mpirun", "--allow-run-as-root", "--hostfile", "/etc/volcano/worker.host", "-np", "2", "--map-by", "node"],
        *["--mca", "btl", "self,tcp", "sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK on $(hostname)"],
    ]
    waits = task("worker", 2, ["/usr/sbin/sshd", "-De"])
    job = volcano("ring", {"mpi": [], "ssh": [], "svc": []}, task("master", 1, start, ends=True), waits)
    done = rehearse(compiled(tmp_path, job), tmp_path, secrets={"ring-ssh": keys})
    assert done.succeeded, done.out
    assert sorted(re.findall(r"rank (\d) on (\S+)", done.out)) == [
        ("0", "ring-worker-0-0"),
        ("1", "ring-worker-0-1"),
    ], done.out


def test_each_worker_of_a_rayjob_does_one_task(tmp_path: Path) -> None:
    needs("ray", "aiohttp")
    run = compile_in(RAY, "build", "jobs")
    assert run.code == 0, run.err
    done = rehearse(run.objects, tmp_path, where=RAY, seconds=500)
    assert done.succeeded, done.out
    assert "2 workers: y = 3.00 x" in done.out


def test_a_rayjob_whose_program_fails_has_failed(tmp_path: Path) -> None:
    """`ray job logs --follow` ends with 0 for a program that failed; the emitted driver does not."""
    needs("ray", "aiohttp")
    job = next(yaml.safe_load_all((RAY / "jobs/rayjob.yaml").read_text("utf-8")))
    job["spec"] |= {"entrypoint": "python -c 'raise SystemExit(3)'"}
    job["spec"]["submitterConfig"] = {"backoffLimit": 0}
    done = rehearse(compiled(tmp_path, job), tmp_path, where=RAY, seconds=500)
    assert not done.succeeded
    assert "end: failed" in done.out, done.out
