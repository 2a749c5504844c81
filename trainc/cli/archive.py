"""The compiled modules of an ordinary run, together in one file.

Python finds, opens and checks a file for each module; for the two hundred that a hook needs, that costs more than the
work on one job. A run that finds no archive leaves one beside the compiled files of this package, made of them, where
Python may write such files. A later run takes from it the code of each module whose source nobody has touched since,
and adds what it needed besides.

The file is an index and the code of a few modules at a time: names and constants that these share are read once, and
no more of it is in memory than a run uses.
"""

# All are loaded with the interpreter; `importlib` would bring more along, and so would `__future__`.
import os
import sys
from _frozen_importlib import ModuleSpec as Spec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import dumps, loads

import trainc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType
    from typing import Any

    State = tuple[int, int, int]
    Entry = tuple[
        str, str, State, int, int
    ]  # of a module: source, compiled file, the source's state; place of its group

_HEADER = 16  # bytes of a compiled file before the code: magic number, flags, time and size of the source
_LENGTH = 8  # bytes of a number
_FEWEST = 100  # modules of a run that is worth an archive
_ADDED = 4  # modules that are worth another one
_GROUP = 8  # modules whose code is read together
_FUTURE = "__future__"  # which each module imports, and otherwise none of Python's own that is in a file
_STREAMS = 3  # the numbers of standard input, output and error lie below
# What an archive is made for; another Python, version or place of this package makes its own.
_KEY = (MAGIC_NUMBER, trainc.__version__, os.path.dirname(trainc.__file__))


class _Loader(SourceFileLoader):
    """Loads one module from its code in the archive; whatever else a loader is asked for comes of the source."""

    def __init__(self, name: str, file: str, archive: "Archive") -> None:
        super().__init__(name, file)
        self._archive = archive

    def exec_module(self, module: "ModuleType") -> None:
        """Run the code of the module."""
        exec(self._archive.code(module.__name__), module.__dict__)  # noqa: S102 (as trusted as the compiled files beside it)


class Archive:
    """Finds modules of this package in what earlier runs left, and leaves what this run loaded."""

    def __init__(self) -> None:
        compiled = trainc.__spec__.cached if trainc.__spec__ is not None else None
        self._path = f"{compiled.removesuffix('.pyc')}.modules" if compiled else ""
        self._file = -1
        self._start = 0  # of the groups in the file
        self._entries: dict[str, Entry] = {}
        self._codes: dict[str, CodeType] = {}  # that were read with others
        self._is_whole = False  # whether nothing of it was found to be of another source

    def open(self) -> None:
        """Take modules from the archive from now on; of one that is missing, foreign or damaged nothing is taken."""
        try:
            self._file = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            there = os.fstat(self._file).st_size
            length = min(int.from_bytes(self._read(_LENGTH, 0)), there)
            key, size, entries = loads(self._read(length, _LENGTH))  # noqa: S302
        except (OSError, EOFError, ValueError, TypeError):
            return
        self._start = _LENGTH + length
        if self._file < _STREAMS:
            os.close(self._file)  # trainc was started without one of its streams, whose number this is
        elif key == _KEY and there == self._start + size:
            self._entries, self._is_whole = entries, True
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":  # noqa: ARG002 (Python passes them)
        """Where a module comes from; None where it is loaded as ever."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        file, compiled, state, _, _ = entry
        if _state(file) != state:
            self._is_whole = False
            del self._entries[name]
            return None
        spec = Spec(name, _Loader(name, file, self), origin=file)
        spec.has_location, spec.cached = True, compiled
        if file.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def code(self, name: str) -> "CodeType":
        """The code of a module that was found here."""
        if name not in self._codes:
            _, _, _, place, size = self._entries[name]
            self._codes |= loads(self._read(size, self._start + place))  # noqa: S302 (as trusted as the compiled files)
        return self._codes.pop(name)

    def _read(self, size: int, place: int) -> bytes:
        """So many bytes from a place of the file, which another run may have replaced since it was opened."""
        if hasattr(os, "pread"):
            return os.pread(self._file, size, place)  # a forked worker shares the file's position
        os.lseek(self._file, place, os.SEEK_SET)
        return os.read(self._file, size)

    def keep(self) -> None:
        """Leave an archive of the modules that are loaded, where there is none that is whole and has most of them."""
        if not self._path or sys.dont_write_bytecode:
            return
        if not self._is_whole:
            self._entries = {}
        loaded = {name: module for name, module in sys.modules.items() if name.startswith("trainc.") or name == _FUTURE}
        missing = {name: module for name, module in loaded.items() if name not in self._entries}
        if len(loaded) < _FEWEST or len(missing) < _ADDED:
            return
        new = f"{self._path}.{os.getpid()}"
        try:
            packed = self._packed(missing)
            with open(new, "wb") as file:
                file.write(packed)
            os.replace(new, self._path)
        except OSError:  # as Python does where it may not write, or the disk is full
            from contextlib import suppress  # noqa: PLC0415 (hardly ever)

            with suppress(OSError):
                os.remove(new)

    def _packed(self, missing: "dict[str, ModuleType]") -> bytes:
        """The archive with these modules added, as bytes."""
        groups = self._read(os.fstat(self._file).st_size, self._start) if self._entries else b""
        compiled = [code for name, module in missing.items() if (code := _compiled(name, module)) is not None]
        for at in range(0, len(compiled), _GROUP):
            together = compiled[at : at + _GROUP]
            group = dumps({name: code for name, _, _, _, code in together})
            self._entries |= {
                name: (source, cached, state, len(groups), len(group)) for name, source, cached, state, _ in together
            }
            groups += group
        index = dumps((_KEY, len(groups), self._entries))
        return len(index).to_bytes(_LENGTH) + index + groups


def _compiled(name: str, module: "ModuleType") -> "tuple[str, str, str, State, CodeType] | None":
    """A module's name, source, compiled file, the source's state and the code that Python made of it.

    None where that is not known to be of the source as it is now.
    """
    spec = module.__spec__
    if spec is None or not spec.origin or not spec.cached:
        return None
    state = _state(spec.origin)
    try:
        with open(spec.cached, "rb") as file:
            compiled = file.read()
    except OSError:
        return None
    written = [int.from_bytes(compiled[at : at + 4], "little") for at in (4, 8, 12)]
    if compiled[:4] != MAGIC_NUMBER or state is None:
        return None
    if written != [0, state[0] // 1_000_000_000 & 0xFFFFFFFF, state[2] & 0xFFFFFFFF]:
        return None
    return name, spec.origin, spec.cached, state, loads(compiled[_HEADER:])  # noqa: S302


def _state(file: str) -> "State | None":
    """When a file was written and last changed in any way, in nanoseconds, and its size."""
    try:
        now = os.stat(file)
    except OSError:
        return None
    return now.st_mtime_ns, now.st_ctime_ns, now.st_size
