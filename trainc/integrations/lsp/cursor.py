"""What stands at a place in a text: a document's key or value, or what a text that cannot be read was going to be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from trainc.compiler.load.lists import expand
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.yaml.reader import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.document import Document
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

_KEY = re.compile(r"""(?P<key>[^\s#'"\[\]{},&*!|>%@`][^#:]*|"[^"]*"|'[^']*')[ ]*:(?:\s|$)""")
_DASH = re.compile(r"-(?:\s+|$)")
_KIND = re.compile(r"^kind:\s*([A-Za-z]+)", re.MULTILINE)
_SEPARATOR = "---"


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
    first, last = _bounds(lines, line)
    kind = _KIND.search("\n".join(lines[first:last]))
    steps: list[tuple[int, str | int]] = []
    for text in lines[first:line]:
        for step in _steps(text):
            _push(steps, step)
    here = list(_steps(before))
    indent, rest = _rest(before)
    is_value = bool(here) and type(here[-1][1]) is str
    for step in here:
        _push(steps, step)
    while not here and steps and steps[-1][0] >= indent:
        steps.pop()
    path = tuple([step for _, step in steps])
    typed = re.split(r"[\s,\[{]", rest.rpartition(": ")[2] if is_value else rest)[-1].strip("\"'")
    siblings = frozenset() if is_value else frozenset(_siblings(lines, first, last, line, indent))
    return Outline(kind[1] if kind else "", path, typed, is_value, siblings)


def _bounds(lines: list[str], line: int) -> tuple[int, int]:
    """The lines of the document that a line belongs to."""
    starts = [number for number, text in enumerate(lines) if text.rstrip() == _SEPARATOR]
    first = max((number + 1 for number in starts if number < line), default=0)
    return first, min((number for number in starts if number >= line), default=len(lines))


def _rest(text: str) -> tuple[int, str]:
    """The column at which the last step of a line starts, and the line from there on."""
    rest = text.lstrip(" ")
    while match := _DASH.match(rest):
        rest = rest[match.end() :]
    return len(text) - len(rest), rest


def _steps(text: str) -> Iterator[tuple[int, str | int]]:
    """The items and the key that start on a line, each with its column."""
    rest = text.lstrip(" ")
    while match := _DASH.match(rest):
        yield len(text) - len(rest), 0
        rest = rest[match.end() :]
    match = _KEY.match(rest)
    if match:
        yield len(text) - len(rest), match["key"].strip(" \"'")


def _push(steps: list[tuple[int, str | int]], step: tuple[int, str | int]) -> None:
    """Go on to a step, and leave what it is not inside of; a list may stand as far left as its key."""
    indent, name = step
    while steps and (steps[-1][0] > indent or (steps[-1][0] == indent and _ends(steps[-1][1], name))):
        steps.pop()
    steps.append(step)


def _ends(former: str | int, name: str | int) -> bool:
    return type(former) is int or type(name) is str


def _siblings(lines: list[str], first: int, last: int, line: int, indent: int) -> Iterator[str]:
    """The keys of the map that is written on a line."""
    for numbers in (range(line - 1, first - 1, -1), range(line + 1, last)):
        for number in numbers:
            steps = list(_steps(lines[number]))
            if not steps:
                continue
            if steps[-1][0] == indent and type(steps[-1][1]) is str:
                if numbers.step > 0 and len(steps) > 1:
                    break
                yield str(steps[-1][1])
            if steps[0][0] < indent:
                break
