"""Functions of texts: CEL's own and those of cel-go's ext.Strings, version 2. Patterns are those of RE2."""

import re
from collections.abc import Callable
from typing import Any

from trainc.apiserver.policy.cel.conversions import to_text
from trainc.apiserver.policy.cel.syntax import Uint
from trainc.apiserver.policy.cel.values import (
    Duration,
    EvaluationError,
    NotKnownError,
    Overload,
    Timestamp,
    TypeName,
    method,
    taking,
    type_name,
)
from trainc.text.re2 import compile_re2

_PATTERNS: dict[str, Callable[[str, str], bool]] = {}  # "search": what asks RE2, set by the process
_BLANKS = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_ESCAPES = str.maketrans({
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
})  # fmt: skip
_CLAUSE = re.compile(r"%(?:\.(\d+))?([%sdfexXob])|%")


def use_patterns(search: Callable[[str, str], bool]) -> None:
    """Hold texts against patterns with this function: (text, pattern) -> whether it is found."""
    _PATTERNS["search"] = search


def matches(text: str, pattern: str) -> bool:
    """Whether a pattern is found in a text."""
    return _PATTERNS["search"](text, pattern)


def _index_of(text: str, part: str, start: int = 0) -> int:
    if part == "":
        return start
    if not 0 <= start < len(text) and start != 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int) -> int:
    if part == "":
        return start
    if not 0 <= start < len(text):
        raise EvaluationError(f"index out of range: {start}")
    return text.rfind(part, 0, start + len(part))


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")
    return text[index : index + 1]


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator == "":
        letters = list(text)
        return letters if count < 0 or count >= len(letters) else [*letters[: count - 1], "".join(letters[count - 1 :])]
    return text.split(separator, count - 1 if count > 0 else -1)


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    for index in (start, last):
        if not 0 <= index <= len(text):
            raise EvaluationError(f"index out of range: {index}")
    if start > last:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {last}")
    return text[start:last]


def _searcher(text: str, pattern: str) -> re.Pattern[str]:
    """A pattern of RE2 as Python's; RE2 itself has said that it is one of its own."""
    matches(text, pattern)
    try:
        return compile_re2(pattern)
    except re.error:
        raise NotKnownError("a pattern that trainc cannot search with") from None


def find(text: str, pattern: str) -> str:
    """What a pattern finds first in a text, empty where it finds nothing."""
    match = _searcher(text, pattern).search(text)
    return match.group() if match else ""


def _find_all(text: str, pattern: str, count: int = -1) -> list[str]:
    out = [one.group() for one in _searcher(text, pattern).finditer(text)]
    return out if count < 0 else out[:count]


def _format(template: str, args: list[Any]) -> str:
    left = iter(enumerate(args))

    def clause(match: re.Match[str]) -> str:
        precision, verb = match.group(1), match.group(2)
        if verb is None:
            raise EvaluationError("unrecognized formatting clause")
        if verb == "%":
            return "%"
        if (entry := next(left, None)) is None:
            raise EvaluationError(f"index {len(args)} out of range")
        return _formatted(entry[1], verb, 6 if precision is None else int(precision))

    return _CLAUSE.sub(clause, template)


def _formatted(value: Any, verb: str, precision: int) -> str:
    whole = type(value) in (int, Uint)
    if verb == "s":
        return _shown(value)
    if verb == "d" and whole:
        return str(int(value))
    if verb in "fe" and (whole or type(value) is float):
        return f"{float(value):.{min(precision, 100)}{verb}}"
    if (verb in "oxX" and whole) or (verb == "b" and (whole or type(value) is bool)):
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


FUNCTIONS: dict[str, list[Overload]] = {
    "matches": taking(matches, "string string"),
    "contains": taking(lambda text, part: part in text, "string string"),
    "startsWith": taking(str.startswith, "string string"),
    "endsWith": taking(str.endswith, "string string"),
    "charAt": taking(_char_at, "string int"),
    "indexOf": taking(_index_of, "string string", "string string int"),
    "lastIndexOf": [*taking(str.rfind, "string string"), *taking(_last_index_of, "string string int")],
    "lowerAscii": taking(lambda text: text.translate(str.maketrans(_UPPER, _LOWER)), "string"),
    "upperAscii": taking(lambda text: text.translate(str.maketrans(_LOWER, _UPPER)), "string"),
    "replace": taking(str.replace, "string string string", "string string string int"),
    "split": taking(_split, "string string", "string string int"),
    "substring": taking(_substring, "string int", "string int int"),
    "trim": taking(lambda text: text.strip(_BLANKS), "string"),
    "join": taking(lambda parts, separator="": separator.join(parts), "list", "list string"),
    "format": taking(_format, "string list"),
    "strings.quote": taking(lambda text: f'"{text.translate(_ESCAPES)}"', "string"),
    "find": [method(find, "string string", "string")],
    "findAll": [method(_find_all, one, "list(string)") for one in ("string string", "string string int")],
}
