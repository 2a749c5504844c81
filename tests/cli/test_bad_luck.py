"""What shared volumes, power cuts and odd parents do to a build: nothing is mixed, and the next build repairs the rest."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiling import relative_environment
from tests.repository import Repository

TRAINC = (sys.executable, "-m", "trainc")
BERT = "rendered/research/bert.yaml"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path, "bert", "line")


@pytest.mark.slow
def test_builds_at_the_same_time_leave_the_tree_of_one(repository: Repository) -> None:
    """Each pair: one build of version 1, one of version 2, both into one folder."""
    for _ in range(4):
        builds = []
        for image in ("one", "two"):
            for name in ("bert", "line"):
                repository.job(name, image=f"registry.example.com/{image}:1.0.0")
            builds.append(subprocess.Popen([*TRAINC, "build", "-w"], cwd=repository.folder, env=relative_environment()))
        assert [build.wait(60) for build in builds] == [0, 0]
        images = {text.partition("registry.example.com/")[2][:3] for text in repository.rendered().values()}
        assert len(images) == 1
        assert not [path for path in repository.rendered() if ".trainc-" in path]


@pytest.mark.slow
def test_a_build_waits_for_another_one(repository: Repository) -> None:
    import fcntl  # noqa: PLC0415 (where there are locks)

    held = os.open(repository.folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with subprocess.Popen(
        [*TRAINC, "build", "-w"], cwd=repository.folder, env=relative_environment(), stderr=subprocess.PIPE, text=True
    ) as build:
        assert build.stderr is not None
        assert build.stderr.readline() == "trainc: waiting for another build that writes to rendered\n"
        assert not (repository.folder / BERT).exists()
        os.close(held)
        assert build.wait(60) == 0
    assert (repository.folder / BERT).exists()


@pytest.mark.parametrize("kind", ["empty", "zeros", "beginning", "zeros at the end", "half a header"])
def test_torn_files_are_repaired(kind: str, repository: Repository) -> None:
    assert repository.run("build", "-w").code == 0
    path = repository.folder / BERT
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    torn = {
        "empty": b"",
        "zeros": bytes(len(whole)),
        "beginning": whole[: header + (len(whole) - header) // 2],
        "zeros at the end": whole[:-100] + bytes(100),
        "half a header": whole[: header // 2],
    }[kind]
    path.write_bytes(torn)
    check = repository.run("build", "--check")
    assert check.code == 1
    assert f"`{BERT}` is incomplete: a write to it was interrupted" in check.err
    done = repository.run("build", "-w")
    assert done.code == 0, done.err
    assert path.read_bytes() == whole


@pytest.mark.slow
def test_an_edit_by_hand_is_not_taken_for_a_torn_file(repository: Repository) -> None:
    assert repository.run("build", "-w").code == 0
    path = repository.folder / BERT
    path.write_bytes(path.read_bytes().replace(b"line:1.0.0", b"line:9.9.9"))
    assert repository.run("build", "-w").code == 1


@pytest.mark.slow
def test_a_failed_replacement_names_the_files_that_are_new(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def fail(source: str, target: str) -> None:
        if target.endswith("line.yaml"):
            raise OSError(5, "Input/output error", target)
        real(source, target)

    monkeypatch.setattr("trainc.compiler.emit.spool.disk.os.replace", fail)
    done = repository.run("build", "-w")
    assert done.code == 2
    assert "rendered/research/line.yaml: Input/output error; new already: rendered/research/bert.yaml" in done.err


@pytest.mark.slow
def test_children_count_where_the_parent_ignores_them(repository: Repository) -> None:
    for words in (["build", "--jobs", "2", "-o", "out"], ["diff", "HEAD"]):
        run = subprocess.run(
            [*TRAINC, *words],
            cwd=repository.folder,
            env=relative_environment(),
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
        )
        assert run.returncode == (0 if words[0] == "build" else 2), run.stderr
        assert "a bug" not in run.stderr


@pytest.mark.slow
def test_a_working_directory_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && {' '.join(TRAINC)} validate"
    done = subprocess.run(
        ["bash", "-c", script], env=relative_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "trainc: the working directory no longer exists; change to another one\n"


@pytest.mark.slow
def test_json_of_nothing_is_nothing(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    done = repository.run("build", "--format", "json")
    assert done.code == 1
    assert done.out == ""


@pytest.mark.slow
def test_why_answers_in_json_without_an_answer(repository: Repository) -> None:
    done = repository.run("why", "jobs/bert.yaml", "no.such.field", "--report", "json")
    assert done.out == "[]\n"


@pytest.mark.slow
def test_a_name_that_is_not_utf_8_is_refused_before_anything_is_written(repository: Repository) -> None:
    source = os.fsencode(repository.folder / "jobs")
    os.rename(source + b"/bert.yaml", source + b"/\xff.yaml")
    done = repository.run("build", "-w")
    assert done.code == 2
    assert done.err == (
        "trainc: jobs/\\udcff.yaml: rendered files name their source, and this name is not UTF-8; rename it\n"
    )
    assert repository.rendered() == {}
