"""The compiled modules of an ordinary run, together in one file.

Python finds, opens and checks a file for each module; for the two hundred that a hook needs, that costs more than the
work on one job. A run that finds no archive leaves one beside the compiled files of this package, made of them, where
Python may write such files. A later run takes from it the code of each module whose source nobody has touched since.
"""

from __future__ import annotations

# All are loaded with the interpreter; `importlib` would bring more along.
import os
import sys
from _frozen_importlib import ModuleSpec as Spec
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader
from marshal import dumps, loads

import trainc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    State = tuple[int, int, int]
    Entry = tuple[str, str, State, bytes]  # of a module: source, compiled file, how the source was, the code

_HEADER = 16  # bytes of a compiled file before the code: magic number, flags, time and size of the source
_FEWEST = 100  # modules of a run that is worth an archive
# What an archive is made for; another Python, version or place of this package makes its own.
_KEY = (MAGIC_NUMBER, trainc.__version__, os.path.dirname(trainc.__file__))


class _Loader(SourceFileLoader):
    """Loads one module from the code that it is given; whatever else a loader is asked for comes of the source."""

    def __init__(self, name: str, file: str, code: bytes) -> None:
        super().__init__(name, file)
        self._code = code

    def exec_module(self, module: ModuleType) -> None:
        """Run the code of the module."""
        exec(loads(self._code), module.__dict__)  # noqa: S102, S302 (as trusted as the compiled files beside it)


class Archive:
    """Finds modules of this package in what an earlier run left, and leaves what this run loaded."""

    def __init__(self) -> None:
        compiled = trainc.__spec__.cached if trainc.__spec__ is not None else None
        self._file = f"{compiled.removesuffix('.pyc')}.modules" if compiled else ""
        self._entries: dict[str, Entry] = {}
        self._is_whole = False  # whether nothing of it was found to be of another source

    def open(self) -> None:
        """Take modules from the archive from now on; of one that is missing, foreign or damaged nothing is taken."""
        try:
            with open(self._file, "rb") as file:
                key, entries = loads(file.read())  # noqa: S302
        except (OSError, EOFError, ValueError, TypeError):
            return
        if key == _KEY:
            self._entries, self._is_whole = entries, True
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002 (Python passes them)
        """Where a module comes from; None where it is loaded as ever."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        file, compiled, state, code = entry
        if _state(file) != state:
            self._is_whole = False
            del self._entries[name]
            return None
        spec = Spec(name, _Loader(name, file, code), origin=file)
        spec.has_location, spec.cached = True, compiled
        if file.endswith("__init__.py"):
            spec.submodule_search_locations = [os.path.dirname(file)]
        return spec

    def keep(self) -> None:
        """Leave an archive of the modules that are loaded, where there is none that is whole."""
        if self._is_whole or not self._file or sys.dont_write_bytecode:
            return
        loaded = {name: module for name, module in sys.modules.items() if name.startswith("trainc.")}
        if len(loaded) < _FEWEST:
            return
        for name, module in loaded.items():
            entry = None if name in self._entries else _entry(module)
            if entry is not None:
                self._entries[name] = entry
        new = f"{self._file}.{os.getpid()}"
        try:
            with open(new, "wb") as file:
                file.write(dumps((_KEY, self._entries)))
            os.replace(new, self._file)
        except OSError:  # as Python does where it may not write, or the disk is full
            from contextlib import suppress  # noqa: PLC0415 (hardly ever)

            with suppress(OSError):
                os.remove(new)


def _entry(module: ModuleType) -> Entry | None:
    """A module as Python compiled it; None where that is not known to be of the source as it is now."""
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
    return spec.origin, spec.cached, state, compiled[_HEADER:]


def _state(file: str) -> State | None:
    """When a file was written and last changed in any way, in nanoseconds, and its size."""
    try:
        now = os.stat(file)
    except OSError:
        return None
    return now.st_mtime_ns, now.st_ctime_ns, now.st_size
