"""Functions of texts: CEL's own and those of cel-go's ext.Strings, version 2. Patterns are those of RE2."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from trainc.apiserver.policy.cel.conversions import to_text
from trainc.apiserver.policy.cel.syntax import Uint
from trainc.apiserver.policy.cel.values import (
    Duration,
    EvaluationError,
    NotKnownError,
    Timestamp,
    TypeName,
    overload,
    text_of,
    type_name,
    whole_of,
)
from trainc.text.re2 import compile_re2

_PATTERNS: dict[str, Callable[[str, str], bool]] = {}  # "search": what asks RE2, set by the process


def use_patterns(search: Callable[[str, str], bool]) -> None:
    """Hold texts against patterns with this function: (text, pattern) -> whether it is found."""
    _PATTERNS["search"] = search


def matches(text: Any, pattern: Any) -> bool:
    """Whether a pattern is found in a text."""
    return _PATTERNS["search"](text_of(text), text_of(pattern))


def index_of(text: Any, part: Any, start: Any = 0) -> int:
    """Where a part of a text begins from a place on, -1 where it is not there."""
    at = whole_of(start)
    if text_of(part) == "":
        return at
    if not 0 <= at < len(text_of(text)) and at != 0:
        raise EvaluationError(f"index out of range: {at}")
    return int(text.find(part, at))


def last_index_of(text: Any, part: Any, start: Any = None) -> int:
    """Where a part of a text begins for the last time, up to a place; -1 where it is not there."""
    if start is None:
        return len(text) if part == "" else int(text.rfind(text_of(part)))
    at = whole_of(start)
    if text_of(part) == "":
        return at
    if not 0 <= at < len(text):
        raise EvaluationError(f"index out of range: {at}")
    return int(text.rfind(part, 0, at + len(part)))


def _char_at(text: Any, index: Any) -> str:
    at = whole_of(index)
    if not 0 <= at <= len(text_of(text)):
        raise EvaluationError(f"index out of range: {at}")
    return str(text[at : at + 1])


def _replace(text: Any, old: Any, new: Any, count: Any = -1) -> str:
    return text_of(text).replace(text_of(old), text_of(new), whole_of(count))


def _split(text: Any, separator: Any, count: Any = -1) -> list[str]:
    most = whole_of(count)
    if most == 0:
        return []
    if text_of(separator) == "":
        letters = list(text_of(text))
        return letters if most < 0 or most >= len(letters) else [*letters[: most - 1], "".join(letters[most - 1 :])]
    return text_of(text).split(separator, most - 1 if most > 0 else -1)


def _substring(text: Any, start: Any, end: Any = None) -> str:
    first, last = whole_of(start), len(text_of(text)) if end is None else whole_of(end)
    if not 0 <= first <= len(text):
        raise EvaluationError(f"index out of range: {first}")
    if not 0 <= last <= len(text):
        raise EvaluationError(f"index out of range: {last}")
    if first > last:
        raise EvaluationError(f"invalid substring range. start: {first}, end: {last}")
    return str(text[first:last])


def _join(parts: Any, separator: Any = "") -> str:
    if not isinstance(parts, list):
        raise overload()
    return text_of(separator).join(map(text_of, parts))


_BLANKS = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"'}  # fmt: skip


def _quote(text: Any) -> str:
    return '"' + "".join(_ESCAPES.get(letter, letter) for letter in text_of(text)) + '"'


def _searcher(text: Any, pattern: Any) -> re.Pattern[str]:
    """A pattern of RE2 as Python's; RE2 itself has said that it is one of its own."""
    matches(text, pattern)
    try:
        return compile_re2(pattern)
    except re.error:
        raise NotKnownError(_PATTERN) from None


_PATTERN = "a pattern that trainc cannot search with"


def _find(text: Any, pattern: Any) -> str:
    match = _searcher(text, pattern).search(text)
    return match.group() if match else ""


def _find_all(text: Any, pattern: Any, count: Any = -1) -> list[str]:
    most = whole_of(count)
    out = [one.group() for one in _searcher(text, pattern).finditer(text)]
    return out if most < 0 else out[:most]


_CLAUSE = re.compile(r"%(?:\.(\d+))?([%sdfexXob])|%")


def _format(template: Any, args: Any) -> str:
    if not isinstance(args, list):
        raise overload()
    left = iter(args)
    used = 0

    def clause(match: re.Match[str]) -> str:
        nonlocal used
        precision, verb = match.group(1), match.group(2)
        if verb is None:
            raise EvaluationError("unrecognized formatting clause")
        if verb == "%":
            return "%"
        used += 1
        if used > len(args):
            raise EvaluationError(f"index {used - 1} out of range")
        return _formatted(next(left), verb, 6 if precision is None else int(precision))

    return _CLAUSE.sub(clause, text_of(template))


def _formatted(value: Any, verb: str, precision: int) -> str:
    whole = type(value) in (int, Uint)
    if verb == "s":
        return _shown(value)
    if verb == "d" and whole:
        return str(int(value))
    if verb in "fe" and (whole or type(value) is float):
        return f"{float(value):.{min(precision, 100)}{verb}}"
    if verb == "b" and (whole or type(value) is bool):
        return f"{int(value):b}"
    if verb == "o" and whole:
        return f"{int(value):o}"
    if verb in "xX" and whole:
        return f"{int(value):{verb}}"
    if verb in "xX" and isinstance(value, str | bytes):
        digits = (value.encode() if isinstance(value, str) else value).hex()
        return digits.upper() if verb == "X" else digits
    raise EvaluationError(f"error during formatting: no formatting function for {type_name(value)} with `%{verb}`")


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if type(value) is dict:
        pairs = sorted((_shown(key), _shown(held)) for key, held in value.items())
        return "{" + ", ".join(f"{key}: {held}" for key, held in pairs) + "}"
    if value is None:
        return "null"
    if type(value) is TypeName:
        return value.name
    if type(value) in (bool, int, Uint, float, str, bytes, Duration, Timestamp):
        return to_text(value)
    raise EvaluationError(
        f"error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given {type_name(value)}"
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "matches": matches,
    "contains": lambda text, part: text_of(part) in text_of(text),
    "startsWith": lambda text, part: text_of(text).startswith(text_of(part)),
    "endsWith": lambda text, part: text_of(text).endswith(text_of(part)),
    "charAt": _char_at,
    "lowerAscii": lambda text: text_of(text).translate(str.maketrans(_UPPER, _LOWER)),
    "upperAscii": lambda text: text_of(text).translate(str.maketrans(_LOWER, _UPPER)),
    "replace": _replace,
    "split": _split,
    "substring": _substring,
    "trim": lambda text: text_of(text).strip(_BLANKS),
    "join": _join,
    "format": _format,
    "strings.quote": _quote,
    "find": _find,
    "findAll": _find_all,
}
