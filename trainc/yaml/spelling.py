"""How one scalar is spelled so that all readers read it back alike: plain, quoted or as a block."""

from typing import Final

from trainc.text.memo import TextMemo
from trainc.yaml.scalars import WORDS, match, sub

try:
    from _json import encode_basestring  # what `json` itself uses, without the rest of it
except ImportError:
    from json.encoder import encode_basestring

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_SHORT = 200

# Nothing plain starts with a digit, a sign followed by one, or a point, but a quantity: that leaves no octal, base 60,
# date, exponent, infinity or merge key to guess about.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_FIRST = frozenset((*_LETTERS, "/"))
_REST = frozenset((*_LETTERS, *"0123456789_./+=@%-"))
_COLON = _REST | {":"}
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi")
_DECIMAL = ("m", "k", "M", "G", "T")
_RESERVED: Final = frozenset(word.lower() for word in WORDS)

# Letters, digits, punctuation and pictures that are written as they are; all else beyond ASCII is escaped: what cannot
# be seen, turns the direction of the text or counts as a line end somewhere. The ranges are fixed, not Python's tables.
_RAW = (
    "\xa1-\xac\xae-\u02ff\u0370-\u052f\u1e00-\u1fff\u2010-\u2027\u2030-\u205e\u2070-\u20bf\u2100-\u2bff"
    "\u3001-\u30ff\u3400-\u9fff\uac00-\ud7a3\U0001f300-\U0001faff"
)
_HIDDEN = f"[^ -~{_RAW}]"
_BLOCK = f"[!-~{_RAW}][ -~{_RAW}]*(?:\n[ -~{_RAW}]*)*\n?"


def plain_text(text: str) -> bool:
    """Whether a text can stand without quotes and is read back as that text by every reader."""
    body = text[1:] if text[:1] == "-" else text
    body = body[1:] if body[:1] == "-" and body is not text else body
    if body[:1] not in _FIRST:
        size = 2 if text[-2:] in _BINARY else 1 if text[-1:] in _DECIMAL else len(text)
        whole, point, part = text[:-size].partition(".")
        return text.isascii() and whole.isdigit() and (part.isdigit() if point else True)
    head, blank, tail = body.partition(" ")
    if not _COLON.issuperset(head) or head[-1] == ":" or "::" in head:
        return False
    if blank and not all(word and _REST.issuperset(word) for word in tail.split(" ")):
        return False
    return text.lower() not in _RESERVED


def quoted(text: str) -> str:
    plain = encode_basestring(text)
    # Compiling that pattern takes longer than starting Python; `re` keeps it from the first text that needs it on.
    return plain if plain.isascii() and plain.isprintable() else sub(_HIDDEN, _escape, plain)


def _escape(hidden: "re.Match[str]") -> str:
    code = ord(hidden[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def is_visible(text: str) -> bool:
    """Whether a text of several lines starts with what can be seen, and holds nothing that cannot but spaces."""
    if text.isascii():  # as most, and the pattern takes as long to compile as that of quoted texts
        return text[0] not in " \n" and text.replace("\n", "").isprintable()
    return match(_BLOCK, text) is not None


def block(text: str, indent: str) -> str:
    """A text of several lines as a literal block under `indent`, with a line end."""
    body = text.removesuffix("\n").split("\n")
    mark = "|" if text[-1] == "\n" else "|-"
    return mark + "".join(f"\n{indent}{line}" if line else "\n" for line in body) + "\n"


class PlainText(str):
    """A text that is written without quotes: a placeholder where a number will stand."""

    __slots__ = ()


def other_text(value: object) -> str:
    """The spelling of what is not text: numbers, placeholders for numbers, booleans, null and empty containers."""
    if type(value) is PlainText:
        return str(value)
    if value is None:
        return "null"
    kind = type(value)
    if kind is int or kind is bool:
        return str(value).lower()
    if type(value) is float:
        if value - value != 0:
            raise ValueError(f"no YAML for {value}")
        # The shortest form with a point in the mantissa and a sign in the exponent, without which YAML 1.1 reads text.
        mantissa, exponent, power = repr(value).partition("e")
        return f"{mantissa}{'' if '.' in mantissa else '.0'}e{power}" if exponent else mantissa
    if kind is dict:
        return "{}"
    if kind is list or kind is tuple:
        return "[]"
    raise TypeError(f"no YAML for a {kind.__name__}")


def text_of(text: str) -> str:
    """The spelling of a text on one line."""
    return text if plain_text(text) else quoted(text)


def _line(text: str) -> str | None:
    """The spelling of a text with a line end; None for what is written as a block."""
    if plain_text(text):
        return f"{text}\n"
    if "\n" in text and is_visible(text) and not text.endswith("\n\n") and " \n" not in text and text[-1] != " ":
        return None
    return f"{quoted(text)}\n"


LINES: Final = TextMemo(_line, longest=_SHORT)
