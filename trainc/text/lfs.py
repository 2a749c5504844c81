"""Git LFS: a text that stands for a file which was not fetched."""

from __future__ import annotations

_POINTER = b"version https://git-lfs.github.com/spec/"


def is_pointer(data: bytes) -> bool:
    """Whether a text is a pointer of Git LFS, and not what it points to."""
    return data.startswith(_POINTER)
