"""What one line of the common spelling says: a key, a scalar, both, or a short list or map in brackets.

Lines repeat from manifest to manifest, so what a line says is worked out once. Nothing here guesses: a line that
holds more than this module knows for certain is declined, and libyaml reads the document.
"""

from __future__ import annotations

from trainc.text.memo import TextMemo
from trainc.yaml.scalars import KEYS, OddError, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    Head = tuple[int, int, str, int]
    Line = tuple[int, int, str | None, int, Any, int, int]
    Part = tuple[str | None, int, int, Any, int, int]

_SHORT = 120
_LONGEST_KEY = 1024  # characters; libyaml, and the server's parser, take nothing longer for a key
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-")
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_INDICATORS = frozenset("-?:,[]{}#&*!|>'\"%@`")  # a plain scalar does not start with these
_QUOTES = frozenset("'\"")
_OPENING = frozenset("[{")
_BLANK = frozenset((" ", ""))
_BRACKETS = frozenset("[]{},'\"#:&*!|>%@`?")  # what a plain scalar in brackets is not trusted with


class DeclinedError(Exception):
    """A line that says more than this module knows for certain."""


class Flow:
    """A list or map in brackets: where it starts, and its parts with key, its columns, value and the columns of that."""

    __slots__ = ("parts", "start", "table")

    def __init__(self, parts: tuple[Part, ...], start: int, *, table: bool) -> None:
        self.parts = parts
        self.start = start
        self.table = table


class Literal:
    """A `|`: the text on the lines below, with its last line end or (`|-`) without; where it starts."""

    __slots__ = ("ending", "start")

    def __init__(self, ending: str, start: int) -> None:
        self.ending = ending
        self.start = start


_ENDINGS = {"|": "\n", "|-": ""}
BOUNDARY: Final[Line] = (0, 0, None, 0, None, 0, 0)  # what `---` says


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
        return _keyless(text)
    value = rest.lstrip(" ")
    end = known[3] + 1
    if not value or (value[0] == "#" and value != rest):
        return (*known, None, 0, end)
    return (*known, *_value(value, end + len(rest) - len(value)))


def _keyless(text: str) -> Line | None:
    """What a line without a key says."""
    dash, at, body = _dashed(text)
    if dash:
        return (dash, at, None, 0, *_value(body, at))
    if body and body[0] != "#" and text.rstrip(" ") != "---":
        raise DeclinedError
    return BOUNDARY if body[:1] == "-" else None


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
        return _flow(text.partition(" #")[0].rstrip(" "), at)
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


def _flow(text: str, at: int) -> tuple[Any, int, int]:
    """A list of scalars, or a map of names to scalars, that opens and closes on one line."""
    table = text[0] == "{"
    if text[-1] != ("}" if table else "]"):
        raise DeclinedError
    parts: list[Part] = []
    inner = text[1:-1]
    place = at + 1
    for piece in inner.split(",") if inner.strip(" ") else ():
        parts.append(_part(piece, place, table=table))
        place += len(piece) + 1
    if len({part[0] for part in parts}) < len(parts) and table:
        raise DeclinedError
    return Flow(tuple(parts), at, table=table), 0, at + len(text)


def _part(piece: str, at: int, *, table: bool) -> Part:
    """One item or entry between two commas."""
    body = piece.lstrip(" ")
    start = at + len(piece) - len(body)
    if not table:
        return (None, 0, 0, *_item(body.rstrip(" "), start))
    name, _, rest = body.partition(": ")
    if not _is_key(name):
        raise DeclinedError
    value = rest.lstrip(" ")
    after = start + len(name) + 2 + len(rest) - len(value)
    return (_key(name), start, start + len(name), *_item(value.rstrip(" "), after))


def _item(text: str, at: int) -> tuple[Any, int, int]:
    """A scalar between brackets."""
    if text[:1] not in _QUOTES and not _BRACKETS.isdisjoint(text):
        raise DeclinedError
    return _scalar(text, at)


_HEADS: Final = TextMemo(_head, longest=_SHORT)
LINES: Final = TextMemo(_line, longest=_SHORT)  # `DeclinedError` for what is not known
