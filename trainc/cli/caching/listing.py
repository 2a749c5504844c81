"""The files below a project's folders, each with the numbers that change whenever its content does."""

import os
from collections.abc import Collection, Iterable
from struct import Struct

from trainc.text.files import is_below

SUFFIXES = (".yaml", ".yml", ".json")
ENVIRONMENT = "pyvenv.cfg"
State = bytes  # mtime and ctime in nanoseconds, size, inode
_STATE = Struct("4q")
_pack = _STATE.pack
UNSETTLED: State = bytes(_STATE.size)  # of a file that may change again without a change of its numbers
# A file system counts time in steps; within one step a second change of a file shows nowhere.
FINE, _COARSE = 50_000_000, 2_000_000_000  # nanoseconds: longer than one step
_MILLISECOND = 1_000_000


class Listing:
    """The states of files by their names."""

    def __init__(self) -> None:
        self.files: dict[str, State] = {}
        self.folders: list[str] = []
        self.links: list[str] = []  # each symbolic link, and the file that it leads to in the end
        self.lost: list[str] = []  # links that lead to no file


def state_of(status: os.stat_result) -> State:
    """What tells whether a file changed: nobody can set the second of these numbers."""
    return _pack(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def is_settled(state: State, moment: int) -> bool:
    """Whether every change of a file at or after a moment (in nanoseconds) shows in its state."""
    _, ctime, _, _ = _STATE.unpack(state)
    return bool(ctime + (FINE if ctime % _MILLISECOND else _COARSE) < moment)


def are_settled(root: str, folders: Iterable[str], moment: int) -> bool:
    """Whether nothing came to, or went from, any of these folders at or after a moment."""
    return all(is_settled(state_of(os.stat(os.path.join(root, folder))), moment) for folder in folders)


def is_hidden(path: str) -> bool:
    """Whether a folder, relative to the root, is left out where nobody asks for it."""
    return any(part.startswith(".") or part == "node_modules" for part in path.split("/"))


def listing(root: str, whole: Collection[str] = (), outside: Collection[str] = ()) -> Listing:
    """Every file that a project may read: the specs below its root, and all that lies in some folders.

    Below the folders `whole`, relative to the root, and below those `outside` of what a run looks through (hidden ones,
    ones elsewhere), every file counts, whatever its name. OSError where a folder cannot be read.
    """
    files = Listing()
    _list(root, "", files, frozenset(whole), everything="" in whole)
    for folder in outside:
        path = os.path.join(root, folder)
        if os.path.isdir(path):
            _list(path, f"{folder}/", files, frozenset(), everything=True)
        elif os.path.lexists(path):
            files.files[folder] = state_of(os.stat(path))
    return files


def _list(path: str, prefix: str, out: Listing, whole: frozenset[str], *, everything: bool) -> None:
    files, below, behind = out.files, [], []
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
                elif not everything and entry.is_symlink() and _is_read(prefix + name, whole) and entry.is_dir():
                    out.links += [prefix + name, os.path.realpath(os.path.join(path, name))]
                    behind.append(name)
                elif everything or (name[0] != "." and name.lower().endswith(SUFFIXES)) or name == ENVIRONMENT:
                    is_environment = is_environment or name == ENVIRONMENT
                    if entry.is_symlink():
                        _add_link(os.path.join(path, name), prefix + name, out)
                        continue
                    status = entry.stat(follow_symlinks=False)
                    files[prefix + name] = _pack(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    finally:
        os.close(number)
    if is_environment and prefix and not everything:
        return  # a virtual environment may hold trainc itself, with all that it ships
    for name in below:
        inner = prefix + name
        _list(f"{path}/{name}", f"{inner}/", out, whole, everything=everything or inner in whole)
    for name in behind:  # links in there count as lost: no circle is followed
        _list(f"{path}/{name}", f"{prefix}{name}/", out, whole, everything=True)


def _is_read(folder: str, whole: Collection[str]) -> bool:
    """Whether a run reads a folder, or one below it, by its name; what only a walk would find, it does not find behind a link."""
    return folder.rpartition("/")[2] == "runtimes" or any(is_below(name, (folder,)) for name in whole)


def _add_link(path: str, name: str, out: Listing) -> None:
    out.links += [name, os.path.realpath(path)]
    if os.path.isfile(path):
        out.files[name] = state_of(os.stat(path))
    else:
        out.files[name] = UNSETTLED
        out.lost.append(name)
