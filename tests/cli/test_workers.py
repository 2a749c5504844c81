"""The number of workers changes how long a run takes, and nothing else."""

import os
import shutil
from pathlib import Path

import pytest

from tests.repository import Repository, commit_all, job
from trainc.cli.caching import listing
from trainc.cli.compiling import workers
from trainc.compiler import load
from trainc.compiler.project import open_project
from trainc.model.report import Report
from trainc.model.settings import Selection

pytestmark = pytest.mark.slow

NAMES = [f"job-{number:02}" for number in range(23)]
COUNTS = ["2", "5"]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path, *NAMES)


@pytest.mark.parametrize("words", [("build",), ("build", "--format", "json"), ("validate",), ("build", "--check")])
def test_the_same_words(repository: Repository, words: tuple[str, ...]) -> None:
    repository.job("broken-elsewhere")
    one = repository.run(*words, "--jobs", "1")
    for count in COUNTS:
        many = repository.run(*words, "--jobs", count)
        assert (many.code, many.out, many.err) == (one.code, one.out, one.err), count


def test_more_workers_than_jobs(repository: Repository) -> None:
    one, many = (repository.run("build", "--jobs", count) for count in ("1", "40"))
    assert (many.code, many.out, many.err) == (one.code, one.out, one.err)


def test_the_same_findings(repository: Repository) -> None:
    for name in NAMES[::3]:
        repository.change(f"jobs/{name}.yaml", "numNodes: 2", "numNodes: many")
    repository.change(f"jobs/{NAMES[-1]}.yaml", f"name: {NAMES[-1]}", f"name: {NAMES[1]}")
    one = repository.run("validate", "--jobs", "1")
    assert one.code == 1
    assert "same-name" in one.err
    assert [repository.run("validate", "--jobs", count).err for count in COUNTS] == [one.err] * len(COUNTS)


def test_the_same_comments_silence_nothing(repository: Repository) -> None:
    for name in NAMES[1::6]:
        repository.change(f"jobs/{name}.yaml", "    numNodes: 2", "    numNodes: 2  # trainc: allow[nothing] a reason")
    one = repository.run("validate", "-v", "--jobs", "1")
    assert (one.code, one.err.count("unused-allow")) == (0, len(NAMES[1::6]))
    assert [repository.run("validate", "-v", "--jobs", count).err for count in COUNTS] == [one.err] * len(COUNTS)
    repository.change(f"jobs/{NAMES[-1]}.yaml", f"name: {NAMES[-1]}", f"name: {NAMES[1]}")
    one = repository.run("validate", "-v", "--jobs", "1")
    assert (one.code, one.err.count("unused-allow")) == (1, len(NAMES[1::6]))
    assert [repository.run("validate", "-v", "--jobs", count).err for count in COUNTS] == [one.err] * len(COUNTS)
    # A job that is not compiled may be the one that a comment in a shared file is for.
    repository.change(f"jobs/{NAMES[-1]}.yaml", "numNodes: 2", "numNodes: many")
    one = repository.run("validate", "-v", "--jobs", "1")
    assert (one.code, one.err.count("unused-allow")) == (1, 0)
    assert [repository.run("validate", "-v", "--jobs", count).err for count in COUNTS] == [one.err] * len(COUNTS)


def test_the_same_files(repository: Repository) -> None:
    assert repository.run("build", "-w", "--jobs", "3").code == 0
    assert repository.run("build", "--check", "--jobs", "1").code == 0
    commit_all(repository.folder)
    repository.change("runtimes/torch.yaml", "16Gi", "32Gi")
    kept = repository.run("build", "-w", "--jobs", "4")
    assert "23 runs keep their rendering (runtimes/torch.yaml changed)" in kept.err
    for name in NAMES[:5]:
        (repository.folder / f"jobs/{name}.yaml").unlink()
    assert repository.run("build", "-w", "--jobs", "2").code == 0
    assert len(repository.rendered()) == len(NAMES) - 5


def test_one_error_and_nothing_is_written(repository: Repository) -> None:
    repository.change(f"jobs/{NAMES[-1]}.yaml", "numNodes: 2", "numNodes: many")
    assert repository.run("build", "-w", "--jobs", "2").code == 1
    assert repository.rendered() == {}


