"""Progress on a terminal: files done of all, while a run takes longer than half a second."""

from __future__ import annotations

from time import monotonic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_PATIENCE = 0.5  # seconds before anything is shown
_PAUSE = 0.1  # seconds between two lines
_CLEAR = "\r\x1b[K"


class Progress:
    """A line that counts files on a terminal; the cursor stays at its start, so that other text takes its place."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = monotonic() + _PATIENCE
        self._is_shown = False

    def __call__(self, done: int, total: int) -> None:
        """So many files of all are done; when all are, the line goes away."""
        if done >= total:
            if self._is_shown:
                self._write("")
            self._is_shown = False
        elif (moment := monotonic()) >= self._next:
            self._next = moment + _PAUSE
            self._is_shown = True
            self._write(f"{done} of {total} files\r")

    def _write(self, text: str) -> None:
        self._stream.write(f"{_CLEAR}{text}")
        self._stream.flush()
