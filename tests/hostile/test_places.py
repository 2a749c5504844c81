"""Files and folders that are not what their name says: no command hangs, follows them out, or writes through them."""

import os
from pathlib import Path

import pytest

from tests.hostile.attempts import attempt
from tests.repository import Repository

pytestmark = pytest.mark.slow

DUMPS = (("inventory",), ("diagnose",), ("fit", "--inventory"))
COMMANDS = (("build", "-w"), ("validate",), ("show",), ("migrate",), ("fix",), ("build", "jobs", "-o", "out"))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path, "good")
    (tmp_path / "clusters").mkdir()
    found.setting("clusters: {eu: {folder: clusters}}")
    return found


@pytest.mark.parametrize("folder", ["jobs", "runtimes", "clusters"])
@pytest.mark.parametrize("kind", ["pipe", "circle", "self", "dangling", "folder"])
def test_odd_files(folder: str, kind: str, repository: Repository) -> None:
    target = repository.folder / folder / "odd.yaml"
    match kind:
        case "pipe":
            os.mkfifo(target)
        case "circle":
            target.with_name("loop").symlink_to("..")
            target.symlink_to("loop")
        case "self":
            target.symlink_to(target.name)
        case "dangling":
            target.symlink_to("nowhere.yaml")
        case _:
            target.mkdir()
    for command in COMMANDS:
        attempt(repository.folder, *command)
        attempt(repository.folder, command[0], f"{folder}/odd.yaml")


@pytest.mark.parametrize("what", ["file", "link", "pipe"])
def test_odd_output(what: str, repository: Repository) -> None:
    target = repository.folder / "rendered"
    match what:
        case "file":
            target.write_text("x", "utf-8")
        case "link":
            target.symlink_to("jobs")
        case _:
            os.mkfifo(target)
    found = attempt(repository.folder, "build", "-w")
    assert found.code in {1, 2}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("folder", ["jobs", "runtimes", "clusters"])
def test_unreadable_folders(folder: str, repository: Repository) -> None:
    (repository.folder / folder).chmod(0)
    try:
        assert attempt(repository.folder, "build", "-w").code == 2
    finally:
        (repository.folder / folder).chmod(0o755)


def test_larger_than_any_spec(repository: Repository) -> None:
    with (repository.folder / "jobs/large.yaml").open("wb") as stream:
        stream.write(b"# trainer.kubeflow.org\na: ")
        stream.truncate(70 * 1024 * 1024)
    for command in COMMANDS:
        assert attempt(repository.folder, *command).code in {1, 2}


@pytest.mark.parametrize("argv", DUMPS, ids=" ".join)
def test_dumps_are_ordinary_files(argv: tuple[str, ...], repository: Repository) -> None:
    os.mkfifo(repository.folder / "pipe")
    for path in ("pipe", "/dev/zero"):
        done = attempt(repository.folder, *argv, path)
        assert (done.code, done.err) == (2, f"trainc: {path}: not an ordinary file\n")


@pytest.mark.parametrize("argv", [*DUMPS[:2], ("fit", "--inventory", "-")], ids=" ".join)
def test_dumps_have_an_end(argv: tuple[str, ...], repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainc.cli.session._MAX_BYTES", 1000)
    done = attempt(repository.folder, *argv, stdin=b"[" * 1001)
    assert done.code == 2
    assert "standard input is larger than" in done.err
