"""What measures still finds what it measures; how long it took is nobody's business here."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import capacity, estate, tree
from tests.compiling import ROOT, relative_environment


def test_every_stage_has_its_time(tmp_path: Path) -> None:
    tree.write(3, str(tmp_path))
    command = [sys.executable, str(ROOT / "benchmarks" / "stages.py"), str(tmp_path / "jobs")]
    environment = {**relative_environment(), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    spent = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines()}
    assert {stage for stage, seconds in spent.items() if seconds > 0} >= {
        *("read", "parse", "admission", "merge", "lower", "verdict-jobset", "verdict-pods", "lint-life", "emit")
    }


def test_the_grown_example_compiles(tmp_path: Path) -> None:
    estate.grown(tmp_path / "platform", 2)
    assert estate.build(tmp_path / "platform") == 2 * 22


@pytest.mark.slow
def test_jobs_are_judged_by_a_dump() -> None:
    assert set(capacity.measure(3)) == {"build", "build with a dump", "fit"}
