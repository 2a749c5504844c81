"""Where text waits for the verdict of the whole run: it is written whole, or not at all."""

from __future__ import annotations

import os

from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

    from trainc.emit import Rendered

_IN_MEMORY = 4 * 1024 * 1024  # characters kept before text goes to a temporary file
_HEADER = "# trainc: from "


class Spool:
    """Collects renderings in order; `commit` hands them to a sink unless the run failed."""

    def __init__(self, *, json: bool = False) -> None:
        self.json = json
        self.jobs = 0
        self.objects = 0
        self.paths: dict[str, str] = {}  # output path -> source file, in order
        self._texts: list[str] = []
        self._sizes: list[int] = []
        self._held = 0
        self._file: IO[bytes] | None = None

    def add(self, rendered: Rendered) -> None:
        """Keep one rendering until the end of the run."""
        self.jobs += 1
        self.objects += rendered.objects
        self.paths[rendered.path] = rendered.source
        self._texts.append(rendered.text)
        self._held += len(rendered.text)
        if self._held > _IN_MEMORY:
            self._spill()

    def _spill(self) -> None:
        if self._file is None:
            import tempfile  # noqa: PLC0415 (costs start-up time; few runs need it)

            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the spool)
        for text in self._texts:
            data = text.encode()
            self._sizes.append(len(data))
            self._file.write(data)
        self._texts.clear()
        self._held = 0

    def texts(self) -> Iterator[str]:
        """The text of every rendering, in order."""
        if self._file is not None:
            self._file.seek(0)
            for size in self._sizes:
                yield self._file.read(size).decode()
        yield from self._texts

    def commit(self, *, unless: bool) -> None:
        """Write everything, unless the run failed."""
        if not unless:
            self.write()

    def write(self) -> None:
        """Hand the text on; a spool that only counts has nobody to hand it to."""


class StreamSpool(Spool):
    """Writes one YAML stream, or one JSON List, to an open stream."""

    def __init__(self, stream: IO[str], *, json: bool = False) -> None:
        super().__init__(json=json)
        self._stream = stream

    def write(self) -> None:
        """Write the documents, separated, in order."""
        before, between, after = (
            ('{"apiVersion":"v1","items":[', ",", '],"kind":"List"}\n') if self.json else ("", "---\n", "")
        )
        self._stream.write(before)
        for index, text in enumerate(self.texts()):
            self._stream.write(between + text if index else text)
        self._stream.write(after)
        self._stream.flush()


class FolderSpool(Spool):
    """Writes one file per job below a folder; files that did not change are not touched."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder
        self.written: list[str] = []

    def write(self) -> None:
        """Replace each file whose content differs, each atomically, after looking at all of them.

        Raises:
            Trouble: for a target that trainc did not write, or that leads elsewhere.
        """
        for path in self.paths:
            self._look(path)
        for (path, source), text in zip(self.paths.items(), self.texts(), strict=True):
            content = f"{_HEADER}{source}; do not edit\n{text}".encode()
            target = os.path.join(self._folder, path)
            if _read(target) != content:
                _replace(target, content)
                self.written.append(path)

    def _look(self, path: str) -> None:
        target = self._folder
        for part in ("", *path.split("/")):
            target = os.path.join(target, part) if part else target
            if os.path.islink(target):
                raise Trouble(f"{target} is a symbolic link; trainc writes through none")
        current = _read(target)
        if current is not None and not current.startswith(_HEADER.encode()):
            raise Trouble(f"{target} was not written by trainc; move it away or choose another folder")


def _read(target: str) -> bytes | None:
    try:
        with open(target, "rb") as stream:
            return stream.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Trouble(f"{target}: {error.strerror}") from error


def _replace(target: str, content: bytes) -> None:
    temporary = f"{target}.trainc-{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(temporary, "wb") as stream:
            stream.write(content)
        os.replace(temporary, target)
    except OSError as error:
        raise Trouble(f"{target}: {error.strerror}") from error
