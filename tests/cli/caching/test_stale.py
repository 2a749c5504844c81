"""No run is ever answered from an entry that is stale, or somebody else's."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.compiling import Run, compile_in, relative_environment
from tests.repository import Repository, unpack
from trainc.cli import build, validate
from trainc.cli.caching import listing, run_cache

TYPO = ("numNodes: 2", "numnodes: 2")  # as long as what it replaces
OTHER = ("line:1.0.0", "line:1.0.1")


@pytest.fixture
def repository(tmp_path: Path, cache: Path, settled: None) -> Repository:
    del cache, settled
    return known_repository(tmp_path)


def known_repository(place: Path) -> Repository:
    """Eight jobs, of which everything is known."""
    (folder := place / "repository").mkdir()
    made = Repository(folder, *[f"job-{number}" for number in range(8)])
    made.run("build", "-w")
    for words in (("validate",), ("build", "-w"), ("build", "--check")):
        made.run(*words)
        assert is_answered(made, *words)
    return made


def is_answered(repository: Repository, *words: str) -> bool:
    """Whether a run needs no compiler."""
    calls, patch = list[str](), pytest.MonkeyPatch()
    for module in (build, validate):
        patch.setattr(module, "run", counted(module.run, calls))
    repository.run(*words)
    patch.undo()
    return not calls


def counted(own: Callable[..., int], calls: list[str]) -> Callable[..., int]:
    def call(*given: Any) -> int:
        calls.append(own.__name__)
        return own(*given)

    return call


def agrees(repository: Repository, *words: str) -> Run:
    """What a run says, which must be what it says without a cache."""
    cached, plain = repository.run(*words), repository.run(*words, "--no-cache")
    assert (cached.code, cached.out, cached.err) == (plain.code, plain.out, plain.err)
    return cached


def compiled(run: Run) -> int:
    return len(run.bundles)


@pytest.mark.slow
def test_a_change_of_one_job_compiles_that_job(repository: Repository) -> None:
    repository.change("jobs/job-3.yaml", *TYPO)
    assert "unknown-field" in agrees(repository, "validate").err
    repository.change("jobs/job-3.yaml", *reversed(TYPO))
    repository.write("jobs/job-3.yaml", repository.read("jobs/job-3.yaml") + "# a word\n")
    assert compiled(agrees(repository, "validate")) == 1


@pytest.mark.slow
def test_same_size_and_old_mtime(repository: Repository) -> None:
    """`touch` can set the time of a change back, but not the time at which it did so."""
    path = repository.folder / "jobs" / "job-1.yaml"
    before = path.stat()
    repository.change("jobs/job-1.yaml", *TYPO)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert agrees(repository, "validate").code == 1


@pytest.mark.slow
def test_same_time_size_and_inode_within_one_tick(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is as young as the run is looked at again, whatever its numbers say."""
    monkeypatch.undo()
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(repository.folder.parent / "young"))
    path = repository.folder / "jobs" / "job-1.yaml"
    path.write_text(path.read_text("utf-8"), "utf-8")
    repository.run("validate")
    frozen = listing.state_of(path.stat())
    repository.change("jobs/job-1.yaml", *TYPO)
    genuine = listing.listing

    def within_one_tick(*given: Any) -> listing.Listing:
        found = genuine(*given)
        found.files["jobs/job-1.yaml"] = frozen
        return found

    monkeypatch.setattr("trainc.cli.caching.run_cache.listing", within_one_tick)
    assert agrees(repository, "validate").code == 1


@pytest.mark.slow
def test_a_clock_that_went_back(repository: Repository) -> None:
    path = repository.folder / "jobs" / "job-1.yaml"
    repository.change("jobs/job-1.yaml", *TYPO)
    os.utime(path, (1, 1))
    assert agrees(repository, "validate").code == 1
    os.utime(path, (2**33, 2**33))
    assert agrees(repository, "validate").code == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", ["copy", "tar", "git"])
