"""What is known stays as it is where few files changed; the answer to them holds for exactly these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.incremental.test_stale import TYPO, agrees, compiled, is_answered, known_repository
from trainc.incremental import listing

if TYPE_CHECKING:
    from pathlib import Path

    from tests.repository import Repository


@pytest.fixture
def repository(tmp_path: Path, cache: Path, settled: None) -> Repository:
    del cache, settled
    return known_repository(tmp_path)


def test_a_change_leaves_what_is_known_as_it_is(repository: Repository, cache: Path) -> None:
    """The answer to it is kept beside that, and holds for exactly these files."""
    known = {path: path.read_bytes() for path in cache.iterdir()}
    text = repository.read("jobs/job-3.yaml")
    repository.write("jobs/job-3.yaml", text + "# a word\n")
    assert compiled(agrees(repository, "validate")) == 1
    assert is_answered(repository, "validate")
    assert {path: path.read_bytes() for path in known} == known
    repository.change("jobs/job-5.yaml", *TYPO)
    run = agrees(repository, "validate")
    assert (run.code, compiled(run)) == (1, 1), "the job with the mistake is refused, the other one compiled again"
    repository.write("jobs/job-3.yaml", text)
    repository.change("jobs/job-5.yaml", *reversed(TYPO))
    assert compiled(agrees(repository, "validate")) == 0
    assert is_answered(repository, "validate")


def test_many_changes_are_known_anew(repository: Repository, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainc.cli.memory.MAX_DIFFERENT", 1)
    known = {path: path.read_bytes() for path in cache.iterdir()}
    for number in (3, 5):
        repository.write(f"jobs/job-{number}.yaml", repository.read(f"jobs/job-{number}.yaml") + "# a word\n")
        agrees(repository, "validate")
    assert {path: path.read_bytes() for path in known} != known
    assert is_answered(repository, "validate")
    repository.write("jobs/job-1.yaml", repository.read("jobs/job-1.yaml") + "# a word\n")
    assert compiled(agrees(repository, "validate")) == 1


def test_an_answer_to_a_young_change_is_not_kept(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.write("jobs/job-3.yaml", repository.read("jobs/job-3.yaml") + "# a word\n")
    for name in ("_FINE", "_COARSE"):
        monkeypatch.setattr(listing, name, 3_600_000_000_000)
    for _ in range(2):
        assert compiled(agrees(repository, "validate")) == 1
    assert not is_answered(repository, "validate")


def test_a_folder_that_changes_during_a_run_leaves_no_answer(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that comes and goes meanwhile is in no listing."""
    repository.write("jobs/job-3.yaml", repository.read("jobs/job-3.yaml") + "# a word\n")
    monkeypatch.setattr("trainc.incremental.recent.are_settled", lambda *_: False)
    agrees(repository, "validate")
    assert not is_answered(repository, "validate")


def test_a_damaged_recent_answer_is_none(repository: Repository, cache: Path) -> None:
    known = set(cache.iterdir())
    repository.write("jobs/job-3.yaml", repository.read("jobs/job-3.yaml") + "# a word\n")
    repository.run("validate")
    [recent] = set(cache.iterdir()) - known
    for damaged in (recent.read_bytes()[:-1], b"", bytes(64)):
        recent.write_bytes(damaged)
        assert not is_answered(repository, "validate")
        assert is_answered(repository, "validate")
