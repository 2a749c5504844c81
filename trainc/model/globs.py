"""Which files a glob of trainc.yaml means."""

from __future__ import annotations

from fnmatch import fnmatchcase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MAGIC = frozenset("*?[")


def holds(glob: str, file: str) -> bool:
    """Whether a glob means a file, or a folder that it lies in, at any depth; `*` stands for `/` as well."""
    glob = _stripped(glob)
    return glob == "." or fnmatchcase(file, glob) or fnmatchcase(file, f"{glob}/*")


class Globs:
    """Several globs, any of which may hold a file: most name a folder, which no expression is needed for."""

    __slots__ = ("_begins", "_files", "_others")

    def __init__(self, globs: Iterable[str]) -> None:
        begins: list[str] = []
        self._files: set[str] = set()
        self._others: list[str] = []
        for glob in map(_stripped, globs):
            stem = "" if glob == "." else glob.rstrip("*")
            if not _MAGIC.isdisjoint(stem):
                self._others.append(glob)
            elif stem != glob:
                begins.append(stem)
            else:
                self._files.add(glob)
                begins.append(f"{glob}/")
        self._begins = tuple(begins)

    def hold(self, file: str) -> bool:
        """Whether `holds` says so of one of them."""
        return file.startswith(self._begins) or file in self._files or any(holds(glob, file) for glob in self._others)


def _stripped(glob: str) -> str:
    return glob.rstrip("/").removeprefix("./")
