"""The files of an output folder: read as they are meant, replaced whole, reached through no link."""

import atexit
import os
from collections.abc import Container, Iterator
from typing import NamedTuple, Self

from trainc.compiler.header import MARK, Header, has_conflict, is_rendered, read_header
from trainc.text.files import ordinary_contents
from trainc.text.suppress import Suppress
from trainc.text.trouble import Reaching, Trouble, near

_TEMPORARY = ".trainc-"
_MAX_FILES_NAMED = 20  # files that are named one by one
_DIGITS = frozenset("0123456789abcdef")
# A stream around a file takes longer than the writing.
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


class OnDisk(NamedTuple):
    """A file as it stands: `header` is None for one that trainc did not write, `body` is what follows the header.

    `marked` says that a merge left the marks of a conflict in it, `is_empty` that there is no byte in it but zeros, as
    a power cut may leave one behind. Line ends are those of Unix, whatever a checkout made of them.
    """

    header: Header | None
    body: bytes
    marked: bool = False
    is_empty: bool = False


def read_file(target: str) -> OnDisk | None:
    """The file at a path, None where there is none."""
    try:
        data = ordinary_contents(target)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise Trouble(f"{near(target)} is a folder, and a rendered file belongs there; move or remove it") from error
    return parse_file(data)


def parse_file(data: bytes) -> OnDisk:
    """A file of the output folder by its bytes."""
    if b"\r\n" in data:
        data = data.replace(b"\r\n", b"\n")
    first, _, body = data.partition(b"\n")
    header = read_header(first.decode("utf-8", "replace"))
    # A header without digests, or with one half deleted, is still ours: it counts as edited.
    if is_rendered(data):
        header = header or Header("", "", "")
    marked = header is not None and has_conflict(data)
    return OnDisk(header, body, marked=marked, is_empty=not data.strip(b"\0"))


def is_torn(existing: OnDisk, body: bytes) -> bool:
    """Whether a file is what a power cut leaves: nothing, zeros at its end, or a beginning of what is written to it."""
    if existing.header is None:
        return existing.is_empty
    return existing.body.endswith(b"\0") or (existing.body != body and body.startswith(existing.body))


class Folder:
    """The files below a folder, reached through no symbolic link; what stands in it is listed once."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._listed: dict[str, tuple[str, dict[str, bool]]] = {}  # by folder: its place, and what there is a link
        self._every: list[str] | None = None
        self._places: dict[str, list[str]] | None = None  # by name of a file, where such files stand

    def above(self) -> tuple[str, os.stat_result] | None:
        """The folder in which this one is to be made, and its state now; None where this one is there."""
        path = os.path.abspath(self.name)
        if os.path.isdir(path):
            return None
        while not os.path.isdir(path):
            path = os.path.dirname(path)
        with Reaching(path):
            return path, os.stat(path)

    def every(self) -> list[str]:
        """Every file below the folder, relative to it and sorted, as it was when somebody first asked."""
        if self._every is None:
            files: list[str] = []
            _add_files(self.name, "", files)
            self._every = files
        return self._every

    def elsewhere(self, path: str) -> list[str]:
        """The files of the same name that stand in other folders below this one."""
        if self._places is None:
            self._places = {}
            for other in self.every():
                self._places.setdefault(other.rpartition("/")[2], []).append(other)
        return [other for other in self._places.get(path.rpartition("/")[2], ()) if other != path]

    def find(self, path: str) -> tuple[str, OnDisk | None]:
        """Where the file of a path stands, or would, and what is there; a Trouble where the way leads over a symbolic link."""
        inner, _, name = path.rpartition("/")
        if inner not in self._listed:
            self._listed[inner] = self._list(inner)
        place, links = self._listed[inner]
        target = place + name
        if name not in links:
            return target, None
        if links[name]:
            raise _linked(target)
        return target, read_file(target)

    def _list(self, inner: str) -> tuple[str, dict[str, bool]]:
        place = self.name
        for part in ("", *inner.split("/")):
            place = os.path.join(place, part) if part else place
            if os.path.islink(place):
                raise _linked(place)
        place = os.path.join(place, "")
        if not os.path.isdir(place):
            return place, {}
        with Reaching(place), os.scandir(place) as entries:
            return place, {entry.name: entry.is_symlink() for entry in entries}


def _linked(target: str) -> Trouble:
    return Trouble(f"{target} is a symbolic link; trainc does not write through symbolic links")


class Staged:
    """New contents of files, beside their targets until all are there; what is not moved by the end is taken away again."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, str]] = []  # temporary file, target
        self._made: list[str] = []  # folders, the outer ones first
        self._there: set[str] = set()  # folders that need not be made
        self._mark = f"{_TEMPORARY}{os.urandom(8).hex()}"

    def __enter__(self) -> Self:
        atexit.register(self._drop)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: object) -> None:
        if error is not None:
            self._drop()
        atexit.unregister(self._drop)

    def _drop(self) -> None:
        for temporary, _ in self._waiting:
            with Suppress(OSError):
                os.remove(temporary)
        for folder in reversed(self._made):
            with Suppress(OSError):
                os.rmdir(folder)

    def put(self, target: str, content: bytes) -> None:
        """Write what is to become the content of a file."""
        # A name may have 255 bytes, and that of the target may have all of them.
        folder, name = os.path.split(target)
        temporary = os.path.join(folder, f"{name[-50:]}{self._mark}{len(self._waiting):x}")
        with Reaching(target):
            self._make(folder)
            self._waiting.append((temporary, target))
            number = os.open(temporary, _WRITING, 0o666)
            try:
                while content:
                    content = content[os.write(number, content) :]
            finally:
                os.close(number)

    def _make(self, folder: str) -> None:
        if folder in self._there:
            return
        if folder and not os.path.isdir(folder):
            self._make(os.path.dirname(folder))
            with Suppress(FileExistsError):  # another build may make it at the same time; a file in the way shows later
                os.mkdir(folder)
                self._made.append(folder)
        self._there.add(folder)

    def move(self) -> None:
        """Put all of it in place: at every moment each file is the old one or the new one."""
        for index, (temporary, target) in enumerate(self._waiting):
            try:
                os.replace(temporary, target)
            except OSError as error:
                moved = [near(other) for _, other in self._waiting[:index]]
                raise Trouble(f"{near(target)}: {error.strerror or error}{_new(moved)}") from error


