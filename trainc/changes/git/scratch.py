"""A temporary folder that is gone with the run, however that ends."""

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import Iterable

from trainc.text.trouble import Reaching


class Scratch:
    """Holds a folder while it lasts; being interrupted on the way in or out leaves it to the end of the process."""

    _folder = ""

    def __enter__(self) -> str:
        mask = getattr(signal, "pthread_sigmask", None)  # where there is none, there are hardly any signals
        before = mask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM}) if mask else ()
        try:
            with Reaching("temporary folder"):
                self._folder = tempfile.mkdtemp(prefix="trainc-")
            atexit.register(self._remove)
        finally:
            if mask:
                mask(signal.SIG_SETMASK, before)
        return self._folder

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        self._remove()
        atexit.unregister(self._remove)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def unpack(folder: str, files: Iterable[tuple[str, bytes]]) -> None:
    """Write files, each a path below the folder with its bytes."""
    with Reaching("temporary folder"):
        for path, data in files:
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as stream:
                stream.write(data)


def drop(folder: str, paths: Iterable[str]) -> None:
    """Remove files, each a path below the folder, as far as they are there."""
    with Reaching("temporary folder"):
        for path in paths:
            if os.path.lexists(os.path.join(folder, path)):
                os.unlink(os.path.join(folder, path))


def link(folder: str, links: Iterable[tuple[str, str]]) -> None:
    """Make symbolic links, each a path below the folder where nothing is yet with what it points to."""
    with Reaching("temporary folder"):
        for path, points_to in links:
            target = os.path.join(folder, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not os.path.lexists(target):
                os.symlink(points_to, target)


def make_folders(folder: str, paths: Iterable[str]) -> None:
    """Make folders below the folder, but where something else has that name."""
    with Reaching("temporary folder"):
        for path in paths:
            if not os.path.lexists(os.path.join(folder, path)):
                os.makedirs(os.path.join(folder, path), exist_ok=True)
