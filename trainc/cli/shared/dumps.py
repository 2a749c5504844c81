"""Dumps that the command line names: standard input or an ordinary file, up to a size."""

from __future__ import annotations

import sys

from trainc.text.files import ordinary_contents
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import LIMIT

_MAX_BYTES = 4 * LIMIT  # bytes: kubectl's JSON of a large cluster


def source_name(path: str) -> str:
    """What people call the source: `-` is standard input."""
    return "standard input" if path == "-" else path


def contents(path: str) -> bytes:
    """The bytes of one dump; of a larger one no more is read than shows that it is.

    Raises:
        Trouble: for what cannot be read, is not an ordinary file, or is larger.
    """
    name = source_name(path)
    with Reaching(name):
        content = sys.stdin.buffer.read(_MAX_BYTES + 1) if path == "-" else ordinary_contents(path, _MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise Trouble(f"{name} is larger than {_MAX_BYTES >> 20} MiB; narrow it with -n or -l")
    return content