def test_a_folder_that_was_restored(repository: Repository, tmp_path: Path, how: str) -> None:
    """The same names, times and sizes, and one other content."""
    folder, backup = repository.folder, tmp_path / "backup"
    shutil.copytree(folder, backup, copy_function=shutil.copy2)
    if how == "git":
        git(folder, "init", "-q")
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "right")
        repository.run("validate")
    repository.change("jobs/job-1.yaml", *TYPO)
    assert agrees(repository, "validate").code == 1
    if how == "git":
        git(folder, "checkout", "-q", "--", "jobs")
    elif how == "tar":
        with tarfile.open(tmp_path / "backup.tar", "w") as archive:
            archive.add(backup, ".")
        with tarfile.open(tmp_path / "backup.tar") as archive:
            unpack(archive, folder)
    else:
        shutil.copytree(backup, folder, dirs_exist_ok=True, copy_function=shutil.copy2)
    assert agrees(repository, "validate").code == 0


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=someone", "-c", "user.email=someone@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


@pytest.mark.slow
def test_another_checkout_of_the_same_files(repository: Repository, tmp_path: Path) -> None:
    other = Repository.__new__(Repository)
    other.folder = tmp_path / "other"
    shutil.copytree(repository.folder, other.folder, copy_function=shutil.copy2)
    assert not is_answered(other, "validate")
    other.change("jobs/job-1.yaml", *TYPO)
    assert agrees(other, "validate").code == 1
    assert agrees(repository, "validate").code == 0


@pytest.mark.slow
def test_an_entry_that_others_could_have_written(repository: Repository, cache: Path) -> None:
    for path in cache.iterdir():
        path.chmod(0o666)
    assert not is_answered(repository, "validate")
    cache.chmod(0o777)
    assert not is_answered(repository, "validate")


