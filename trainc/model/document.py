"""One YAML document: a tree whose every node has a place in a file."""

from typing import Protocol

from trainc.model.finding import SAFE, Edit
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, get

Identity = tuple[str, str, str, int]
Stretch = tuple[int, int, int, int]
Marks = tuple[int, int, int, int, dict[str, Stretch] | None]


class Marked(Protocol):
    """Marks by identity of their nodes: a dict, or what finds them when they are asked for."""

    def get(self, node: int, /) -> Marks | None:
        """The marks of a node, None for one that is not of the document."""


class Document:
    """Valid YAML as Kubernetes reads it; `span(path)` answers for every path."""

    __slots__ = ("file", "inside", "marks", "start", "stored", "text", "tree", "written")
    composed = False  # whether it was put together from several documents

    def __init__(
        self,
        file: str,
        tree: Tree,
        marks: Marked,
        start: int = 1,
        *,
        written: Tree = None,
        inside: Path | None = (),
        text: bytes = b"",
    ) -> None:
        self.file = file
        self.tree = tree
        self.written = tree if written is None else written  # what the file says, before defaults
        # By identity of each dict and list of the tree, where the node stands and where its keys do: line and column of
        # its start and its end, counted as in spans, which they become only when somebody asks.
        self.marks = marks
        self.start = start  # the line on which the document starts in its file
        self.inside = inside  # the path in what the file says from there on, as of a List's item; None for one without
        self.text = text  # of the whole file, empty for what comes from none
        self.stored: tuple[object, Document] | None = None  # which server takes it, and what that stores

    def admitted(self, tree: Tree) -> "Document":
        """This document as a server would store it: nulls gone, defaults in; places stay those of the file."""
        return Document(
            self.file, tree, self.marks, self.start, written=self.written, inside=self.inside, text=self.text
        )

    def instead(self, tree: Tree) -> "Document":
        """This document with another tree, whose paths are those of the file."""
        return Document(self.file, tree, self.marks, self.start, inside=self.inside, text=self.text)

    def part(self, tree: Tree, *steps: str | int) -> "Document":
        """One of the objects that this document lists, at these steps of it; without any it is made of its parts."""
        inside = (*self.inside, *steps) if steps and self.inside is not None else None
        return Document(self.file, tree, self.marks, self.start, inside=inside, text=self.text)

    def edits(self, path: Path, value: object = None, *, safety: str = SAFE, name: str = "") -> list[Edit]:
        """The edit that sets, removes or renames what stands at a path of this object, none where it stands nowhere."""
        if self.inside is None:
            return []
        return [Edit(self.file, self.start, (*self.inside, *path), value, safety=safety, name=name)]

    @property
    def files(self) -> tuple[str, ...]:
        return (self.file,)

    def holds(self, span: Span) -> bool:
        """Whether a place is in this document, beside which others may stand in the same file."""
        whole = self.span()
        return span.file == self.file and whole.line <= span.line <= whole.end_line

    def place_of(self, path: Path) -> "tuple[Document, Path]":
        """The document that says what stands at a path, or is to say it, and where."""
        return self, path

    @property
    def api_version(self) -> str:
        """`apiVersion`, empty where absent or no string."""
        return _text(self.tree, "apiVersion")

    @property
    def kind(self) -> str:
        """`kind`, empty where absent or no string."""
        return _text(self.tree, "kind")

    @property
    def name(self) -> str:
        """`metadata.name`, empty where absent or no string."""
        return _text(self.tree.get("metadata") if self.tree.__class__ is dict else None, "name")

    @property
    def namespace(self) -> str:
        """`metadata.namespace`, empty where absent: lookups read that as `default`."""
        return _text(self.tree.get("metadata") if self.tree.__class__ is dict else None, "namespace")

    @property
    def identity(self) -> Identity:
        """What tells it from every other document of a run: kind, name, file and first line."""
        return self.kind, self.name, self.file, self.start

    @property
    def sources(self) -> "tuple[Document, ...]":
        """The documents that it was put together from: itself alone, unless it is composed."""
        return (self,)

    def span(self, path: Path = (), *, key: bool = False) -> Span:
        """Where the node at `path` is written (with `key`, its key); the nearest parent for a node that is not."""
        for length in range(len(path), -1, -1):
            if (position := self._span(path[:length], key or length < len(path))) is not None:
                return position
        return Span(self.file, self.start, 1, self.start, 1)

    def _span(self, path: Path, key: bool) -> Span | None:
        if key and path and type(path[-1]) is str:
            parent = self.marks.get(id(get(self.written, *path[:-1])))
            mark = parent[4].get(path[-1]) if parent and parent[4] else None
            if mark:
                return Span(self.file, *mark)
        node = get(self.written, *path)
        if type(node) is Sourced:
            return node.origin.at
        marks = self.marks.get(id(node))
        return Span(self.file, *marks[:4]) if marks and node is not None else None


def _text(tree: Tree, key: str) -> str:
    """The text that a key of a map holds, empty where there is none."""
    leaf = tree.get(key) if tree.__class__ is dict else None
    held = leaf.value if leaf.__class__ is Sourced else None
    return held if held.__class__ is str else ""
