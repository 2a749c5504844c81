"""Whether a path leads out of a folder."""

from __future__ import annotations

import os


def within(root: str, path: str) -> bool:
    """Whether a path, its symbolic links followed, stays under the root or is it; one with a NUL byte is nowhere."""
    if "\0" in path:
        return False
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
