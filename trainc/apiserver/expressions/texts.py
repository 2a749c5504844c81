"""Functions of texts: CEL's own and those of cel-go's ext.Strings, version 2. Patterns are those of RE2."""

from itertools import islice
from math import isfinite, isnan
from operator import itemgetter
from typing import Any

from trainc.apiserver.expressions.checker import clause_fault, clauses
from trainc.apiserver.expressions.conversions import to_text
from trainc.apiserver.expressions.syntax import Uint
from trainc.apiserver.expressions.values import (
    Duration,
    EvaluationError,
    NotEvaluatedError,
    Overload,
    Timestamp,
    TypeName,
    function,
    step,
    taking,
    type_name,
)
from trainc.text.re2 import Pattern, PatternError, UnsupportedPatternError, compile_re2

_BLANKS = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_GO_ESCAPES = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
}  # fmt: skip
_NUMBERS = ("NaN", "Infinity", "-Infinity")
MAX_PRECISION = 1000
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_UPPER, _LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
_ESCAPES = str.maketrans({
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"',
})  # fmt: skip


def matches(text: str, pattern: str) -> bool:
    """Whether a pattern is found in a text."""
    try:
        return compiled_pattern(pattern).search(text)
    except UnsupportedPatternError as error:
        raise NotEvaluatedError(f"trainc cannot search for {error}") from None


def compiled_pattern(pattern: str) -> Pattern:
    """A pattern of RE2; an EvaluationError where it is none."""
    try:
        return compile_re2(pattern)
    except PatternError as error:
        raise EvaluationError(f"error parsing regexp: {error}") from None
    except UnsupportedPatternError as error:
        raise NotEvaluatedError(f"trainc cannot search for {error}") from None


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start) if part else min(start, len(text))


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


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
    if end is not None and start > last:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {last}")
    for index in (start, last):
        if not 0 <= index <= len(text):
            raise EvaluationError(f"index out of range: {index}")
    return text[start:last]


def find(text: str, pattern: str) -> str:
    """What a pattern finds first in a text, empty where it finds nothing."""
    place = compiled_pattern(pattern).find(text)
    return text[place[0] : place[1]] if place else ""


def _find_all(text: str, pattern: str, count: int = -1) -> list[str]:
    places = compiled_pattern(pattern).find_all(text)
    return list(places if count < 0 else islice(places, count))


def _format(template: str, args: list[Any]) -> str:
    parts = []
    left = iter(args)
    try:
        for text, verb, precision in clauses(template):
            parts.append(text)
            if verb:
                parts.append(_formatted(next(left), verb, 6 if precision < 0 else precision))
    except StopIteration:
        raise EvaluationError(f"index {len(args)} out of range") from None
    except ValueError as error:
        raise EvaluationError(str(error)) from None
    return "".join(parts)


def _formatted(value: Any, verb: str, precision: int) -> str:
    whole = type(value) in (int, Uint)
    if verb == "s":
        return _shown(value)
    if verb == "d" and whole:
        return str(int(value))
    if verb in "fe" and (type(value) is float or value in _NUMBERS):
        return _number(float(value), verb, precision)
    if (verb in "oxX" and whole) or (verb == "b" and (whole or type(value) is bool)):
        return f"{int(value):{verb}}"
    if verb in "xX" and isinstance(value, str | bytes):
        digits = (value.encode() if isinstance(value, str) else value).hex()
        return digits.upper() if verb == "X" else digits
    raise EvaluationError(clause_fault(verb, type_name(value)))


def _number(value: float, verb: str, precision: int) -> str:
    """A double as Go's golang.org/x/text/message prints it in English."""
    if not isfinite(value):
        return "NaN" if isnan(value) else "∞" if value > 0 else "-∞"
    if precision > MAX_PRECISION:
        raise NotEvaluatedError(f"trainc does not write {precision} digits")
    value = value or 0.0  # without a sign
    if verb == "f":
        return f"{value:,.{precision}f}"
    digits, _, exponent = f"{value:.{precision}e}".partition("e")
    raised = f"{abs(int(exponent)):02d}".translate(_RAISED)
    return f"{digits}\xd710{'⁻' if int(exponent) < 0 else ''}{raised}"  # \xd7: the sign of multiplication


def _shown(value: Any) -> str:
    """A value as `%s` writes it; what stands in lists and maps is written as a literal."""
    step()
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if type(value) is dict:
        pairs = sorted([(_literal_key(key), _literal(held)) for key, held in value.items()], key=itemgetter(0))
        return "{" + ", ".join(f"{key}:{held}" for key, held in pairs) + "}"
    if value is None:
        return "null"
    if type(value) is TypeName:
        return value.name
    if type(value) in (bool, int, Uint, float, str, bytes, Duration, Timestamp):
        return to_text(value)
    raise EvaluationError(clause_fault("s", type_name(value)))


def _literal_key(key: Any) -> str:
    if type(key) not in (str, bool, int, Uint):
        raise EvaluationError(f"error during formatting: no formatting function for map key of type {type_name(key)}")
    return _literal(key)


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return go_quoted(value)
    if isinstance(value, bytes):
        return f"b{go_quoted(to_text(value))}"
    if type(value) is float:
        return f"{value:.6f}" if isfinite(value) else f'"{to_text(value)}"'
    if type(value) in (Duration, Timestamp):
        return f'{type_name(value).rpartition(".")[2].lower()}("{to_text(value)}")'
    if isinstance(value, list | dict) or value is None or type(value) in (bool, int, Uint, TypeName):
        return _shown(value)
    raise EvaluationError(f"error during formatting: no formatting function for {type_name(value)}")


def go_quoted(text: str) -> str:
    """A text in quotes as Go's strconv.Quote writes it."""
    return '"' + "".join(map(_go_letter, text)) + '"'


def _go_letter(letter: str) -> str:
    if letter in _GO_ESCAPES:
        return _GO_ESCAPES[letter]
    if letter == " " or letter.isprintable():
        return letter
    code = ord(letter)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


FUNCTIONS: dict[str, list[Overload]] = {
    "matches": taking(matches, "string string"),
    "contains": taking(lambda text, part: part in text, "string string"),
    "startsWith": taking(str.startswith, "string string"),
    "endsWith": taking(str.endswith, "string string"),
    "charAt": taking(_char_at, "string int"),
    "indexOf": taking(_index_of, "string string", "string string int"),
    "lastIndexOf": taking(_last_index_of, "string string", "string string int"),
    "lowerAscii": taking(lambda text: text.translate(str.maketrans(_UPPER, _LOWER)), "string"),
    "upperAscii": taking(lambda text: text.translate(str.maketrans(_LOWER, _UPPER)), "string"),
    "replace": taking(str.replace, "string string string", "string string string int"),
    "split": taking(_split, "string string", "string string int"),
    "substring": taking(_substring, "string int", "string int int"),
    "trim": taking(lambda text: text.strip(_BLANKS), "string"),
    "join": taking(lambda parts, separator="": separator.join(parts), "list", "list string"),
    "format": taking(_format, "string list"),
    "strings.quote": taking(lambda text: f'"{text.translate(_ESCAPES)}"', "string"),
    "find": [function(find, "string string", "string")],
    "findAll": [function(_find_all, one, "list(string)") for one in ("string string", "string string int")],
}
