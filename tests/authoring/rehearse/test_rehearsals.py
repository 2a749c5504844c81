"""Real rendezvous: the frameworks themselves agree that what the examples' manifests say is enough to meet."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.compiling import ROOT

pytestmark = pytest.mark.slow


def needs(module: str) -> pytest.MarkDecorator:
    """Skips where a package is not installed; the README says how to get it."""
    return pytest.mark.skipif(find_spec(module) is None, reason=f"needs the package {module}")


def rehearsed(example: str, *options: str, seconds: int = 120) -> subprocess.CompletedProcess[str]:
    """`trainc rehearse` of an example, with the programs of this environment first."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    command = [sys.executable, "-m", "trainc", "rehearse", f"examples/{example}", "--yes", "--timeout", str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    return subprocess.run(
        [*command, *options], check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )


@needs("jax")
def test_jax_processes_share_their_gradients() -> None:
    done = rehearsed("jax-cpu", "--nodes", "2", "--command", "python train.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 processes: y = 3.00 x + 1.00" in done.stdout
    assert "all 2 processes exited with 0" in done.stderr


@needs("jax")
def test_the_command_of_the_readme_works_as_it_is_printed(tmp_path: Path) -> None:
    done = rehearsed("jax-cpu", "--nodes", "2", "--logs", str(tmp_path / "logs"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "`/opt/train/train.py` is in the image; `train.py` of this folder runs in its place" in done.stderr
    assert re.search(r"^  node-1 +succeeded +\S", done.stderr, re.MULTILINE)
    for index in range(2):
        said = [line.partition("| ")[2] for line in done.stdout.splitlines() if line.startswith(f"node-{index} ")]
        assert (tmp_path / f"logs/node-{index}.log").read_text("utf-8").splitlines() == said


def test_the_first_failure_ends_the_others_and_says_where_they_wait() -> None:
    script = 'if [ "$JAX_PROCESS_ID" = 1 ]; then echo lost; exit 7; fi; echo waiting; exec sleep 60'
    done = rehearsed("jax-cpu", "--nodes", "3", "--command", shlex.join(["sh", "-c", script]), seconds=60)
    assert done.returncode == 1
    assert re.search(r"^  node-1 +exit code 7 +lost$", done.stderr, re.MULTILINE)
    assert "  node-1: exited with code 7, the first to fail\n" in done.stderr
    assert re.search(r"node-0: stopped: `node-1` failed; rendezvous: \S+ \(JAX_COORDINATOR", done.stderr)


@needs("torch")
def test_every_torch_rank_ends_with_the_loss_of_a_single_process() -> None:
    together, alone = rehearsed("torch-cpu"), rehearsed("torch-cpu", "--nodes", "1", "--command", ALONE)
    assert together.returncode == 0, together.stdout + together.stderr
    losses = re.findall(r"rank \d of 4: sum over ranks 10, loss ([\d.]+)", together.stdout)
    single = re.findall(r"rank 0 of 1: sum over ranks 1, loss ([\d.]+)", alone.stdout)
    assert len(losses) == 4
    assert [float(loss) for loss in losses] == pytest.approx([float(single[0])] * 4, abs=1e-5)


ALONE = "torchrun --nproc-per-node 1 train.py --steps 40"


@needs("xgboost")
def test_xgboost_workers_make_the_model_of_a_single_process() -> None:
    together, alone = rehearsed("xgboost"), rehearsed("xgboost", "--nodes", "1")
    assert together.returncode == 0, together.stdout + together.stderr
    errors = re.findall(r"worker \d of 3: error ([\d.]+)", together.stdout)
    single = re.findall(r"worker 0 of 1: error ([\d.]+)", alone.stdout)
    assert len(errors) == 3
    assert [float(error) for error in errors] == pytest.approx([float(single[0])] * 3, rel=1e-3)


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun (Debian: openmpi-bin)")
def test_mpirun_finds_its_slots_in_the_hostfile() -> None:
    command = "mpirun --allow-run-as-root -n 16 sh -c 'echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE'"
    done = rehearsed("mpi", "--command", command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(map(int, re.findall(r"rank (\d+) of 16", done.stdout))) == list(range(16))


@needs("tensorflow")
def test_tensorflow_workers_read_one_cluster() -> None:
    done = rehearsed("tensorflow", "--nodes", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(re.findall(r"worker (\d) of 2: loss", done.stdout)) == ["0", "1"]


def test_processes_that_do_not_meet_are_told_apart() -> None:
    command = f"{sys.executable} -c 'import os,time; time.sleep(600 * int(os.environ[\"JAX_PROCESS_ID\"]))'"
    for seconds in (3, 60):  # a busy machine takes longer to start them
        done = rehearsed("jax-cpu", "--nodes", "2", "--command", command, seconds=seconds)
        if f"1 of 2 processes failed within {seconds} seconds:" in done.stderr:
            break
    assert done.returncode == 1
    assert f"1 of 2 processes failed within {seconds} seconds:" in done.stderr
    assert "node-1: still running when the rehearsal ended; rendezvous: " in done.stderr
    assert "line-node-0-0.line:29500 (JAX_COORDINATOR_ADDRESS)" in done.stderr


def test_processes_that_open_no_socket_are_not_said_to_meet() -> None:
    done = rehearsed("jax-cpu", "--nodes", "2", "--command", "echo here")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 2 processes exited with 0" in done.stderr


def test_a_folder_that_is_not_there_is_named() -> None:
    done = rehearsed("jax-cpu", "--directory", "nowhere")
    assert (done.returncode, "--directory nowhere: no such folder" in done.stderr) == (2, True)


def test_a_rehearsal_asks_first() -> None:
    command = [sys.executable, "-m", "trainc", "rehearse", "examples/torch-cpu"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, input="")
    assert done.returncode == 2
    assert "confirm with --yes" in done.stderr


def test_what_cannot_run_here_is_said() -> None:
    done = rehearsed("initializers", "--command", f"{sys.executable} -c pass", "--nodes", "1")
    assert done.returncode == 0, done.stderr
    assert "skipped: `dataset-initializer`: its command is in the image" in done.stderr
