"""Documents in the common spelling, built line by line: the same trees and places that libyaml's events give.

Most manifests are block maps and lists with a scalar on each line. Reading these without a parser takes a third of
the time; the first line that says anything else hands its document and all that follow to libyaml.
"""

from collections.abc import Generator
from typing import Any, Final, NamedTuple

from trainc.model.document import Document, Marks, Stretch
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree
from trainc.text.memo import TextMemo
from trainc.yaml.scalars import KEYS, OddError, value_of

Head = tuple[int, int, str, int]
Line = tuple[int, int, str | None, int, Any, int, int]
Part = tuple[str | None, int, int, Any, int, int]

LIMIT = 1024 * 1024  # bytes of lines that are worth splitting together
_PIECE = LIMIT // 4  # bytes: a longer text is split into lines piece by piece, where a document starts
DEPTH = 100

_new = object.__new__
_SHORT = 120
_LONGEST_KEY = 1024  # characters; libyaml, and the server's parser, take nothing longer for a key
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")  # a plain scalar does not start with these
_QUOTES = frozenset("'\"")
_OPENING = frozenset("[{")
_BLANK = frozenset((" ", ""))
_DEEPEST = 50  # brackets within brackets
_BRACKETS = frozenset("[]{},'\"#:&*!|>%@`?")  # what a plain scalar in brackets is not trusted with
_ENDINGS = {"|": "\n", "|-": ""}
BOUNDARY: Final[Line] = (0, 0, None, 0, None, 0, 0)  # what `---` says


def documents(data: bytes, file: str) -> Generator[Document, None, bytes]:
    """Each document that is not empty, as long as the spelling is common; the rest of the text, on its old lines."""
    first = start = 0  # the line and the byte at which a piece starts
    while start < len(data):
        end = data.find(b"\n---\n", start + _PIECE) + 1 or len(data)
        try:
            text = data[start:end].decode() if end - start <= LIMIT else None
        except UnicodeDecodeError:
            text = None
        if text is None:
            return b"\n" * first + data[start:]
        lines = [""] * first + text.split("\n")
        rest = yield from _piece(lines, first, file)
        if rest is not None:
            return b"\n" * rest + "\n".join((*lines[rest:-1], "")).encode() + data[end:]
        first, start = len(lines) - 1, end
    return b""


def _piece(lines: list[str], at: int, file: str) -> Generator[Document, None, int | None]:
    """The documents from a line on; the line of the first one in another spelling, None where there is none."""
    lines[-1] = "---"  # behind the last line end, so that every document ends at one
    end = len(lines) - 1
    while at < end:
        builder = _Builder(file, lines, at)
        try:
            tree = builder.document()
        except DeclinedError:
            return at
        if tree is not None:
            yield Document(file, tree, Places(tree, lines, at), builder.start)
        at = builder.at
    return None


class _Lines:
    """The lines of a text; `at` is the index of the one that is read next."""

    def __init__(self, lines: list[str], at: int) -> None:
        self._lines = lines
        self.at = at

    def _next_line(self) -> Line:
        """What the next line says that says anything."""
        while (line := LINES[self._lines[self.at]]) is None:
            self.at += 1
        return line


