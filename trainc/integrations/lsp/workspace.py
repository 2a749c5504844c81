"""The texts that an editor holds, and the projects that they belong to."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from trainc.compiler.load.shipped import SHIPPED, catalogue
from trainc.compiler.load.walk import is_candidate
from trainc.compiler.project import find_root
from trainc.integrations.lsp.judgement import Judgement
from trainc.integrations.lsp.positions import UTF16, Positions
from trainc.text.files import ordinary_contents, within

if TYPE_CHECKING:
    from trainc.model.cluster import Opening
    from trainc.model.sourced import Span


class Buffer(NamedTuple):
    """An open file: its address in the editor, its text, and which version of the text that is."""

    uri: str
    text: str
    version: int


class Workspace:
    """Open files by their absolute path, and the judgement of each project that one of them belongs to."""

    def __init__(self, cache: Opening | None) -> None:
        self.buffers: dict[str, Buffer] = {}
        self.encoding = UTF16
        self._cache = cache
        self._judgements: dict[str, Judgement] = {}

    def root(self, path: str) -> str:
        """The folder in which the project of a file starts."""
        return find_root(path)[0] if os.path.isdir(os.path.dirname(path)) else os.path.dirname(path)

    def judgement(self, path: str) -> Judgement:
        """The judgement of the project of a file."""
        root = self.root(path)
        if root not in self._judgements:
            self._judgements[root] = Judgement(root, self._cache)
        return self._judgements[root]

    def forget(self, root: str) -> Judgement | None:
        """Drop a project of which no file is open any more; gives what was known of it."""
        return self._judgements.pop(root, None)

    def roots(self) -> set[str]:
        """The projects of the open files."""
        return {self.root(path) for path in self.buffers}

    def unsaved(self, root: str) -> dict[str, bytes]:
        """The open texts of a project by their file, relative to its root; no link leads out of it."""
        return {
            relative(path, root): buffer.text.encode("utf-8", "surrogatepass")
            for path, buffer in self.buffers.items()
            if self.root(path) == root and is_candidate(path) and within(root, path)
        }

    def file(self, path: str) -> str:
        """What the compiler calls a file."""
        return relative(path, self.root(path))

    def text(self, path: str) -> str:
        """The text of a file as the editor holds it, or else as it is on the disk; empty where it cannot be read."""
        if path in self.buffers:
            return self.buffers[path].text
        try:
            return ordinary_contents(path).decode("utf-8", "replace")
        except OSError:
            return ""

    def is_saved(self, path: str) -> bool:
        """Whether an open text is that of its file."""
        try:
            return ordinary_contents(path) == self.buffers[path].text.encode("utf-8", "surrogatepass")
        except OSError:
            return False

    def positions(self, path: str) -> Positions:
        """The places of a file."""
        return Positions(self.text(path), self.encoding)

    def path(self, span: Span, root: str) -> str:
        """The absolute path of the file of a span, empty where the span is in no file."""
        if span.file.startswith(SHIPPED):
            return os.path.join(catalogue(), span.file.removeprefix(SHIPPED))
        return "" if span.file.startswith(("trainc:", "<")) else os.path.join(root, span.file)


def relative(path: str, root: str) -> str:
    """A path below a root, as findings name it."""
    return os.path.relpath(path, root).replace(os.sep, "/")
