"""Runs a command on input that it may refuse, and holds it to what every refusal owes."""

import contextlib
import io
import os
import re
import signal
from pathlib import Path
from unittest.mock import patch

from tests.effort import PATIENCE
from trainc import cli

_PLACE = re.compile(r"^ *(?:-->|:::) (.+):(\d+):(\d+)$", re.MULTILINE)
_HEAD = re.compile(r"^(?:error|warning|note)\[[a-z0-9-]+\]: .", re.MULTILINE)


SECONDS = 20  # of CPU; generous: each run takes well under two on a slow machine


class LateError(BaseException):
    """A run took longer than any input may make it; no exception that the command line would catch."""


class Attempt:
    """What came of one run: its exit code, both streams, and the places that its findings name."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """File, line and column of every label of every finding."""
        return [(file, int(line), int(column)) for file, line, column in _PLACE.findall(self.err)]

    @property
    def findings(self) -> int:
        """How many findings were printed."""
        return len(_HEAD.findall(self.err))


def attempt(folder: Path, *argv: str, stdin: bytes = b"") -> Attempt:
    """What `trainc ARGV` does when it is started in `folder`; raises where it breaks a promise."""
    before = listing(folder)
    signal.signal(signal.SIGPROF, _late)
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(PATIENCE)
    try:
        found = _run(folder, argv, stdin)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
    told = f"trainc {' '.join(argv)}: exit {found.code}\n{found.err[-4000:]}"
    assert found.code in {0, 1, 2}, told
    assert "Traceback" not in found.err, told
    if found.code == 1 and argv[0] in {"build", "validate"} and "json" not in argv:
        assert found.findings or "nothing to compile" in found.err, told
    if found.code == 2:
        assert found.err.strip(), told
    if found.code and argv[0] != "migrate":
        assert listing(folder) == before, told
    lines = {file: _lines(folder, file, stdin) for file in {file for file, _, _ in found.places}}
    for file, line, column in found.places:
        assert _exists(lines[file], line, column), f"{file}:{line}:{column} is no place\n{told}"
    return found


def _late(*_: object) -> None:
    raise LateError


def _run(folder: Path, argv: tuple[str, ...], stdin: bytes) -> Attempt:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    with (
        contextlib.chdir(folder),
        patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin))),
        patch.dict(os.environ, {"TRAINC_TRACEBACK": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = cli.main(list(argv))
    return Attempt(code, _text(out), _text(err))


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    below = stream.buffer
    assert isinstance(below, io.BytesIO)
    return below.getvalue().decode("utf-8", "replace")


def listing(folder: Path) -> dict[str, str]:
    """Everything below a folder, with links and contents told apart."""
    found = {}
    for top, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = os.path.join(top, name)
            if os.path.islink(path):
                found[path] = f"-> {os.readlink(path)}"
            elif os.path.isfile(path) and os.access(path, os.R_OK):
                found[path] = f"{os.path.getsize(path)} bytes at {os.stat(path).st_mtime_ns}"
            else:
                found[path] = "other"
    return found


def _lines(folder: Path, file: str, stdin: bytes) -> list[str] | None:
    """The lines of a file that a finding names, None for one of trainc's own."""
    if file.startswith("trainc:"):
        return None
    data = stdin if file == "<stdin>" else (folder / file).read_bytes()
    return re.split("\r\n|[\r\n\x85\u2028\u2029]", data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _exists(lines: list[str] | None, line: int, column: int) -> bool:
    """Whether a place is one that people can open: columns count characters, and may point behind the last one."""
    if lines is None:
        return line >= 1 and column >= 1
    return 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1
