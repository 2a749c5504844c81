"""Places in a text, and what stands at one: a document's key or value, or what an unreadable text was going to be.

The compiler counts lines and columns from 1, in characters, and ends a line where YAML does. The Language Server
Protocol counts from 0, in units of the encoding that was agreed on (UTF-16 unless the editor asks for another one), and
knows three line ends.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from lsprotocol import types

from trainc.apiserver import shipped
from trainc.authoring.explain import Field, root_of
from trainc.compiler.load.lists import expand
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree
from trainc.yaml.reader import read

_KEY = re.compile(r"""(?P<key>[^\s#'"\[\]{},&*!|>%@`][^#:]*|"[^"]*"|'[^']*')[ ]*:(?:\s|$)""")
_DASH = re.compile(r"-(?:\s+|$)")
_DASHES = re.compile(r"^ *(?:-(?:\s+|$))*")
_KIND = re.compile(r"^kind:\s*([A-Za-z]+)", re.MULTILINE)
_YAML = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
_EDITOR = re.compile("\r\n|[\r\n]")
_MARK = "\ufeff"  # at the start of a text it counts for editors alone
UTF8, UTF16, UTF32 = "utf-8", "utf-16", "utf-32"
_ENCODINGS = {UTF8: ("utf-8", 1), UTF16: ("utf-16-le", 2), UTF32: ("utf-32-le", 4)}


class Cursor(NamedTuple):
    """A key or a value of a document, the span of it, and the text that stands there."""

    document: Document
    path: Path
    is_key: bool
    span: Span
    text: str


def documents_of(text: str, file: str) -> list[Document]:
    """The documents of a text that can be read."""
    return list(expand(read(text, file, Report()), Report()))


def find(documents: list[Document], line: int, column: int) -> Cursor | None:
    """What stands at a line and a column, counted as in spans; None for blanks and comments."""
    for document in documents:
        for cursor in _all(document, document.tree, ()):
            span = cursor.span
            if (span.line, span.column) <= (line, column) <= (span.end_line, span.end_column):
                return cursor
    return None


def _all(document: Document, node: Tree, path: Path) -> Iterator[Cursor]:
    if type(node) is dict:
        for key, child in node.items():
            yield Cursor(document, (*path, key), True, document.span((*path, key), key=True), str(key))
            yield from _all(document, child, (*path, key))
    elif type(node) is list:
        for index, child in enumerate(node):
            yield from _all(document, child, (*path, index))
    elif type(node) is Sourced and node.origin.at is not None and node.origin.at.file == document.file:
        yield Cursor(document, path, False, node.origin.at, str(node.value))


class Outline(NamedTuple):
    """What is being written on a line, by the indentation alone, so that a text may be broken anywhere else.

    `kind` is that of the document, `path` leads to the map or list that is written in, or with `is_value` to the key
    before the value; `typed` is as much of the word as is there, `siblings` are the keys beside it.
    """

    kind: str
    path: Path
    typed: str
    is_value: bool
    siblings: frozenset[str]


def outline(lines: list[str], line: int, before: str) -> Outline:
    """What is written at the end of `before`, the text of a line up to the cursor."""
    starts = [number for number, text in enumerate(lines) if text.rstrip() == "---"]
    first = max((number + 1 for number in starts if number < line), default=0)
    last = min((number for number in starts if number >= line), default=len(lines))
    kind = _KIND.search("\n".join(lines[first:last]))
    steps: list[tuple[int, str | int]] = []
    for text in lines[first:line]:
        for step in _steps(text):
            _push(steps, step)
    here = list(_steps(before))
    rest = _DASHES.sub("", before, count=1)
    indent = len(before) - len(rest)
    is_value = bool(here) and type(here[-1][1]) is str
    for step in here:
        _push(steps, step)
    while not here and steps and steps[-1][0] >= indent:
        steps.pop()
    path = tuple([step for _, step in steps])
    typed = re.split(r"[\s,\[{]", rest.rpartition(": ")[2] if is_value else rest)[-1].strip("\"'")
    siblings = frozenset() if is_value else frozenset(_siblings(lines, first, last, line, indent))
    return Outline(kind[1] if kind else "", path, typed, is_value, siblings)


def _steps(text: str) -> Iterator[tuple[int, str | int]]:
    """The items and the key that start on a line, each with its column."""
    rest = text.lstrip(" ")
    while match := _DASH.match(rest):
        yield len(text) - len(rest), 0
        rest = rest[match.end() :]
    if match := _KEY.match(rest):
        yield len(text) - len(rest), match["key"].strip(" \"'")


def _push(steps: list[tuple[int, str | int]], step: tuple[int, str | int]) -> None:
    """Go on to a step, and leave what it is not inside of; a list may stand as far left as its key."""
    indent, name = step
    while steps:
        column, former = steps[-1]
        if column < indent or (column == indent and type(former) is str and type(name) is int):
            break
        steps.pop()
    steps.append(step)


def _siblings(lines: list[str], first: int, last: int, line: int, indent: int) -> Iterator[str]:
    for numbers in (range(line - 1, first - 1, -1), range(line + 1, last)):
        for number in numbers:
            if not (steps := list(_steps(lines[number]))):
                continue
            if steps[-1][0] == indent and type(steps[-1][1]) is str:
                if numbers.step > 0 and len(steps) > 1:
                    break
                yield str(steps[-1][1])
            if steps[0][0] < indent:
                break


class Positions:
    """One text, and its places in both ways of counting; `encoding` is utf-8, utf-16 or utf-32."""

    def __init__(self, text: str, encoding: str = UTF16) -> None:
        self.text = text
        self._codec, self._bytes = _ENCODINGS[encoding]
        self._starts = [0, *(end.end() for end in _EDITOR.finditer(text))]
        # As editors count them, without their ends.
        self.lines = [text[start:end].rstrip("\r\n") for start, end in pairwise([*self._starts, len(text)])]
        self._yaml_starts = [int(text.startswith(_MARK)), *(end.end() for end in _YAML.finditer(text))]

    def range(self, span: Span) -> types.Range:
        """The range of a span; what lies behind the end of the text is at its end."""
        start = self._offset_of(span.line, span.column)
        end = max(start, self._offset_of(span.end_line, span.end_column))
        return types.Range(self.position(start), self.position(end))

    def position(self, offset: int) -> types.Position:
        """The position of a character, by its number in the text."""
        line = bisect_right(self._starts, offset) - 1
        return types.Position(line, self._units(self.text[self._starts[line] : offset]))

    def offset(self, position: types.Position) -> int:
        """The number of the character at a position; a position behind the end of its line is at that end."""
        if position.line >= len(self._starts):
            return len(self.text)
        line = self.lines[position.line]
        units = column = 0
        while column < len(line) and units < position.character:
            units += self._units(line[column])
            column += 1
        return self._starts[position.line] + column

    def place(self, position: types.Position) -> tuple[int, int]:
        """Line and column of a position as the compiler counts them."""
        offset = self.offset(position)
        line = max(bisect_right(self._yaml_starts, offset) - 1, 0)
        return line + 1, max(offset - self._yaml_starts[line], 0) + 1

    def _offset_of(self, line: int, column: int) -> int:
        if line > len(self._yaml_starts):
            return len(self.text)
        start = self._yaml_starts[line - 1]
        end = self._yaml_starts[line] if line < len(self._yaml_starts) else len(self.text)
        return min(start + column - 1, max(start, start + len(self.text[start:end].rstrip("\r\n"))))

    def _units(self, text: str) -> int:
        return len(text.encode(self._codec, "surrogatepass")) // self._bytes


def field_at(kind: str, api_version: str, path: Path) -> Field | None:
    """The field, or the kind itself for an empty path; None where the schemas have none of that name."""
    known = [one for one in shipped.listed() if one.kind == kind]
    exact = [one for one in known if f"{one.group}/{one.version}" == api_version]
    if not known:
        return None
    field = root_of((exact or known)[0])
    for step in path:
        schema = field.schema["anyOf"][0] if "anyOf" in field.schema else field.schema
        # Items of lists and values of maps that people name are no fields of their own.
        is_map = "properties" not in schema and isinstance(schema.get("additionalProperties"), dict)
        below = field.element() if type(step) is int or is_map else dict(field.children()).get(str(step))
        if below is None:
            return None
        field = below
    return field
