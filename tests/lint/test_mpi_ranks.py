"""`trainc show` of MPI jobs: ranks are those of the processes that mpirun starts, slot by slot."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import ROOT, compile_in


def job_folder(tmp_path: Path, command: str) -> Path:
    """The example of four nodes with four slots each, started by another command."""
    shutil.copytree(ROOT / "examples/mpi", tmp_path / "mpi", ignore=shutil.ignore_patterns("output"))
    job = next(file for file in (tmp_path / "mpi").rglob("*.yaml") if 'command: [mpirun, -n, "16"]' in file.read_text())
    job.write_text(job.read_text().replace('[mpirun, -n, "16"]', command))
    return tmp_path / "mpi"


def shown(folder: Path, *argv: str) -> Any:
    run = compile_in(folder, "show", ".", "--report", "json", *argv)
    return json.loads(run.out)[0] if run.out else None


@pytest.mark.parametrize(
    ("command", "ranks", "size"),
    [
        ('[mpirun, -n, "16"]', [0, 15], 16),
        ('[mpirun, -np, "6"]', [0, 5], 6),
        ("[mpirun]", [0, 15], 16),
        ('[mpirun, -n, "16", --map-by, node]', None, 16),
        ('[mpirun, -n, "8", -N, "2"]', None, 8),
    ],
)
def test_ranks_of_roles(tmp_path: Path, command: str, ranks: list[int] | None, size: int) -> None:
    view = shown(job_folder(tmp_path, command))
    assert {role["name"]: role["ranks"] for role in view["roles"]} == {"node": ranks, "launcher": None}
    assert view["worldSize"] == size


@pytest.mark.parametrize(
    ("rank", "host"), [(0, "pi-node-0-0"), (3, "pi-node-0-0"), (4, "pi-node-0-1"), (5, "pi-node-0-1")]
)
def test_the_worker_of_a_process(tmp_path: Path, rank: int, host: str) -> None:
    pod = shown(job_folder(tmp_path, '[mpirun, -np, "6"]'), "--rank", str(rank))
    assert (pod["rank"], pod["host"]) == (rank, host)


def test_no_pod_for_a_process_that_is_not_started(tmp_path: Path) -> None:
    assert shown(job_folder(tmp_path, '[mpirun, -np, "6"]'), "--rank", "6") is None