class _Builder(_Lines):
    """One document under construction."""

    def __init__(self, file: str, lines: list[str], at: int) -> None:
        super().__init__(lines, at)
        self._file = file
        self.start = 0  # the line of the document's first word

    def document(self) -> Tree:
        """The tree of one document, None for an empty one; DeclinedError for a spelling that only a parser understands."""
        line = self._next_line()
        self.start = self.at + 1
        if line is BOUNDARY:
            self.at += 1
            if self.at == len(self._lines) or (line := self._next_line()) is BOUNDARY:
                return None
        if line[0]:
            raise DeclinedError
        tree = self._map(line, 1)
        if self._next_line() is not BOUNDARY:
            raise DeclinedError
        return tree

    def _map(self, line: Line, depth: int) -> Tree:
        """The map whose first key the next line says, behind a dash or not; all keys stand in one column."""
        lines, file, number = self._lines, self._file, self.at
        if depth > DEPTH:
            raise DeclinedError
        out: dict[str, Tree] = {}
        _, indent, key, _, value, start, end = line
        while True:
            if key is None or key in out:
                raise DeclinedError
            number += 1
            if start:
                # Here and in lists on the spot: a call would take longer than all the rest.
                out[key] = leaf = _new(Sourced)
                leaf.value = value
                leaf.source = file, number, start, number, end
            else:
                self.at = number
                out[key] = self._below(indent, end, depth) if value is None else self._several(value, indent)
                number = self.at
            while (parsed := LINES[lines[number]]) is None:
                number += 1
            dash, column, key, _, value, start, end = parsed
            if column != indent or dash:
                break
        if (dash or column) >= indent:
            raise DeclinedError
        self.at = number
        return out

    def _list(self, line: Line, depth: int) -> Tree:
        """The list whose first dash the next line says; all dashes stand in one column."""
        lines, file, number = self._lines, self._file, self.at
        if depth > DEPTH:
            raise DeclinedError
        out: list[Tree] = []
        indent = line[0]
        while True:
            dash, column, key, _, value, start, end = line
            if dash != indent:
                break
            number += 1
            if key is None and start:
                leaf = _new(Sourced)
                leaf.value = value
                leaf.source = file, number, start, number, end
                out.append(leaf)
            else:
                self.at = number if key is None else number - 1
                out.append(self._several(value, indent) if key is None else self._map(line, depth + 1))
                number = self.at
            while (parsed := LINES[lines[number]]) is None:
                number += 1
            line = parsed
        if (dash or column) > indent:
            raise DeclinedError
        self.at = number
        return out

    def _below(self, indent: int, end: int, depth: int) -> Tree:
        """The value of a key that has none on its own line: what is indented below it, or null."""
        place = self.at
        line = LINES[self._lines[place]] or self._next_line()
        dash = line[0]
        if dash >= indent:
            return self._list(line, depth + 1)
        if line[1] > indent and not dash:
            return self._map(line, depth + 1)
        return Sourced(None, (self._file, place, end, place, end))

    def _bracketed(self, flow: "Flow") -> Tree:
        """A list or map in brackets on one line."""
        file, place = self._file, self.at
        out = [
            self._bracketed(it) if type(it) is Flow else Sourced(it, (file, place, first, place, last))
            for *_, it, first, last in flow.parts
        ]
        return {part[0]: node for part, node in zip(flow.parts, out, strict=True)} if flow.table else out

    def _several(self, held: "Flow | Literal", indent: int) -> Tree:
        """What is in brackets, or the text below a `|`: every line that is blank or indented as the first one is, at least."""
        if isinstance(held, Flow):
            return self._bracketed(held)
        lines, place = self._lines, self.at
        first = lines[place]
        margin = first[: len(first) - len(first.lstrip(" "))]
        if len(first) == len(margin) or len(margin) < indent:
            raise DeclinedError
        while lines[self.at].startswith(margin) or not lines[self.at].strip(" "):
            self.at += 1
        texts = [line[len(margin) :] for line in lines[place : self.at]]
        if not "".join(texts).isprintable():
            raise DeclinedError
        while not texts[-1]:
            texts.pop()
        return Sourced("\n".join(texts) + held.ending, (self._file, place, held.start, self.at + 1, 1))


class Places(_Lines):
    """The marks of a document, by identity of its nodes: found by a walk along its tree, down the lines it was read from."""

    def __init__(self, tree: Tree, lines: list[str], at: int) -> None:
        super().__init__(lines, at)
        self._tree = tree
        self._end = (0, 0)  # of the latest value, which ends all that it is the last of
        self._marks: dict[int, Marks] = {}

    def get(self, node: int) -> Marks | None:
        """The marks of a node, None for one that is not of the document."""
        if not self._marks:
            if self._next_line() is BOUNDARY:
                self.at += 1
            self._node(self._tree)
        return self._marks.get(node)

    def _node(self, node: Tree) -> None:
        """A map or a list that starts on the next line."""
        dash, column = self._next_line()[:2]
        first = self.at + 1
        if type(node) is dict:
            places: dict[str, Stretch] = {}
            for key, child in node.items():
                line = self._next_line()
                self.at += 1
                places[key] = self.at, column, self.at, line[3]
                self._child(child, line)
            self._marks[id(node)] = first, column, *self._end, places
            return
        for child in node:
            line = self._next_line()
            if line[2] is None:
                self.at += 1
                self._child(child, line)
            else:
                self._node(child)
        self._marks[id(node)] = first, dash, *self._end, None

    def _child(self, child: Tree, line: Line) -> None:
        """What a key or a dash on the line before holds."""
        if type(child) is Sourced:
            span = child.origin.at
            assert span is not None
            self._end = span[3:]
            self.at = max(self.at, span.end_line - 1)  # below the text of a literal
        elif type(line[4]) is Flow:
            self._bracketed(child, line[4], line[6])
        else:
            self._node(child)

    def _bracketed(self, node: Tree, flow: "Flow", end: int) -> None:
        """A list or map in brackets on the line before."""
        at = self.at
        for part, child in zip(flow.parts, node.values() if flow.table else node, strict=True):
            if type(part[3]) is Flow:
                self._bracketed(child, part[3], part[5])
        places = {key or "": (at, first, at, after) for key, first, after, *_ in flow.parts} if flow.table else None
        self._end = (at, end)
        self._marks[id(node)] = at, flow.start, at, end, places


class DeclinedError(Exception):
    """A line that says more than this module knows for certain."""


class Flow(NamedTuple):
    """A list or map in brackets: where it starts, and its parts with key, its columns, value and the columns of that."""

    parts: tuple[Part, ...]
    start: int
    table: bool


class Literal(NamedTuple):
    """A `|`: the text on the lines below, with its last line end or (`|-`) without; where it starts."""

    ending: str
    start: int


def _head(text: str) -> Head | None:
    """The columns of a dash and of the key, the key and where it ends, of a line up to its colon; None without a key."""
    dash, at, name = _dashed(text)
    return (dash, at, _key(name), at + len(name)) if _is_key(name) else None