@pytest.mark.slow
def test_an_entry_of_another_user(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.geteuid() + 1
    monkeypatch.setattr("trainc.cli.cache.is_trusted", lambda found: found.st_uid == owner)
    assert not is_answered(repository, "validate")


@pytest.mark.parametrize(
    "damage",
    [
        "cut",
        pytest.param("flip head", marks=pytest.mark.slow),
        pytest.param("flip tail", marks=pytest.mark.slow),
        pytest.param("empty", marks=pytest.mark.slow),
    ],
)
def test_a_damaged_entry_is_none(repository: Repository, cache: Path, damage: str) -> None:
    for path in cache.iterdir():
        data = bytearray(path.read_bytes())
        data[50 if damage == "flip head" else -9] ^= 0xFF
        path.write_bytes({"cut": bytes(data[: len(data) // 3]), "empty": b""}.get(damage, bytes(data)))
    repository.change("jobs/job-1.yaml", *TYPO)
    assert agrees(repository, "validate").code == 1


@pytest.mark.slow
@pytest.mark.parametrize("path", ["runtimes/torch.yaml", "trainc.yaml"])
def test_what_jobs_rest_on_is_compared_by_content(repository: Repository, path: str) -> None:
    repository.write(path, repository.read(path) + "# a word\n")
    run = agrees(repository, "validate")
    assert compiled(run) == 8


@pytest.mark.slow
def test_a_runtime_that_refuses_a_job(repository: Repository) -> None:
    repository.change("runtimes/torch.yaml", "name: torch\n", "name: other\n")
    assert agrees(repository, "validate").code == 1


@pytest.mark.slow
def test_files_that_come_and_go(repository: Repository) -> None:
    repository.job("new")
    run = agrees(repository, "validate")
    assert compiled(run) == 1
    assert "9 jobs" in run.err
    (repository.folder / "jobs" / "new.yaml").unlink()
    assert "8 jobs" in agrees(repository, "validate").err
    repository.write("jobs/claim.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    assert agrees(repository, "validate").code == 0


@pytest.mark.slow
def test_a_new_job_of_a_known_name(repository: Repository) -> None:
    repository.write("jobs/copy.yaml", repository.read("jobs/job-2.yaml"))
    run = agrees(repository, "validate")
    assert "same-name" in run.err


@pytest.mark.slow
def test_an_edited_rendering_is_drift(repository: Repository) -> None:
    repository.change("rendered/research/job-2.yaml", *OTHER)
    run = agrees(repository, "build", "--check")
    assert "changed by hand" in run.err
    assert run.code == 1


@pytest.mark.slow
def test_a_rendering_that_is_gone_is_written_again(repository: Repository) -> None:
    before = repository.rendered()
    (repository.folder / "rendered" / "research" / "job-2.yaml").unlink()
    assert agrees(repository, "build", "--check").code == 1
    run = repository.run("build", "-w")
    assert "wrote 1, removed 0, unchanged 7" in run.err
    assert repository.rendered() == before


@pytest.mark.slow
def test_one_job_changes_and_one_file_is_written(repository: Repository) -> None:
    text = repository.read("jobs/job-2.yaml")
    repository.write("jobs/job-2.yaml", text.replace("  namespace:", "  labels: {team: x}\n  namespace:"))
    run = repository.run("build", "-w")
    assert compiled(run) == 1
    assert "wrote 1, removed 0, unchanged 7" in run.err
    written = repository.rendered()
    assert repository.run("build", "-w", "--no-cache").err.endswith("wrote 0, removed 0, unchanged 8\n")
    assert repository.rendered() == written


@pytest.mark.slow
def test_a_few_changes_among_many_files_are_compiled_again_each_time(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run_cache, "_ROWS", 0)  # any project has many files
        for number in (2, 5):
            repository.change(f"jobs/job-{number}.yaml", "  namespace:", "  labels: {team: x}\n  namespace:")
            repository.run("build", "-w")
        assert compiled(repository.run("build", "-w")) == 2
        assert compiled(agrees(repository, "build", "--check")) == 2
    assert compiled(repository.run("build", "-w")) == 2
    assert is_answered(repository, "build", "-w")


@pytest.mark.slow
def test_many_files_without_a_change_are_known_after_the_run_that_wrote_them(
    tmp_path: Path, cache: Path, settled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    del cache, settled
    monkeypatch.setattr(run_cache, "_ROWS", 0)
    assert is_answered(known_repository(tmp_path), "build", "-w")


@pytest.mark.slow
def test_a_job_that_is_gone_takes_its_rendering_along(repository: Repository) -> None:
    (repository.folder / "jobs" / "job-2.yaml").unlink()
    assert "removed 1" in repository.run("build", "-w").err
    assert len(repository.rendered()) == 7


@pytest.mark.slow
def test_another_trainc_and_other_packages(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of rules that is upgraded leaves another time on the folder of packages."""
    monkeypatch.setattr("trainc.cli.caching.run_cache.__version__", "9.9.9")
    assert not is_answered(repository, "validate")
    monkeypatch.undo()
    packages = repository.folder.parent / "packages"
    packages.mkdir()
    monkeypatch.setenv("TRAINC_CACHE_DIR", str(repository.folder.parent / "cache"))
    monkeypatch.syspath_prepend(str(packages))
    repository.run("validate")
    (packages / "rules-2.0.dist-info").mkdir()
    os.utime(packages, (1, 1))
    assert not is_answered(repository, "validate")


@pytest.mark.slow
def test_other_options_are_other_questions(repository: Repository) -> None:
    assert not is_answered(repository, "validate", "--only", "admission")
    assert not is_answered(repository, "validate", "--set", "kubernetes=1.33")
    assert not is_answered(repository, "validate", "--no-cache")
    assert repository.run("validate", "-q").err == ""


@pytest.mark.slow
def test_a_cache_that_takes_nothing(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, or a folder that nobody may write to."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trainc.cli.cache.os.replace", full)
    repository.change("jobs/job-1.yaml", *TYPO)
    assert repository.run("validate").code == 1


@pytest.mark.slow
def test_runs_that_are_killed_and_runs_side_by_side(repository: Repository, cache: Path) -> None:
    """Whatever is left of them, and in whatever order they end: what is kept is whole."""
    repository.write("jobs/job-1.yaml", repository.read("jobs/job-1.yaml") + "# a word\n")
    environment = {**relative_environment(), "TRAINC_CACHE_DIR": str(cache)}
    words = [sys.executable, "-m", "trainc", "validate"]
    started = [subprocess.Popen(words, cwd=repository.folder, env=environment) for _ in range(4)]
    started[0].kill()
    assert [one.wait() for one in started][1:] == [0, 0, 0]
    repository.change("jobs/job-1.yaml", *TYPO)
    done = subprocess.run(words, cwd=repository.folder, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "unknown-field" in done.stderr


@pytest.mark.slow
def test_one_file_and_the_plugin_know_nothing(tmp_path: Path, cache: Path) -> None:
    repository = Repository(tmp_path, "one")
    compile_in(tmp_path, "validate", "jobs/one.yaml")
    compile_in(tmp_path, "why", "jobs/one.yaml", "image")
    repository.run("build")
    assert not cache.exists()
