"""The one scalar table: what Kubernetes makes of an unquoted text, and what it must not be left to guess.

The values are those of sigs.k8s.io/yaml followed by Kubernetes' JSON decoder, as kubectl 1.32 shows them: YAML 1.1
words and numbers without base 60, floats that are whole become integers, integers beyond 64 bits become floats.
"""

from collections.abc import Callable
from typing import Final

from trainc.text.memo import TextMemo

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

Scalar = str | int | float | bool | None
TRUE = ("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE")
FALSE = ("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE")
NULL = ("", "~", "null", "Null", "NULL")
WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(TRUE, True),
    **dict.fromkeys(FALSE, False),
    **dict.fromkeys(NULL, None),
}
CLEAR = frozenset(("true", "True", "TRUE", "false", "False", "FALSE", *NULL))  # every reader agrees on these
INFINITE: Final[dict[str, str]] = {  # no JSON number; as keys they are this text
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ".inf"),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), "-.inf"),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ".nan"),
}
_START = frozenset("+-.0123456789")
_NUMERIC = frozenset("0123456789abcdefABCDEF_xXoO+-.:")  # all that occurs in numbers, dates and clock times
_SIGNED_64, _UNSIGNED_64 = 1 << 63, 1 << 64
_SHORT = 64
_DECIMAL = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_DIGITS = {2: r"[01]+", 8: r"[0-7]+", 16: r"[0-9a-fA-F]+"}
_BASES = {"b": 2, "B": 2, "o": 8, "O": 8, "x": 16, "X": 16}
_POINT = r"\.[0-9]+(_[0-9]+)*([eE][-+]?[0-9]+(_[0-9]+)*)?"
_BINARY = r"(-?)0b([-+]?)([01]+)"
_BASE_60 = r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?"
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_OCTAL = r"[-+]?0[oO]?[0-9_]+"


def match(pattern: str, text: str) -> "re.Match[str] | None":
    """What the whole of a text is to a pattern; no pattern is compiled before a text needs it."""
    import re  # noqa: PLC0415 (loading it takes longer than reading most files)

    return re.fullmatch(pattern, text)


def sub(pattern: str, replaced: "Callable[[re.Match[str]], str]", text: str) -> str:
    import re  # noqa: PLC0415 (as in `match`)

    return re.sub(pattern, replaced, text)


class OddError(Exception):
    """An unquoted text that cannot be used as it is, or that readers disagree about."""


def resolve(text: str) -> Scalar:
    """The value of an unquoted text; `OddError` for infinities and not-a-number, which JSON cannot hold."""
    if text in WORDS:
        return WORDS[text]
    if text[0] not in _START:
        return text
    if text in INFINITE:
        raise OddError(text)
    number = parse_number(text)
    return text if number is None else as_json(number)


def parse_number(text: str) -> int | float | None:
    """The number an unquoted text starting with a digit, sign or point is to go-yaml, None for plain text."""
    if text[0] == ".":
        return _finite(text.replace("_", "")) if match(_POINT, text) else None
    digits = text.replace("_", "")
    if (number := _integer(digits)) is not None:
        return number
    if match(_DECIMAL, digits):
        return _finite(digits)
    if (binary := match(_BINARY, digits)) and not (binary[1] and binary[2]):
        number = int(binary[1] + binary[2] + binary[3], 2)
        return number if -_SIGNED_64 <= number < _SIGNED_64 else None
    return None


def _integer(digits: str) -> int | None:
    sign = digits[:1] if digits[:1] in {"+", "-"} else ""
    body = digits[len(sign) :]
    base = 10
    if len(body) > 1 and body[0] == "0":
        base = _BASES.get(body[1], 8)
        body = body[2:] if body[1] in _BASES else body[1:]
    if base == 10:
        if not (body.isascii() and body.isdigit()) or len(body) > 20:
            return None
    elif not match(_DIGITS[base], body):
        return None
    number = int(body, base)
    if sign == "-":
        return -number if number <= _SIGNED_64 else None
    return number if number < (_SIGNED_64 if sign else _UNSIGNED_64) else None


def _finite(text: str) -> float | None:
    number = float(text)
    return number if number - number == 0 else None