def _line(text: str) -> Line | None:
    """The columns of a dash and of the key or item, the key and where it ends, the value and where it starts and ends.

    Columns count from 1. There is none (0) of a dash that is missing, and no start of a value that is not a scalar: a
    `Flow`, a `Literal`, or the None of a key whose value stands below or is null.
    """
    if not text.isprintable():  # tabs, what else ends a line or turns its direction, and what is not text
        raise DeclinedError
    head, colon, rest = text.partition(":")
    known = _HEADS[head] if colon else None
    if known is None or (rest and rest[0] != " "):
        dash, at, body = _dashed(text)
        if dash:
            return (dash, at, None, 0, *_value(body, at))
        if body and body[0] != "#" and text.rstrip(" ") != "---":
            raise DeclinedError
        return BOUNDARY if body[:1] == "-" else None
    value = rest.lstrip(" ")
    end = known[3] + 1
    if not value or (value[0] == "#" and value != rest):
        return (*known, None, 0, end)
    return (*known, *_value(value, end + len(rest) - len(value)))


def _dashed(text: str) -> tuple[int, int, str]:
    """The column of a dash, the column of what follows, and that."""
    body = text.lstrip(" ")
    at = len(text) - len(body) + 1
    if body[:2] != "- ":
        return 0, at, body
    rest = body[2:].lstrip(" ")
    return at, at + len(body) - len(rest), rest


def _is_key(name: str) -> bool:
    return name[:1] in _LETTERS and _NAME.issuperset(name) and len(name) <= _LONGEST_KEY


def _key(name: str) -> Any:
    try:
        return KEYS[name]
    except OddError:
        raise DeclinedError from None


def _value(text: str, at: int) -> tuple[Any, int, int]:
    if text in _ENDINGS:
        return Literal(_ENDINGS[text], at), 0, 0
    if text[:1] in _OPENING:
        flow, end = _brackets(text, 0, at, 0)
        if (rest := text[end:]) and (rest[0] != " " or rest.strip(" ")[:1] not in ("", "#")):
            raise DeclinedError
        return flow, 0, at + end
    return _scalar(text, at)


def _scalar(text: str, at: int) -> tuple[Any, int, int]:
    """The value of a scalar that a line ends with, a comment apart, and its columns."""
    first = text[:1]
    if first in _QUOTES:
        inner, closing, rest = text[1:].partition(first)
        if not closing or "\\" in inner or (rest.strip(" ") and rest[:2] != " #"):
            raise DeclinedError
        return inner, at, at + len(inner) + 2
    text = text.partition(" #")[0].rstrip(" ")
    if not text or text[-1] == ":" or ": " in text:
        raise DeclinedError
    if first in _INDICATORS and (first != "-" or text[1:2] in _BLANK or text[:3] == "---"):
        raise DeclinedError
    try:
        return value_of(text), at, at + len(text)
    except OddError:
        raise DeclinedError from None


def _brackets(text: str, start: int, column: int, depth: int) -> tuple[Flow, int]:
    """What opens at a place of a text that stands in a column, and the place behind its end."""
    table = text[start] == "{"
    closing = "}" if table else "]"
    parts: list[Part] = []
    at = _behind_blanks(text, start + 1)
    if depth > _DEEPEST:
        raise DeclinedError
    while parts or text[at : at + 1] != closing:
        key, first, after = None, 0, 0
        if table:
            colon = text.find(": ", at, at + _LONGEST_KEY + 2)
            if colon < 0 or not _is_key(name := text[at:colon]):
                raise DeclinedError
            key, first, after = _key(name), column + at, column + colon
            at = _behind_blanks(text, colon + 2)
        value, end = _item(text, at, column, depth)
        parts.append((key, first, after, value, column + at, column + end))
        at = _behind_blanks(text, end)
        if text[at : at + 1] == closing:
            break
        if text[at : at + 1] != ",":
            raise DeclinedError
        at = _behind_blanks(text, at + 1)
    if table and len({part[0] for part in parts}) < len(parts):
        raise DeclinedError
    return Flow(tuple(parts), column + start, table=table), at + 1


def _behind_blanks(text: str, at: int) -> int:
    while text[at : at + 1] == " ":
        at += 1
    return at


def _item(text: str, at: int, column: int, depth: int) -> tuple[Any, int]:
    """A value between brackets, and the place behind it."""
    first = text[at : at + 1]
    if first in ("[", "{"):
        return _brackets(text, at, column, depth + 1)
    if first in _QUOTES:
        word = text[at : text.find(first, at + 1) + 1]
    else:
        comma = text.find(",", at)
        word = text[at:comma] if comma >= 0 else text[at:]
        word = word.partition("]")[0].partition("}")[0].rstrip(" ")
        if not _BRACKETS.isdisjoint(word):
            raise DeclinedError
    return _scalar(word, column + at)[0], at + len(word)


_HEADS: Final = TextMemo(_head, longest=_SHORT)
LINES: Final = TextMemo(_line, longest=_SHORT)  # `DeclinedError` for what is not known
