"""Runs a command on input that it may refuse, and holds it to what every refusal owes."""

from __future__ import annotations

import contextlib
import io
import os
import re
from typing import TYPE_CHECKING
from unittest.mock import patch

from trainc import cli

if TYPE_CHECKING:
    from pathlib import Path

_PLACE = re.compile(r"^ *(?:-->|:::) (.+):(\d+):(\d+)$", re.MULTILINE)
_HEAD = re.compile(r"^(?:error|warning|note)\[[a-z0-9-]+\]: .", re.MULTILINE)


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
    found = _run(folder, argv, stdin)
    told = f"trainc {' '.join(argv)}: exit {found.code}\n{found.err[-4000:]}"
    assert found.code in {0, 1, 2}, told
    assert "Traceback" not in found.err, told
    if found.code == 1 and argv[0] in {"build", "validate"} and "json" not in argv:
        assert found.findings or "nothing to compile" in found.err, told
    if found.code == 2:
        assert found.err.strip(), told
    if found.code and argv[0] != "migrate":
        assert listing(folder) == before, told
    for file, line, column in found.places:
        assert _exists(folder, file, line, column, stdin), f"{file}:{line}:{column} is no place\n{told}"
    return found


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


def _exists(folder: Path, file: str, line: int, column: int, stdin: bytes) -> bool:
    """Whether a place is one that people can open: columns count characters, and may point behind the last one."""
    if file.startswith("trainc:"):
        return line >= 1 and column >= 1
    data = stdin if file == "<stdin>" else (folder / file).read_bytes() if (folder / file).is_file() else None
    if data is None:
        return False
    lines = re.split("\r\n|[\r\n\x85\u2028\u2029]", data.decode("utf-8", "replace").removeprefix("\ufeff"))
    return 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1
