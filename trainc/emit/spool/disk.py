"""The files of an output folder: read as they are meant, replaced whole, reached through no link."""

from __future__ import annotations

import os
from contextlib import suppress

from trainc.model.header import MARK, Header, read_header
from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPORARY = ".trainc-"


class Found:
    """A file as it stands: `header` is None for one that trainc did not write, `body` is what follows the header.

    Line ends are those of Unix, whatever a checkout made of them.
    """

    __slots__ = ("body", "header")

    def __init__(self, header: Header | None, body: bytes) -> None:
        self.header = header
        self.body = body


def read_found(target: str) -> Found | None:
    """The file at a path, None where there is none."""
    try:
        with open(target, "rb") as stream:
            data = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Trouble(f"{target}: {error.strerror}") from error
    if b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    first, _, body = data.partition(b"\n")
    header = read_header(first.decode("utf-8", "replace"))
    # A header without digests, or with one half deleted, is still ours: it counts as edited.
    if header is None and first.startswith(MARK.encode()):
        header = Header("", "", "")
    return Found(header, body)


def replace(target: str, content: bytes) -> None:
    """Put new content at a path: at every moment the file there is the old one or the new one."""
    temporary = f"{target}{_TEMPORARY}{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(temporary, "wb") as stream:
            stream.write(content)
        os.replace(temporary, target)
    except OSError as error:
        with suppress(OSError):
            os.remove(temporary)
        raise Trouble(f"{target}: {error.strerror}") from error


def remove(folder: str, path: str) -> None:
    """Remove a file below `folder`, and the folders that are empty without it."""
    try:
        os.remove(os.path.join(folder, path))
        inner = os.path.dirname(path)
        while inner and not os.listdir(os.path.join(folder, inner)):
            os.rmdir(os.path.join(folder, inner))
            inner = os.path.dirname(inner)
    except OSError as error:
        raise Trouble(f"{os.path.join(folder, path)}: {error.strerror}") from error


def refuse_links(folder: str, path: str) -> None:
    """Raise Trouble where the way to a file leads over a symbolic link."""
    target = folder
    for part in ("", *path.split("/")):
        target = os.path.join(target, part) if part else target
        if os.path.islink(target):
            raise Trouble(f"{target} is a symbolic link; trainc writes through none")


def written(folder: str) -> Iterator[tuple[str, str]]:
    """Every file below a folder that trainc wrote, relative to it and sorted, with the source in its header."""
    for path in _files(folder, ""):
        if path.endswith(".yaml"):
            with open(os.path.join(folder, path), "rb") as stream:
                first = stream.readline(4096)
            if first.startswith(MARK.encode()):
                header = read_header(first.decode("utf-8", "replace"))
                yield path, header.source if header is not None else ""


def clear_leftovers(folder: str) -> None:
    """Remove temporary files of builds that were killed."""
    for path in _files(folder, ""):
        _, mark, number = path.rpartition(_TEMPORARY)
        if mark and number.isdigit() and not _runs(int(number)):
            os.remove(os.path.join(folder, path))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return process != os.getpid()


def _files(folder: str, inner: str) -> Iterator[str]:
    try:
        with os.scandir(os.path.join(folder, inner)) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        path = f"{inner}/{entry.name}" if inner else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _files(folder, path)
        elif entry.is_file(follow_symlinks=False):
            yield path
