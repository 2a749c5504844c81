"""A lock on an output folder: two builds that write to it take turns."""

import os
from typing import Self

from trainc.cli.output import tell
from trainc.text.suppress import Suppress


class FolderLock:
    """Held while a folder is compared and written: of two builds the second sees what the first has written.

    The lock is on the folder above, which is there before the output folder is, and leaves no file behind. `held` is
    False where the file system has no locks; builds are apart by their temporary names alone then.
    """

    def __init__(self, folder: str) -> None:
        self._above = os.path.dirname(os.path.abspath(folder))
        self._folder = folder
        self._number = -1
        self.held = False

    def __enter__(self) -> Self:
        try:
            import fcntl  # noqa: PLC0415 (not on every system)
        except ImportError:
            return self
        above = self._above
        while not os.path.isdir(above) and above != os.path.dirname(above):
            above = os.path.dirname(above)
        with Suppress(OSError):
            self._number = os.open(above, os.O_RDONLY)
            try:
                fcntl.flock(self._number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell(f"trainc: waiting for another build that writes to {self._folder}")
                fcntl.flock(self._number, fcntl.LOCK_EX)
            self.held = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if self._number >= 0:
            os.close(self._number)  # which gives the lock back
