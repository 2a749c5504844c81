"""What trainc remembers from run to run, in the user's folder of caches; doing without costs time and nothing else."""

import os
import sys
from typing import BinaryIO

from trainc.text.files import READING, is_regular_file
from trainc.text.suppress import Suppress

VARIABLE = "TRAINC_CACHE_DIR"
_PREFIX = "trainc-"  # of the names of entries: the folder may be one that is in use
_HEXADECIMAL = frozenset("0123456789abcdef")
_DIGITS = 64  # of a key, which is a SHA-256
_MAX_ENTRIES = 64  # entries; a cluster has a few, and clusters change seldom
_PRIVATE = 0o700
_WRITABLE_BY_OTHERS = 0o022


class FileCache:
    """Data by key (a SHA-256 in hexadecimal), in files that other runs may read and replace at any time; whatever goes wrong is a key not known."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """What was put under a key, if nobody but this user and the administrator can have written it."""
        if (stream := self.open(key)) is None:
            return None
        with stream, Suppress(OSError):
            return stream.read()
        return None

    def open(self, key: str) -> BinaryIO | None:
        """What was put under a key, on the same terms, to be read as far as it is needed; another run may replace it meanwhile."""
        try:
            # Opened without waiting: somebody may have put a pipe there. Whoever asked closes it.
            stream = open(self._path(key), "rb", buffering=0, opener=lambda path, _: os.open(path, READING))  # noqa: SIM115
        except OSError:
            return None
        try:
            entry = os.fstat(stream.fileno())
            if is_regular_file(entry) and is_trusted(entry) and is_trusted(os.stat(self.folder)):
                with Suppress(OSError):  # nobody may write there
                    os.utime(stream.fileno())  # used again: others are forgotten first
                return stream
        except OSError:
            pass
        stream.close()
        return None

    def put(self, key: str, data: bytes) -> None:
        """Keep data under a key, and forget what was not asked for the longest."""
        temporary = f"{self._path(key)}.{os.urandom(8).hex()}"
        with Suppress(OSError):  # doing without costs time and nothing else
            os.makedirs(self.folder, mode=_PRIVATE, exist_ok=True)
            # Forget the oldest of the cache's own entries; other files in the folder are somebody else's.
            paths = [os.path.join(self.folder, name) for name in os.listdir(self.folder) if _is_entry(name)]
            for path in sorted(paths, key=lambda path: os.stat(path).st_mtime, reverse=True)[_MAX_ENTRIES - 1 :]:
                os.remove(path)
            try:
                with open(temporary, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as stream:
                    stream.write(data)
                os.replace(temporary, self._path(key))
            except OSError:
                os.remove(temporary)

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, f"{_PREFIX}{key}")


def _is_entry(name: str) -> bool:
    """Whether a file is an entry of the cache, or one that was being written."""
    key, _, mark = name.removeprefix(_PREFIX).partition(".")
    return name.startswith(_PREFIX) and len(key) == _DIGITS and _HEXADECIMAL.issuperset(key + mark)


def is_trusted(status: os.stat_result) -> bool:
    return os.name != "posix" or (status.st_uid in (0, os.geteuid()) and not status.st_mode & _WRITABLE_BY_OTHERS)


def opened() -> FileCache | None:
    """The cache of this user; none where there is no place for it, or the variable that names its folder is empty."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        home = "~/Library/Caches" if sys.platform == "darwin" else os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        folder = os.path.join(os.path.expanduser(home), "trainc")
    return FileCache(folder) if os.path.isabs(folder) else None