def _new(moved: list[str]) -> str:
    """What to say of files that are new already when the next one cannot be replaced."""
    if not moved:
        return "; no file was changed"
    more = f" and {len(moved) - _MAX_FILES_NAMED} more" if len(moved) > _MAX_FILES_NAMED else ""
    return f"; new already: {', '.join(moved[:_MAX_FILES_NAMED])}{more}; run the same command again for the rest"


def replace(target: str, content: bytes) -> None:
    """Put new content at a path: at every moment the file there is the old one or the new one."""
    with Staged() as staged:
        staged.put(target, content)
        staged.move()


def create(target: str, text: str) -> bool:
    """Put a text where there is nothing yet; whether there was nothing."""
    if os.path.lexists(target):
        return False
    replace(target, text.encode())
    return True


def remove(folder: str, path: str) -> None:
    """Remove a file below `folder`, and the folders that are empty without it."""
    with Reaching(os.path.join(folder, path)):
        os.remove(os.path.join(folder, path))
        inner = os.path.dirname(path)
        while inner and not os.listdir(os.path.join(folder, inner)):
            os.rmdir(os.path.join(folder, inner))
            inner = os.path.dirname(inner)


def written(folder: Folder, besides: Container[str]) -> Iterator[tuple[str, Header]]:
    """Every file below a folder, `besides` some, that trainc wrote and whose header can be read: relative to it and sorted."""
    for path in folder.every():
        if path.endswith(".yaml") and path not in besides:
            first, _, rest = ordinary_contents(os.path.join(folder.name, path), 4096).partition(b"\n")
            second = rest.partition(b"\n")[0] if has_conflict(first) else b""
            if (
                is_rendered(b"\n".join((first, second)))
                and (header := read_header((second or first).decode("utf-8", "replace"))) is not None
            ):
                yield path, header


def clear_leftovers(folder: Folder) -> None:
    """Remove what has the name and the first line of a temporary file, for a build that holds the folder's lock."""
    for path in folder.every():
        target, mark, name = path.rpartition(_TEMPORARY)
        if not (mark and target.endswith(".yaml") and name and _DIGITS.issuperset(name)):
            continue
        with open(os.path.join(folder.name, path), "rb") as stream:
            first = stream.read(len(MARK))
        if MARK.encode().startswith(first):  # a build may be killed before the first byte
            os.remove(os.path.join(folder.name, path))


def _add_files(folder: str, inner: str, out: list[str]) -> None:
    """Add the files below a folder in it, which ends in a slash or is empty, in the order of their names."""
    try:
        with os.scandir(os.path.join(folder, inner)) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            out.append(inner + entry.name)
        elif entry.is_dir(follow_symlinks=False):
            _add_files(folder, f"{inner}{entry.name}/", out)
