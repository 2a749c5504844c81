"""A command in a terminal of a given width, and everything that it writes there."""

import fcntl
import os
import pty
import struct
import sys
import termios
from pathlib import Path

from tests.compiling import ROOT

_DECIDING = ("NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK", "COLUMNS", "TMUX", "TERM_PROGRAM", "VTE_VERSION")


def has_terminals() -> bool:
    """Whether the machine gives out pseudo-terminals."""
    try:
        ours, theirs = pty.openpty()
    except OSError:
        return False
    os.close(ours)
    os.close(theirs)
    return True


def in_terminal(place: Path, width: int, *words: str, **environment: str) -> str:
    """What `trainc WORDS` writes to both streams of a terminal, with the line ends of a file."""
    kept = {name: text for name, text in os.environ.items() if name not in _DECIDING}
    env = {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "TRAINC_CACHE_DIR": "", **environment}
    process, stream = pty.fork()
    if process == 0:
        try:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
            os.chdir(place)
            os.execve(sys.executable, [sys.executable, "-m", "trainc", *words], env)  # noqa: S606 (our own)
        finally:
            os._exit(127)
    out = b""
    while chunk := _read(stream):
        out += chunk
    os.close(stream)
    os.waitpid(process, 0)
    return out.decode("utf-8").replace("\r\n", "\n")


def _read(stream: int) -> bytes:
    """The next bytes, none when the last process has closed the terminal."""
    try:
        return os.read(stream, 1 << 16)
    except OSError:
        return b""
