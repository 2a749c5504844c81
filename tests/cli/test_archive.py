"""The archive of compiled modules: it makes a hook start sooner, and never runs code that is not the source's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks import tree
from tests.compiling import ROOT
from trainc.cli.archive import Archive

if TYPE_CHECKING:
    from pathlib import Path

# Prints how many modules came from the archive, behind what `trainc` itself prints.
PROGRAM = """
import os, sys
end = os._exit
def ended(code):
    loaders = [type(module.__spec__.loader).__module__ for name, module in sys.modules.items() if name.startswith("trainc.")]
    print("from the archive:", loaders.count("trainc.cli.archive"), "of", len(loaders), flush=True)
    end(code)
os._exit = ended
from trainc.cli import program
program()
"""


class Copy:
    """A trainc of its own in a folder, with one job beside it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.package = place / "trainc"
        shutil.copytree(ROOT / "trainc", self.package, ignore=shutil.ignore_patterns("__pycache__", "api"))
        shutil.copytree(ROOT / "schemas", place / "schemas")
        (place / "project").mkdir()
        tree.write(1, str(place / "project"))

    def run(self, command: str = "validate", **environment: str) -> tuple[int, str]:
        """Run a command on the job; how many modules came from the archive, and what was said."""
        own = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, command, tree.job(0)[0]],
            check=True,
            cwd=self.place / "project",
            env={**own, "PYTHONPATH": str(self.place), **environment},
            capture_output=True,
            text=True,
        )
        return int(done.stdout.split()[-3]), done.stderr

    @property
    def archives(self) -> list[Path]:
        """The archives that runs left."""
        return list(self.package.rglob("*.modules*"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"))


def test_a_run_leaves_an_archive_for_the_next(copy: Copy) -> None:
    assert copy.run(PYTHONDONTWRITEBYTECODE="1")[0] == 0
    assert copy.archives == []
    assert copy.run()[0] == 0
    assert len(copy.archives) == 1
    served, said = copy.run()
    assert served > 180
    assert "1 job, no errors" in said


def test_a_run_of_another_command_adds_its_modules(copy: Copy) -> None:
    copy.run()
    (archive,) = copy.archives
    before = archive.stat().st_size
    assert copy.run(command="show")[0] > 180
    assert archive.stat().st_size > before
    grown = archive.stat()
    assert copy.run(command="show")[0] > copy.run()[0] > 180
    assert (archive.stat().st_size, archive.stat().st_ino) == (grown.st_size, grown.st_ino), "nothing is left to add"


@pytest.mark.parametrize("stream", [0, 1, 2])
def test_a_stream_that_is_closed_is_not_the_archive(copy: Copy, stream: int) -> None:
    copy.run()
    words = f'"{sys.executable}" -m trainc build {tree.job(0)[0]} {stream}>&-'
    own = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        ["sh", "-c", words],
        check=False,
        cwd=copy.place / "project",
        env={**own, "PYTHONPATH": str(copy.place)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (2 if stream == 1 else 0)
    assert ("kind: JobSet" in done.stdout) == (stream != 1)


def test_an_edited_module_is_loaded_as_it_is(copy: Copy) -> None:
    copy.run()
    source = copy.package / "report" / "text.py"
    before, state = source.read_text(), source.stat()
    edited = before.replace('"no errors"', '"NO ERRORS"')
    assert edited != before
    source.write_text(edited)
    os.utime(source, ns=(state.st_atime_ns, state.st_mtime_ns))  # of one size, and as old as before
    # Python's own compiled file looks only at these two; what is asked here is that the archive adds no fault of its own.
    for compiled in (source.parent / "__pycache__").glob("text.*"):
        compiled.unlink()
    for _ in range(3):
        assert "1 job, NO ERRORS" in copy.run()[1]
    source.write_text(before)
    for compiled in (source.parent / "__pycache__").glob("text.*"):
        compiled.unlink()
    for _ in range(2):
        assert "1 job, no errors" in copy.run()[1]


@pytest.mark.parametrize("content", [b"", b"\x00", b"not an archive", "half"])
def test_a_damaged_archive_is_none(copy: Copy, content: bytes | str) -> None:
    copy.run()
    (archive,) = copy.archives
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2] if isinstance(content, str) else content)
    served, said = copy.run()
    assert served == 0
    assert "1 job, no errors" in said
    assert copy.run()[0] > 180, "the run before has mended it"


def test_an_archive_serves_its_own_place_alone(copy: Copy, tmp_path: Path) -> None:
    copy.run()
    shutil.copytree(copy.place, tmp_path / "other")  # with the times of the files
    other = Copy.__new__(Copy)
    other.place, other.package = tmp_path / "other", tmp_path / "other" / "trainc"
    assert len(other.archives) == 1
    assert other.run()[0] == 0


def test_a_version_that_takes_its_place_is_loaded(copy: Copy) -> None:
    copy.run()
    source = copy.package / "__init__.py"
    before = source.read_text()
    source.write_text(before.replace('__version__ = "', '__version__ = "9'))
    assert copy.run()[0] == 0
    source.write_text(before)


def test_a_disk_that_is_full_keeps_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was begun is taken away, and the run says nothing of it."""
    archive = Archive()
    monkeypatch.setattr(archive, "_path", str(tmp_path / "archive"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr("trainc.cli.archive._FEWEST", 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("trainc.cli.archive.os.replace", full)
    archive.keep()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_has_none(copy: Copy) -> None:
    for archive in copy.archives:
        archive.unlink()
    place = copy.package / "__pycache__"
    shutil.rmtree(place)
    place.write_text("not a folder")
    assert "1 job, no errors" in copy.run()[1]
    assert copy.archives == []
