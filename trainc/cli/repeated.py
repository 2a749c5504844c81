"""Repeated runs over folders: what did not change since the run before is not looked at again.

What is known is kept in the user's folder of caches, for each command in each project. It may be missing at any time;
it is never wrong, because a run leaves behind only what no file could have changed unseen.
"""

from __future__ import annotations

import os
import sys
from time import time_ns

import trainc
from trainc import __version__
from trainc.cli.cache import opened
from trainc.cli.caching.listing import listing
from trainc.cli.caching.manifest import read_head
from trainc.cli.caching.memory import Memory
from trainc.cli.findings import BASELINE
from trainc.cli.output import data, data_beside, terminal
from trainc.text.files import digest_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from trainc.cli.options import Command, Options

_FORM = 4  # counts up whenever what is kept comes to mean something else
_OFF = (
    "against",
    "changed_since",
    "format",
    "include_other",
    "rerender",
    "staged",
    "write_baseline",
)  # these runs read more than files
_SHOWN = (
    "all",
    "color",
    "jobs",
    "min_level",
    "notes",
    "quiet",
    "statistics",
    "verbose",
)  # these options change what is printed, not what is found
_PACKAGES = ("site-packages", "dist-packages")


def is_repeatable(name: str, options: Options) -> bool:
    """Whether a run may be worth remembering: it reads folders, and nobody asked for one that relies on nothing."""
    if name == "build" and not any(options.has(word) for word in ("check", "output", "write")):
        return False
    folders = options.has("whole_project") or any(os.path.isdir(path) for path in options.arguments or ["."])
    return folders and not options.has("no_cache")


def remembered(command: Command, options: Options) -> int:
    """Run a command, or say again what it said where nothing has changed since."""
    memory = _memory(command.name, options)
    if memory is None:
        return command.run(options)
    try:
        answer = memory.answer()
        if answer is None:
            return _run(command, options, memory)
    finally:
        memory.close()
    code, out, err = answer
    data(out)
    data_beside(err)
    return code


def _run(command: Command, options: Options, memory: Memory) -> int:
    """Run a command on what is not known, or on everything where it turns out that this does not suffice."""
    from trainc.model.file_results import Unfamiliar  # noqa: PLC0415 (an answer needs none of it)

    try:
        return command.run(options, memory)
    except Unfamiliar:
        again = memory.without_knowledge()
        try:
            return command.run(options, again)
        finally:
            again.close()


def _memory(name: str, options: Options) -> Memory | None:
    """What is known of a command, None for one that nothing is kept of."""
    if os.name != "posix" or any(options.has(word) for word in _OFF) or "-" in options.arguments:
        return None
    if (cache := opened()) is None or not (build := _build()):
        return None
    started = time_ns()
    given = sorted((word, values) for word, values in options.values.items() if word not in _SHOWN)
    here = os.getcwd()
    key = (_FORM, name, given, options.arguments, here, _marks(here, options.arguments), build, _interpreter(here))
    shown = sorted((word, values) for word, values in options.values.items() if word in _SHOWN)
    memory = Memory(cache, digest_of(repr(key).encode()).hex(), repr((shown, _terminal())), started)
    kept = cache.open(memory.key)
    if kept is not None and not _remembers(memory, kept):
        kept.close()
    return memory


def _remembers(memory: Memory, kept: BinaryIO) -> bool:
    """Whether what was kept can be read, and its files can be listed; the memory has both then."""
    try:
        head = read_head(kept)
        if head is not None:
            memory.remember(head, kept, listing(head.root, head.whole, head.outside))
    except OSError:
        return False  # a folder is gone, or nobody may read it: the run says so
    return head is not None


def _marks(here: str, arguments: list[str]) -> list[str]:
    """What decides where the projects of the paths start: each trainc.yaml and repository above them.

    Where a checkout is sparse, what it leaves out decides as well.
    """
    marks = []
    folders = {os.path.join(here, path) for path in arguments or ["."]}
    while folders:
        for folder in folders:
            marks += _stamp(os.path.join(folder, BASELINE))
            marks += [path for mark in ("trainc.yaml", ".git") if os.path.exists(path := os.path.join(folder, mark))]
        folders = {os.path.dirname(folder) for folder in folders} - folders
    sparse = [os.path.join(path, "info", "sparse-checkout") for path in marks]
    changed = [f"{path} {os.stat(path).st_mtime_ns}" for path in sparse if os.path.isfile(path)]
    return sorted({*marks, *changed, os.path.realpath(here)})


def _stamp(path: str) -> list[str]:
    """A file with the time of its last change, where it is there."""
    return [f"{path} {os.stat(path).st_mtime_ns}"] if os.path.isfile(path) else []


def _terminal() -> tuple[object, ...]:
    """What decides about widths, colours and links."""
    return terminal(sys.stderr).state, terminal(sys.stdout).state


def _interpreter(here: str) -> list[object]:
    """The Python that runs trainc and the places of its packages, which change with every package put there."""
    places = [place for place in sys.path if place and place != here and os.path.exists(place)]
    return [
        sys.version,
        *[(place, status.st_mtime_ns, status.st_ino) for place in places if (status := os.stat(place))],
    ]


def _build() -> str:
    """Which trainc this is; empty where nobody can tell. One that is not installed is told by its files."""
    package = os.path.dirname(os.path.abspath(trainc.__file__))
    above = os.path.dirname(package)
    if os.path.basename(above) in _PACKAGES:
        return f"{__version__} {package}"
    if not os.path.isdir(package):
        return ""
    sources = [_sources(package), _sources(os.path.join(above, "runtimes"))]
    return f"{__version__} {package} {digest_of(repr(sources).encode()).hex()}"


def _sources(folder: str) -> list[tuple[str, int, int]]:
    sources: list[tuple[str, int, int]] = []
    if not os.path.isdir(folder):
        return sources
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                sources += _sources(entry.path) if entry.name != "__pycache__" else []
            else:
                state = entry.stat()
                sources.append((entry.path, state.st_mtime_ns, state.st_size))
    return sorted(sources)