@pytest.mark.parametrize("number", ["0", "-1", "x", "1e3", "9999"])
def test_a_number_of_workers(repository: Repository, number: str) -> None:
    done = repository.run("build", f"--jobs={number}")
    assert done.code == 2
    assert "--jobs must be a number" in done.err


def test_trouble_of_a_worker_is_told(repository: Repository) -> None:
    (repository.folder / f"jobs/{NAMES[-1]}.yaml").write_bytes(b"")
    with (repository.folder / f"jobs/{NAMES[-1]}.yaml").open("wb") as stream:
        stream.truncate(65 << 20)
    done = repository.run("build", "--jobs", "2")
    assert done.code == 2
    assert "the limit for a spec" in done.err


@pytest.mark.parametrize(("files", "each", "most"), [(3, 2, 1), (4, 2, 2), (9, 2, 4), (40, 1, 16)])
def test_a_worker_for_each_core_that_has_enough_to_do(files: int, each: int, most: int, tmp_path: Path) -> None:
    for number in range(files):
        (tmp_path / f"{number:02}.yaml").write_text("a: b\n", "utf-8")
    project = open_project((str(tmp_path),), Report())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert workers(project, Selection((".",)), each) == min(cores, most)


LONG = [f"long-{number:02}" for number in range(31)]


@pytest.fixture
def long_file(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A file of many jobs between others, which workers share."""
    monkeypatch.setattr(load, "SHARED", 2_000)
    repository.write("jobs/job-11.yaml", "---\n".join(map(job, LONG)))
    return repository


@pytest.mark.parametrize("words", [("build",), ("build", "--format", "json"), ("validate",), ("build", "-w")])
def test_the_jobs_of_a_long_file(long_file: Repository, words: tuple[str, ...]) -> None:
    one = long_file.run(*words, "--jobs", "1", "--no-cache")
    assert str(len(NAMES) - 1 + len(LONG)) in one.err
    rendered = long_file.rendered()
    for count in COUNTS:
        shutil.rmtree(long_file.folder / "rendered", ignore_errors=True)
        many = long_file.run(*words, "--jobs", count, "--no-cache")
        assert (many.code, many.out, many.err) == (one.code, one.out, one.err), count
        assert long_file.rendered() == rendered


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: long-17\n", "name: long-03\n"),  # twice
        ("name: long-29\n", "name: job-20\n"),
        ("numNodes: 2", "numNodes: many"),
        ("numNodes: 2", "numNodes: 2  # trainc: allow[nothing] a reason"),
        ("kind: TrainJob", "kind: ConfigMap"),
        ("trainer:", "trainer: {"),
    ],
)
def test_the_same_findings_in_a_long_file(long_file: Repository, old: str, new: str) -> None:
    text = long_file.read("jobs/job-11.yaml")
    third = len(text) // 3
    long_file.write("jobs/job-11.yaml", text[:third] + text[third:].replace(old, new, 1))
    for words in (("validate",), ("build",)):
        one = long_file.run(*words, "--jobs", "1")
        assert "jobs/job-11.yaml" in one.err
        for count in COUNTS:
            many = long_file.run(*words, "--jobs", count, "--no-cache")
            assert (many.code, many.out, many.err) == (one.code, one.out, one.err), count


def test_what_workers_found_in_a_long_file_is_known(
    long_file: Repository, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(listing, "FINE", -3_600_000_000_000)
    monkeypatch.setattr(listing, "_COARSE", -3_600_000_000_000)
    first = long_file.run("build", "-w", "--jobs", "3")
    for change in ("jobs/job-02.yaml", "jobs/job-11.yaml"):
        long_file.change(change, "  namespace: research\n", "  namespace: research\n  labels: {team: x}\n")
        again = long_file.run("build", "--check", "--jobs", "3")
        plain = long_file.run("build", "--check", "--no-cache")
        assert (again.code, again.err) == (plain.code, plain.err)
        long_file.run("build", "-w", "--jobs", "3")
    assert first.err == long_file.run("build", "-w").err.replace(
        "wrote 0", f"wrote {len(NAMES) - 1 + len(LONG)}"
    ).replace(f"unchanged {len(NAMES) - 1 + len(LONG)}", "unchanged 0")


def test_a_long_file_is_worth_workers(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(
        "---\n".join(job(f"job-{number}") + "# x\n" * 500 for number in range(500)), "utf-8"
    )
    project = open_project((str(tmp_path),), Report())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert workers(project, Selection((".",)), 100) == min(cores, 11)
