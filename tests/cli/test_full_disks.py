"""Places that cannot be written: one line, exit code 2, and everything as it was."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import relative_environment
from tests.effort import PATIENCE
from tests.repository import Repository

NAMES = tuple(f"job-{number:02}" for number in range(12))
LONG = "x" * 200_000


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path, *NAMES)


def process(repository: Repository, *words: str, largest: int = -1, **environment: str) -> tuple[int, str]:
    """Exit code and standard error of a run whose files may have so many bytes."""
    done = subprocess.run(
        [sys.executable, "-m", "trainc", *words],
        check=False,
        cwd=repository.folder,
        # Python would leave a piece of a module's bytecode behind, which the next process could not read.
        env={**relative_environment(), **environment, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)),
    )
    return done.returncode, done.stderr


def everything(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text("utf-8") if p.is_file() else "" for p in folder.rglob("*")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("build", "-w"), "rendered/research/job-07.yaml: File too large"),
        (("build", "-w", "--jobs", "3"), "temporary file: File too large; nothing was written"),
        (("build", "-o", "new/inner"), "new/inner/research/job-07.yaml: File too large"),
    ],
)
def test_the_disk_is_full_in_the_middle(words: tuple[str, ...], said: str, repository: Repository) -> None:
    assert repository.run("build", "-w").code == 0
    repository.change("runtimes/torch.yaml", "owner: platform", "owner: somebody-else")
    repository.change("jobs/job-07.yaml", "/opt/line.py", LONG)
    before = everything(repository.folder)
    code, err = process(repository, *words, "--rerender", "all", "-q", largest=100_000)
    assert (code, err) == (2, f"trainc: {said}\n")
    assert everything(repository.folder) == before


def test_no_room_for_a_baseline(repository: Repository) -> None:
    repository.write("jobs/odd.yaml", "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n")
    before = everything(repository.folder)
    code, err = process(repository, "validate", "--write-baseline", "--jobs", "1", "--no-cache", largest=50)
    assert (code, err.count("\n")) == (2, 1)
    assert ".trainc-baseline.json: File too large" in err
    assert everything(repository.folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("words", [("build",), ("build", "--jobs", "2"), ("build", "-w"), ("validate",)])
def test_no_room_for_what_waits_for_the_verdict(words: tuple[str, ...], repository: Repository) -> None:
    for name in NAMES:
        repository.change(f"jobs/{name}.yaml", "/opt/line.py", LONG * 5)
    before = everything(repository.folder)
    code, err = process(repository, *words, "-q", largest=1_000_000)
    said = err.replace("; nothing was written", "")
    assert (code, said) == ((0, "") if words == ("validate",) else (2, "trainc: temporary file: File too large\n"))
    assert everything(repository.folder) == before


@pytest.mark.parametrize(
    "words",
    [
        ("build", "--jobs", "2"),
        pytest.param(("diff", "HEAD"), marks=pytest.mark.slow),
        pytest.param(("rehearse", "jobs/job-00.yaml"), marks=pytest.mark.slow),
    ],
)
def test_no_temporary_folder(words: tuple[str, ...], repository: Repository) -> None:
    subprocess.run(["git", "init", "-q"], check=True, cwd=repository.folder)
    code, err = process(repository, *words, largest=0, TMPDIR="/nowhere")
    assert code == 2
    assert err.count("\n") == 1
    assert err.startswith("trainc: ")


@pytest.mark.slow
@pytest.mark.parametrize("inner", ["", "/new", "/new/inner"])
def test_a_file_in_the_way_of_the_folder(inner: str, repository: Repository) -> None:
    repository.write("taken", "something\n")
    before = everything(repository.folder)
    done = repository.run("build", "-q", "-o", f"taken{inner}")
    assert done.code == 2
    assert done.err.startswith(f"trainc: taken{inner}/research/job-00.yaml: ")
    assert done.err.count("\n") == 1
    assert everything(repository.folder) == before


@pytest.mark.slow
@pytest.mark.parametrize("words", [("runtimes", "copy", "torch-distributed", "taken"), ("init", "taken/new")])
def test_a_file_in_the_way_of_other_commands(words: tuple[str, ...], repository: Repository) -> None:
    repository.write("taken", "something\n")
    before = everything(repository.folder)
    done = repository.run(*words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert everything(repository.folder) == before


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
@pytest.mark.parametrize("folder", [".", "rendered", "rendered/research"])
def test_a_folder_that_is_read_only(folder: str, repository: Repository) -> None:
    if folder != ".":
        assert repository.run("build", "-w").code == 0
        repository.change("runtimes/torch.yaml", "owner: platform", "owner: somebody-else")
        (repository.folder / "jobs/job-03.yaml").unlink()
    before = everything(repository.folder)
    place = repository.folder / folder
    place.chmod(0o555)
    try:
        done = repository.run("build", "-q", "-w", "--rerender", "all")
    finally:
        place.chmod(0o755)
    if folder == "rendered":  # the folder below it takes new files as before
        assert done.code == 0
    else:
        assert (done.code, done.err) == (2, "trainc: rendered/research/job-00.yaml: Permission denied\n")
        assert everything(repository.folder) == before
