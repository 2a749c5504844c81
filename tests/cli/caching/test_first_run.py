"""The first run that writes makes the output folder, which changes the folder above it; what it found is kept all the same."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.caching.test_stale import agrees, compiled
from tests.repository import Repository, job
from trainc.cli.caching.listing import is_settled, state_of
from trainc.compiler.emit.spool.folder import FolderSpool

SETTLED = 0.2  # seconds, on a file system with a fine clock


@pytest.fixture
def repository(tmp_path: Path, cache: Path) -> Repository:
    """Four jobs of which nothing is known or rendered, old enough to be relied on."""
    del cache
    (folder := tmp_path / "repository").mkdir()
    made = Repository(folder, *[f"job-{number}" for number in range(4)])
    time.sleep(SETTLED)
    if not is_settled(state_of(folder.stat()), time.time_ns()):
        pytest.skip("this file system counts time in steps that are too long to wait for")
    return made


def around(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object], after: Callable[[], object]) -> None:
    """Let somebody else do something just before and after the run writes."""
    own = FolderSpool.write

    def write(spool: FolderSpool) -> None:
        before()
        own(spool)
        after()

    monkeypatch.setattr(FolderSpool, "write", write)


def test_it_is_the_only_one_that_compiles(repository: Repository) -> None:
    assert compiled(repository.run("build", "-w")) == 4
    assert compiled(agrees(repository, "build", "-w")) == 0


def test_a_file_that_comes_and_goes_before_it_writes(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def come_and_go() -> None:
        repository.write("passing.yaml", job("late"))
        (repository.folder / "passing.yaml").unlink()

    around(monkeypatch, come_and_go, list)
    assert compiled(repository.run("build", "-w")) == 4
    monkeypatch.undo()
    assert compiled(repository.run("build", "-w")) == 4


@pytest.mark.parametrize("path", ["late.yaml", "more/late.yaml", "jobs/late.yaml"])
def test_a_file_that_comes_once_it_writes(repository: Repository, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    around(monkeypatch, list, lambda: repository.write(path, job("late")))
    assert compiled(repository.run("build", "-w")) == 4
    monkeypatch.undo()
    assert "wrote 1," in repository.run("build", "-w").err
    assert (repository.folder / "rendered" / "research" / "late.yaml").is_file()


def test_a_file_that_goes_once_it_writes(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    around(monkeypatch, list, (repository.folder / "jobs" / "job-3.yaml").unlink)
    assert compiled(repository.run("build", "-w")) == 4
    monkeypatch.undo()
    repository.run("build", "-w")
    assert not (repository.folder / "rendered" / "research" / "job-3.yaml").exists()