def as_json(number: float) -> int | float:
    """A number after its way through JSON: whole floats are integers, integers beyond 64 bits are floats."""
    if type(number) is float:
        if number - number != 0 or number != number // 1 or not -1e21 < number < 1e21:
            return number
        mantissa, _, exponent = repr(number).partition("e")
        whole, _, fraction = mantissa.partition(".")
        number = int(whole) if not exponent else int(whole + fraction + "0" * (int(exponent) - len(fraction)))
    return number if -_SIGNED_64 <= number < _SIGNED_64 else float(number)


def resolve_key(text: str) -> str | None:
    """The text an unquoted key becomes; None where Kubernetes has no key for it (null, integers of 64 unsigned bits)."""
    if text in WORDS:
        return key_text(WORDS[text])
    if text[0] not in _START:
        return text
    if text in INFINITE:
        return INFINITE[text]
    if (number := parse_number(text)) is None:
        return text
    return None if type(number) is int and not -_SIGNED_64 <= number < _SIGNED_64 else key_text(number)


def single(number: float) -> str:
    """A float as Go prints it with the digits of single precision, which is how keys are written."""
    from struct import pack, unpack  # noqa: PLC0415 (float keys are rare, the import is not free)

    try:
        narrow = unpack("<f", pack("<f", number))[0]
    except OverflowError:
        return ".inf" if number > 0 else "-.inf"
    shortest = next(
        t for t in (f"{narrow:.{p}e}" for p in range(17)) if unpack("<f", pack("<f", float(t)))[0] == narrow
    )
    mantissa, _, exponent = shortest.partition("e")
    power, places = int(exponent), max(len(mantissa.lstrip("-")) - 2, 0)
    return f"{narrow:.{max(places - power, 0)}f}" if -4 <= power < 6 else shortest


def key_text(value: Scalar) -> str | None:
    """The text a value becomes as a key, None for null."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return single(value)
    return None if value is None else str(value)


def resolve_tagged(tag: str, text: str) -> Scalar:
    """The value of a text under a core tag; `KeyError` for other tags, `ValueError` where the text is not of that type."""
    if tag == "str":
        return text
    fits = {"bool": (bool,), "null": (type(None),), "int": (int,), "float": (int, float)}[tag]
    raw = WORDS[text] if text in WORDS else parse_number(text) if text[0] in _START else text
    if type(raw) not in fits:
        raise ValueError(text)
    return resolve(text)


def ambiguous(text: str) -> str | None:
    """What other readers make of an unquoted text that Kubernetes reads in its own way, None where all agree.

    Left out on purpose: `true`, `null`, hexadecimal numbers and exponents (`1e3`), on which Kubernetes' own tools agree.
    """
    if text in WORDS:
        return None if text in CLEAR else f"{str(WORDS[text]).lower()} to Kubernetes, but text to YAML 1.2 readers"
    if text[0] not in _START or not text[-1:].isalnum():
        return None
    if match(_BASE_60, text):
        return "text to Kubernetes, but a number in base 60 to YAML 1.1 readers"
    if match(_DATE, text):
        return "text to Kubernetes, but a date to other readers, kustomize among them"
    if (number := parse_number(text)) is None:
        return None
    if match(_OCTAL, text) or "_" in text or text.lstrip("+-")[:2] in {"0b", "0B"}:
        return f"the number {as_json(number)} to Kubernetes, but not to all readers"
    return None


def value_of(text: str) -> Scalar:
    """The value of a text; `OddError` for what someone must be told about."""
    if text and text not in WORDS and not (text[0] in _START and _NUMERIC.issuperset(text)):
        if text in INFINITE:
            raise OddError(text)
        return text
    if text.isdecimal() and text.isascii() and len(text) < 19 and (text[0] != "0" or text == "0"):
        return int(text)
    if text and ambiguous(text):
        raise OddError(text)
    return resolve(text)


def _key(text: str) -> str:
    """The key that a text becomes; `OddError` also for null keys and for the merge key."""
    if (key := resolve_key(text)) is None or text == "<<" or ambiguous(text):
        raise OddError(text)
    return key


VALUES: Final = TextMemo(value_of, longest=_SHORT)
KEYS: Final = TextMemo(_key, longest=_SHORT)
