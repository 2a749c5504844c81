"""Reading files that strangers put in place: ordinary files alone, so that no pipe or device is waited for."""

from __future__ import annotations

import os

# A pipe that nobody writes to is opened at once instead of waited for.
READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_ORDINARY = 0o100000  # the type of an ordinary file in st_mode, as `stat` has it, which takes a module


def ordinary_contents(path: str, limit: int = -1) -> bytes:
    """The bytes of an ordinary file, at most `limit` of them.

    Raises:
        OSError: where it cannot be read, and for pipes, devices, sockets and folders.
    """
    number = os.open(path, READING)
    with open(number, "rb") as stream:
        if not is_regular_file(os.fstat(number)):
            raise OSError(0, "not an ordinary file")
        return stream.read(limit)


def is_regular_file(status: os.stat_result) -> bool:
    """Whether what was found is an ordinary file."""
    return status.st_mode & 0o170000 == _ORDINARY
