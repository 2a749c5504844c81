"""Patterns of RE2, as Go, the API server and CEL read them, for Python's engine."""

import re
from collections.abc import Iterator

_NAMED = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "digit": "0-9", "lower": "a-z", "space": r"\t\n\v\f\r ", "upper": "A-Z",
    "word": "a-zA-Z0-9_", "xdigit": "a-fA-F0-9",
}  # fmt: skip
_NAMED_CLASS = re.compile(r"\[:(\^?)(\w+):\]", re.ASCII)
_BLANKS = r"\t\n\f\r "  # Python's `\s` has the vertical tab, too
_FLAGS = re.compile(r"\(\?[a-zA-Z-]*[mU]")  # `$` means something else, and what is greedy
_UNSUPPORTED = frozenset("QECpP")  # escapes that Python does not have, or reads as letters


def compile_re2(pattern: str) -> re.Pattern[str]:
    r"""A pattern for Python: `$` and `\z` mean the end of the text, classes are ASCII, `\s` is without the vertical tab.

    re.error for what Python cannot compile, or would read differently.
    """
    if _FLAGS.search(pattern):
        raise re.error(f"the flags of {pattern}")
    return re.compile("".join(_translated(pattern)), re.ASCII)


def _translated(pattern: str) -> Iterator[str]:
    at, inside = 0, False
    while at < len(pattern):
        letter, after = pattern[at], pattern[at + 1 : at + 2]
        if letter == "\\":
            yield _escape(after, inside=inside)
            at += 2
        elif inside and (named := _NAMED_CLASS.match(pattern, at)):
            if named[1] or named[2] not in _NAMED:
                raise re.error(f"the class {named[0]}")
            yield _NAMED[named[2]]
            at = named.end()
        elif inside:
            inside = letter != "]"
            yield f"\\{letter}" if letter in "[&|~" else letter  # Python keeps their doubles for operations on sets
            at += 1
        elif letter == "[":
            inside = True
            start = "[^" if after == "^" else "["
            first = pattern[at + len(start) : at + len(start) + 1]
            yield f"{start}\\]" if first == "]" else start  # a bracket that comes first is one of the class
            at += len(start) + (first == "]")
        else:
            yield "\\Z" if letter == "$" else letter
            at += 1


def _escape(letter: str, *, inside: bool) -> str:
    if letter in _UNSUPPORTED or (inside and letter == "S"):
        raise re.error(f"the escape \\{letter}")
    if letter in ("s", "S"):
        return _BLANKS if inside else f"[{'^' * (letter == 'S')}{_BLANKS}]"
    return "\\Z" if letter == "z" and not inside else f"\\{letter}"
