"""A job is let go once it is compiled: ten thousand of them are never in memory together."""

import gc
from pathlib import Path

import pytest

from benchmarks import tree
from trainc import cli
from trainc.lint.across_jobs import SharedNames
from trainc.model.document import Document

pytestmark = pytest.mark.slow

JOBS = 20
FEW = 5  # the job at hand, as it was read and as a server stores it, and the one before


def test_jobs_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write(JOBS, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    alive: list[int] = []
    gc.collect()
    gc.freeze()  # what other tests left is looked at once
    add = SharedNames.add

    def counted(*words: object) -> None:
        add(*words)  # type: ignore[arg-type]
        gc.collect()
        alive.append(sum(type(one) is Document and one.file.startswith("jobs/") for one in gc.get_objects()))

    monkeypatch.setattr(SharedNames, "add", counted)
    assert cli.main(["validate", "jobs", "--no-cache", "--jobs", "1"]) == 0
    gc.unfreeze()
    assert len(alive) == JOBS
    assert max(alive) <= FEW
