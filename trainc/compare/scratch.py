"""A temporary folder that is gone with the run, however that ends."""

from __future__ import annotations

import atexit
import shutil
import signal
import tempfile

from trainc.model.trouble import Reaching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


class Scratch:
    """Holds a folder while it lasts.

    Being interrupted on the way in or out leaves the folder to the end of the process.
    """

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

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._remove()
        atexit.unregister(self._remove)

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
