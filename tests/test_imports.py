"""A cold start is short beside Git and pre-commit: heavy libraries are loaded by the commands that need them."""

import resource
import subprocess
import sys
from pathlib import Path

from benchmarks import tree
from tests.compiling import ROOT, relative_environment

MAX_RATIO = 8  # of processor time, against `python -c pass`
RUNS = 7  # of which the fastest counts: a machine can be slow, and is never too fast


def seconds(*words: str, folder: Path) -> float:
    """The least processor time that a Python process with these words takes, of some runs."""
    taken = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *words],
            check=True,
            cwd=folder,
            env={**relative_environment(), "PYTHONPATH": str(ROOT)},
            capture_output=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def test_a_cold_validate_takes_little_more_than_a_start_of_python(tmp_path: Path) -> None:
    tree.write(1, str(tmp_path))
    nothing = seconds("-c", "pass", folder=tmp_path)
    assert seconds("-m", "trainc", "validate", "--no-cache", tree.job(0)[0], folder=tmp_path) < MAX_RATIO * nothing
