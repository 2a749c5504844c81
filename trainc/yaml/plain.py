"""Documents in the common spelling, built line by line: the same trees and places that libyaml's events give.

Most manifests are block maps and lists with a scalar on each line. Reading these without a parser takes a third of
the time; the first line that says anything else hands its document and all that follow to libyaml.
"""

from __future__ import annotations

from trainc.model.document import Document
from trainc.model.sourced import Origin, Sourced, Span
from trainc.yaml.lines import BOUNDARY, LINES, DeclinedError, Flow, Literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from trainc.model.document import Marks, Stretch
    from trainc.model.tree import Tree

LIMIT = 1024 * 1024  # bytes of a text whose lines are worth splitting
DEPTH = 100

_ODD = frozenset("\t\r\x85\u2028\u2029\ufeff")  # what ends a line, or stands in one, for a parser alone

_new = tuple.__new__


def documents(data: bytes, file: str) -> Generator[Document, None, bytes]:
    """Each document that is not empty, as long as the spelling is common; the rest of the UTF-8 text, on its old lines."""
    text = data.decode() if len(data) <= LIMIT else "\t"
    if not (text.isascii() and "\t" not in text and "\r" not in text) and not _ODD.isdisjoint(text):
        return data
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        builder = _Builder(file)
        try:
            after = builder.read(lines, at)
        except DeclinedError:
            return b"\n" * at + "\n".join(lines[at:]).encode()
        if builder.root is not None:
            yield Document(file, builder.root, builder.marks, builder.start)
        at = after
    return b""


class _Builder:
    """One document under construction: the innermost open container, and those around it on the stack."""

    __slots__ = (
        "_begun",
        "_column",
        "_file",
        "_last",
        "_open_ended",
        "_places",
        "_stack",
        "_top",
        "_waiting",
        "marks",
        "root",
        "start",
    )

    def __init__(self, file: str) -> None:
        self._file = file
        self._stack: list[tuple[int, Any, dict[str, Stretch] | None, tuple[int, int]]] = []
        self._column = 0
        self._top: Any = None
        self._places: Any = None  # of the keys; None in a list
        self._begun = (0, 0)
        self._last = Span(file, 0, 0, 0, 0)  # of the latest value, which ends all that it is the last of
        self._waiting: tuple[str, int, int] | None = None  # a key without a value so far
        self._open_ended = True
        self.marks: dict[int, Marks] = {}
        self.root: Tree = None
        self.start = 0  # the line of the document's first word

    def read(self, lines: list[str], at: int) -> int:
        """Read one document that starts at an index; the index at which the next one does.

        Raises:
            DeclinedError: where the document is spelled in a way that only a parser understands.
        """
        while self._open_ended:
            at = self._lines(lines, at)
        self._void()
        while self._stack:
            self._pop()
        return at

    def _lines(self, lines: list[str], at: int) -> int:
        """Read until a text of several lines, or the document, ends; the index of the line behind."""
        file, said = self._file, LINES
        for number in range(at, len(lines)):
            line = said[lines[number]]
            if line is None:
                continue
            dash, column, key, after, value, start, end = line
            place = number + 1
            if dash or column != self._column or self._waiting is not None or self._places is None:
                if line is BOUNDARY:
                    if self.start:
                        self._open_ended = False
                        return number
                    self.start = place
                    continue
                self._move(dash, column, place, key)
            if start:
                self._last = span = _new(Span, (file, place, start, place, end))
                node: Tree = Sourced(value, _new(Origin, (span, "", ())))
            elif value is None:
                node = None
                self._waiting = key, place, end  # type: ignore[assignment]  # only after a key there is nothing
            else:
                node = self._several(value, lines, place, end)
            if key is None:
                self._top.append(node)
            else:
                if key in self._places:
                    raise DeclinedError
                self._top[key] = node
                self._places[key] = place, column, place, after
            if type(value) is Literal:
                return self._last.end_line - 1
        self._open_ended = False
        return len(lines)

    def _move(self, dash: int, column: int, place: int, key: str | None) -> None:
        """Open and close containers until the innermost one is that which the line speaks of."""
        indent = dash or column
        if self._top is None:
            if dash:
                raise DeclinedError
            self.start = self.start or place
            self.root = self._open({}, column, place)
            return
        if self._waiting is not None:
            name = self._waiting[0]
            if indent > self._column or (dash and dash == self._column):
                self._waiting = None
                parent = self._top
                parent[name] = self._open([] if dash else {}, indent, place)
            else:
                self._void()
        while self._column > indent or (self._column == indent and self._places is None and not dash):
            self._pop()
        if self._column != indent or (self._places is None) != (dash > 0):
            raise DeclinedError
        if dash and key is not None:
            items = self._top
            items.append(self._open({}, column, place))

    def _open(self, container: Any, column: int, place: int) -> Tree:
        if len(self._stack) > DEPTH:
            raise DeclinedError
        self._stack.append((self._column, self._top, self._places, self._begun))
        self._column, self._top, self._begun = column, container, (place, column)
        self._places = None if type(container) is list else {}
        return container

    def _pop(self) -> None:
        if not self._stack:
            raise DeclinedError
        self.marks[id(self._top)] = (*self._begun, *self._last[3:]), self._places
        self._column, self._top, self._places, self._begun = self._stack.pop()

    def _void(self) -> None:
        """Give the waiting key the null that an empty value is."""
        if self._waiting is not None:
            key, place, end = self._waiting
            self._last = Span(self._file, place, end, place, end)
            self._top[key] = Sourced(None, Origin(self._last))
            self._waiting = None

    def _several(self, value: Any, lines: list[str], place: int, end: int) -> Tree:
        return self._bracketed(value, place, end) if type(value) is Flow else self._literal(value, lines, place)

    def _literal(self, literal: Literal, lines: list[str], place: int) -> Tree:
        """The text below a `|`: every line that is blank or indented as the first one is, at least."""
        first = lines[place] if place < len(lines) else ""
        indent = len(first) - len(first.lstrip(" "))
        if len(first) == indent or indent < self._column:
            raise DeclinedError
        margin = " " * indent
        at = place
        while at < len(lines) - 1 and (lines[at].startswith(margin) or not lines[at].strip(" ")):
            at += 1
        texts = [line[indent:] for line in lines[place:at]]
        while not texts[-1]:
            texts.pop()
        self._last = Span(self._file, place, literal.start, at + 1, 1)
        return Sourced("\n".join(texts) + literal.ending, Origin(self._last))

    def _bracketed(self, flow: Flow, place: int, end: int) -> Tree:
        """A list or map in brackets on one line."""
        node: Any = {} if flow.table else []
        places: dict[str, Stretch] | None = {} if flow.table else None
        for key, at, after, value, first, last in flow.parts:
            leaf = Sourced(value, Origin(Span(self._file, place, first, place, last)))
            if places is None:
                node.append(leaf)
            else:
                node[key] = leaf
                places[key or ""] = place, at, place, after
        self._last = Span(self._file, place, flow.start, place, end)
        self.marks[id(node)] = self._last[1:], places
        return node
