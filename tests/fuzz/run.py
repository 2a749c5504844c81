"""Runs one input in this process and says which promises it broke."""

import io
import json
import os
import re
import resource
import signal
import sys
import traceback
from pathlib import Path
from typing import NamedTuple

from tests.fuzz.inputs import Input
from trainc import cli
from trainc.cli.process import BUG, TROUBLE

CPU = 2.0  # seconds that any command may take for inputs of less than LARGE
ROUND_TRIP_CPU = 10.0  # ... that keep the comments of what they rewrite
ROUND_TRIP = frozenset(("fix", "flux", "migrate", "run"))
LARGE = 1 << 20
MEMORY = 200  # MiB
# What terminals, logs and workflow runners obey: C0 but tabs and line feeds, DEL, C1, line ends and turns of direction.
_OBEYED = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_COMMAND = re.compile(r"^\s*::(?!:)|##\[|##vso\[", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[(?:0|1|3[1-6]|1;3[1-6])m")
_PLACE = re.compile(r"a bug in trainc, not in your files: (\w+) at (\S+):")


class Broken(NamedTuple):
    """A promise that a run broke: which one, and the place by which equal ones are counted together."""

    kind: str
    place: str
    detail: str = ""

    @property
    def key(self) -> str:
        """What tells it from others."""
        return f"{self.kind} {self.place}"


class LateError(BaseException):
    """The time of one run is over; no exception that the command line catches."""


def limit(given: Input) -> float:
    """Seconds of CPU that an input may take."""
    return ROUND_TRIP_CPU if given.argv[:1] and given.argv[0] in ROUND_TRIP else CPU


def run(given: Input, folder: Path) -> list[Broken]:
    """Run one input in `folder`, which holds it already; every promise that it broke."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    command = given.argv[0] if given.argv else "none"
    before = os.environ.copy()
    os.environ.update(given.env)
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(given.stdin)), out, err
    os.chdir(folder)
    broken: list[Broken] = []
    code = 0
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, limit(given))
    try:
        code = cli.main(list(given.argv))
    except LateError as error:
        broken.append(Broken("slow", f"{command} {_innermost(error)}"))
    except BaseException as error:  # noqa: BLE001 (whatever leaves `main` is a fault)
        broken.append(Broken("escaped", f"{type(error).__name__} {_innermost(error)}", str(error)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir("/")
        os.environ.clear()
        os.environ.update(before)
    if not broken:
        broken = [*_faults(given, command, code, _text(out), _text(err)), *_no_longer_json(given, command, folder)]
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEMORY << 10:
        broken.append(Broken("memory", command))
    return broken


def _late(*_: object) -> None:
    raise LateError


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    below = stream.buffer
    assert isinstance(below, io.BytesIO)
    return below.getvalue().decode("utf-8", "replace")


def _innermost(error: BaseException) -> str:
    """The innermost place in trainc where something was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/trainc/" in frame.filename]
    ours = [frame for frame in frames if "/tests/" not in frame.filename]
    if not ours:
        return "nowhere"
    last = ours[-1]
    return f"{last.filename.rpartition('/trainc/')[2]} {last.name}"


def _faults(given: Input, command: str, code: int, out: str, err: str) -> list[Broken]:
    found = []
    if code == BUG:
        place = _PLACE.search(err)
        found.append(Broken("bug", f"{place[1]} {place[2]}" if place else command, err[-2500:]))
    elif code not in {0, 1, 2}:
        found.append(Broken("code", f"{command} {code}"))
    if code == TROUBLE and not (err.strip() or "--help" in given.argv):
        found.append(Broken("silent", command))
    report = _report(given)
    if "always" in given.argv:
        out, err = (_COLOUR.sub("", text) for text in (out, err))
    for name, text in (("stdout", out), ("stderr", err)):
        if command in {"build", "cmp", "fn", "migrate"} and name == "stdout" and "--check" not in given.argv:
            continue  # manifests, and the user's own file
        if hit := _OBEYED.search(text):
            found.append(Broken("obeyed", f"{command} {name} {report}", _around(text, hit)))
        commands = _COMMAND.search(text) if report != "github" else None
        if commands:
            found.append(Broken("workflow command", f"{command} {name} {report}", _around(text, commands)))
    if report in {"json", "sarif"} and code in {0, 1} and command != "build" and not _is_json(out):
        found.append(Broken("no JSON", f"{command} {report}", out[:200]))
    return found


def _no_longer_json(given: Input, command: str, folder: Path) -> list[Broken]:
    """A file of JSON that a command wrote anew as something else."""
    if command not in ROUND_TRIP:
        return []
    names = [
        name for name, data in given.files.items() if data[:1] == b"{" and _is_json(data.decode("utf-8", "replace"))
    ]
    found = {name: (folder / name).read_bytes() for name in names if (folder / name).is_file()}
    changed = {name: data for name, data in found.items() if data != given.files[name]}
    return [
        Broken("JSON no more", command, f"{name}: {data[:200]!r}")
        for name, data in changed.items()
        if not _is_json(data.decode("utf-8", "replace"))
    ]


def _report(given: Input) -> str:
    forms = [value for name, value in zip(given.argv, given.argv[1:], strict=False) if name == "--report"]
    return forms[-1] if forms else "text"


def _around(text: str, hit: re.Match[str]) -> str:
    return repr(text[max(0, hit.start() - 80) : hit.end() + 40])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
