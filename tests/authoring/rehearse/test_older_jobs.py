"""Older jobs meet as they did under their operators, and the TrainJob that one becomes computes the same."""

import os
import re
from pathlib import Path

import pytest

from tests.authoring.rehearse.test_rehearsals import needs, rehearsed
from tests.compiling import ROOT
from trainc.changes.migrate import migrate

pytestmark = pytest.mark.slow

LOSS = re.compile(r"rank \d of 4: loss ([\d.]+)")


@needs("jax")
def test_the_processes_of_a_jaxjob_meet() -> None:
    done = rehearsed("jaxjob", "--directory", "examples/jaxjob")
    assert (done.returncode, "2 processes: y = 3.00 x + 1.00" in done.stdout) == (0, True)


@needs("torch")
def test_a_pytorchjob_and_the_trainjob_it_becomes_have_one_loss(tmp_path: Path) -> None:
    example = ROOT / "examples/pytorchjob"
    before = rehearsed("pytorchjob", "--directory", str(example))
    migrated = tmp_path / "job.yaml"
    migrated.write_text(migrate((example / "jobs/pytorchjob.yaml").read_text("utf-8")).text, "utf-8")
    after = rehearsed(os.path.relpath(migrated, ROOT / "examples"), "--directory", str(example))
    losses = [LOSS.findall(done.stdout) for done in (before, after)]
    assert losses[0] == losses[1]
    assert len(losses[0]) == 4


def test_the_processes_of_a_volcano_job_meet() -> None:
    done = rehearsed("volcanojob", "--directory", "examples/volcanojob")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all 3 processes have met: [0, 1, 2]" in done.stdout
