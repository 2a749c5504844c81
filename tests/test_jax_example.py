"""The JAX example trains for real: its processes meet through the variables that trainc wrote."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import ROOT, compile_in
from tests.effort import PATIENCE

pytestmark = pytest.mark.slow

EXAMPLE = ROOT / "examples" / "jax-cpu"


@pytest.mark.skipif(not importlib.util.find_spec("jax"), reason="JAX is not installed")
def test_processes_meet(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("output"))
    run = compile_in(tmp_path, "build", "example")
    [jobset] = [tree for tree in run.objects if tree["kind"] == "JobSet"]
    job = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    variables = {item["name"]: item for item in job["template"]["spec"]["containers"][0]["env"]}
    count = job["parallelism"]
    assert variables["JAX_NUM_PROCESSES"]["value"] == str(count)
    assert "job-completion-index" in variables["JAX_PROCESS_ID"]["valueFrom"]["fieldRef"]["fieldPath"]
    host, _, port = variables["JAX_COORDINATOR_ADDRESS"]["value"].rpartition(":")
    assert (host, port) == ("line-node-0-0.line", "29500")
    assert train(count) == f"{count} processes: y = 3.00 x + 1.00\n"


def train(count: int) -> str:
    """What the first of `count` processes prints, all of them on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    everyone = [start(rank, count, address) for rank in range(count)]
    try:
        printed = [process.communicate(timeout=PATIENCE)[0] for process in everyone]
    finally:
        for process in everyone:
            process.kill()
    return "".join(line for line in printed[0].splitlines(keepends=True) if "processes" in line)


def start(rank: int, count: int, address: str) -> subprocess.Popen[str]:
    variables = {
        "JAX_COORDINATOR_ADDRESS": address,
        "JAX_NUM_PROCESSES": str(count),
        "JAX_PROCESS_ID": str(rank),
        "JAX_PLATFORMS": "cpu",
    }
    program = [sys.executable, str(EXAMPLE / "train.py")]
    return subprocess.Popen(program, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables})
