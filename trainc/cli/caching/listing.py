"""The files below a project's folders, each with the numbers that change whenever its content does."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from struct import Struct

State = tuple[int, int, int, int]  # mtime and ctime in nanoseconds, size, inode

SUFFIXES = (".yaml", ".yml", ".json")
ENVIRONMENT = "pyvenv.cfg"
UNSETTLED: State = (0, 0, 0, 0)  # of a file that may change again without a change of its numbers
# A file system counts time in steps; within one step a second change of a file shows nowhere.
_FINE, _COARSE = 50_000_000, 2_000_000_000  # nanoseconds: longer than one step
_MILLISECOND = 1_000_000
_STATE = Struct("4q")
_pack = _STATE.pack
_ROW = _STATE.size  # bytes of a file's state
_BLOCK = 128 * _ROW


class Listing:
    """The names of files and their states, in the order of the file system; comparing two costs next to nothing."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.rows: list[bytes] = []  # the numbers of each file, as bytes
        self.folders: list[str] = []
        self.links: list[str] = []  # each symbolic link, and the file that it leads to in the end
        self.lost: list[str] = []  # links that lead to no file

    def states(self) -> dict[str, State]:
        """The state of each file by its name."""
        return unpacked(self.names, self.packed())

    def states_of(self, names: Collection[str]) -> dict[str, State]:
        """The states of a few files, of those that are there."""
        listed = zip(self.names, self.rows, strict=True)
        return {name: _STATE.unpack(row) for name, row in listed if name in names}

    def packed(self) -> bytes:
        """The numbers as bytes."""
        return b"".join(self.rows)

    def add(self, name: str, status: os.stat_result) -> None:
        """Note a file."""
        self.names.append(name)
        self.rows.append(_pack(*state_of(status)))


def unpacked(names: list[str], numbers: bytes) -> dict[str, State]:
    """The state of each file, of numbers as bytes."""
    states: Iterator[State] = _STATE.iter_unpack(numbers)
    return dict(zip(names, states, strict=True))


def different(before: tuple[list[str], bytes], now: tuple[list[str], bytes]) -> set[str]:
    """The names of files of which two listings, as names and numbers, do not say the same."""
    (names, numbers), (names_now, numbers_now) = before, now
    if names != names_now:  # perhaps in their order alone
        rows_before = dict(zip(names, _rows(numbers), strict=True))
        rows_now = dict(zip(names_now, _rows(numbers_now), strict=True))
        unequal_now = {name for name, row in rows_now.items() if rows_before.pop(name, b"") != row}
        return unequal_now.union(rows_before)
    blocks = range(0, len(numbers), _BLOCK)  # most are equal, which is seen at once
    unequal = [at for at in blocks if numbers[at : at + _BLOCK] != numbers_now[at : at + _BLOCK]]
    rows = [row for at in unequal for row in range(at, min(at + _BLOCK, len(numbers)), _ROW)]
    return {names[row // _ROW] for row in rows if numbers[row : row + _ROW] != numbers_now[row : row + _ROW]}


def _rows(numbers: bytes) -> list[bytes]:
    """The numbers of each file, as bytes."""
    return [numbers[at : at + _ROW] for at in range(0, len(numbers), _ROW)]


def state_of(status: os.stat_result) -> State:
    """What tells whether a file changed: nobody can set the second of these numbers."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def is_settled(state: State, moment: int) -> bool:
    """Whether every change of a file at or after a moment (in nanoseconds) shows in its state."""
    ctime = state[1]
    return ctime + (_FINE if ctime % _MILLISECOND else _COARSE) < moment


def are_settled(root: str, folders: Iterable[str], moment: int) -> bool:
    """Whether nothing came to, or went from, any of these folders at or after a moment."""
    return all(is_settled(state_of(os.stat(os.path.join(root, folder))), moment) for folder in folders)


def is_hidden(path: str) -> bool:
    """Whether a folder, relative to the root, is left out where nobody asks for it."""
    return any(part.startswith(".") or part == "node_modules" for part in path.split("/"))


def listing(root: str, whole: Collection[str] = (), outside: Collection[str] = ()) -> Listing:
    """Every file that a project may read: the specs below its root, and all that lies in some folders.

    Below the folders `whole`, relative to the root, and below those `outside` of what a run looks through (hidden ones,
    ones elsewhere), every file counts, whatever its name.

    Raises:
        OSError: where a folder cannot be read.
    """
    files = Listing()
    _list(root, "", files, frozenset(whole), everything="" in whole)
    for folder in outside:
        path = os.path.join(root, folder)
        if os.path.isdir(path):
            _list(path, f"{folder}/", files, frozenset(), everything=True)
        elif os.path.lexists(path):
            files.add(folder, os.stat(path))
    return files


def _list(path: str, prefix: str, out: Listing, whole: frozenset[str], *, everything: bool) -> None:
    names, rows = out.names, out.rows
    below: list[str] = []
    is_environment = False
    out.folders.append(prefix)
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(number) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    if everything or (name[0] != "." and name != "node_modules") or prefix + name in whole:
                        below.append(name)
                elif everything or (name[0] != "." and name.lower().endswith(SUFFIXES)) or name == ENVIRONMENT:
                    is_environment = is_environment or name == ENVIRONMENT
                    if entry.is_symlink():
                        _add_link(os.path.join(path, name), prefix + name, out)
                        continue
                    status = entry.stat(follow_symlinks=False)
                    names.append(prefix + name)
                    rows.append(_pack(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino))
    finally:
        os.close(number)
    if is_environment and prefix and not everything:
        return  # a virtual environment may hold trainc itself, with all that it ships
    for name in below:
        inner = prefix + name
        _list(f"{path}/{name}", f"{inner}/", out, whole, everything=everything or inner in whole)


def _add_link(path: str, name: str, out: Listing) -> None:
    out.links += [name, os.path.realpath(path)]
    if os.path.isfile(path):
        out.add(name, os.stat(path))
    else:
        out.names.append(name)
        out.rows.append(_pack(*UNSETTLED))
        out.lost.append(name)
