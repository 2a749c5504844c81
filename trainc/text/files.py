"""Reading files that strangers put in place: ordinary files alone, so that no pipe or device is waited for."""

import os
from collections.abc import Iterable

# A pipe that nobody writes to is opened at once instead of waited for.
READING = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_ORDINARY = 0o100000  # the type of an ordinary file in st_mode, as `stat` has it, which takes a module


def ordinary_contents(path: str, limit: int = -1) -> bytes:
    """The bytes of an ordinary file, at most `limit` of them; OSError for pipes, devices, sockets and folders."""
    number = os.open(path, READING)
    with open(number, "rb") as stream:
        if not is_regular_file(os.fstat(number)):
            raise OSError(0, "not an ordinary file")
        return stream.read(limit)


def is_regular_file(status: os.stat_result) -> bool:
    return status.st_mode & 0o170000 == _ORDINARY


def is_inside(root: str, path: str) -> bool:
    """Whether a path, its symbolic links followed, stays under the root or is it; one with a NUL byte is nowhere."""
    if "\0" in path:
        return False
    real, top = os.path.realpath(path), os.path.realpath(root)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)


def is_below(file: str, paths: Iterable[str]) -> bool:
    """Whether a file is one of the paths or lies below one, all relative to one folder, which is `.`."""
    return any(path in (".", file) or file.startswith(f"{path.rstrip('/')}/") for path in paths)


def work_tree(folder: str) -> str:
    """The top of the Git work tree that holds a folder, which need not be there yet; empty outside of one."""
    while not os.path.exists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return ""
        folder = os.path.dirname(folder)
    return folder


_POINTER = b"version https://git-lfs.github.com/spec/"


def is_pointer(data: bytes) -> bool:
    """Whether a text is a pointer of Git LFS, and not what it points to."""
    return data.startswith(_POINTER)


try:
    from _blake2 import blake2b  # as `hashlib` has it, which loads OpenSSL besides, and that takes milliseconds
except ImportError:
    from hashlib import blake2b

DIGEST = 32  # bytes


def digest_of(data: bytes) -> bytes:
    """The digest of some bytes: two that differ never have the same one."""
    return blake2b(data, digest_size=DIGEST).digest()


def is_sparse(folder: str) -> bool:
    """Whether the checkout that holds a folder may leave files out."""
    mark = os.path.join(work_tree(folder), ".git")
    try:
        if os.path.isfile(mark):  # of a linked work tree
            gitdir = ordinary_contents(mark, 4096).decode("utf-8", "replace").partition("gitdir: ")[2].strip()
            mark = os.path.join(os.path.dirname(mark), gitdir)
    except OSError:
        return False
    return os.path.isfile(os.path.join(mark, "info", "sparse-checkout"))
