"""Whether texts fit patterns; for ordinary texts and patterns of the built-in schemas without regular expressions."""

from functools import lru_cache

from trainc.apiserver.names import is_label, is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.text.re2 import Pattern

_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_UNITS = frozenset(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei", *"numkMGTPE"))


def _dotted_labels(text: str) -> bool:
    return all(map(is_label, text.split(".")))


def _qualified(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return is_name(name) and (not slash or _dotted_labels(prefix))


def _quantity(text: str) -> bool:
    digits = text.rstrip("EGKMPTikmnu")
    unit = text[len(digits) :]
    return text.isascii() and digits.isdigit() and (not unit or unit in _UNITS)


# By the pattern's text; True is certain, False says that the pattern itself has to look.
ORDINARY = {
    "^[a-z]([-a-z0-9]*[a-z0-9])?$": lambda text: text[:1] in _LETTERS and is_label(text),
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|"
    r"([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$": _quantity,
    r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$": lambda text: (
        text.isascii() and text.isalnum() and text[:1] in _LETTERS
    ),
    "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$": is_label,
    "^[^:]+$": lambda text: bool(text) and ":" not in text,
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$": _dotted_labels,
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$": _qualified,
}


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern of RE2 is found in a text.

    NotJudgedError where trainc cannot read one that a cluster brings.
    """
    ordinary = ORDINARY.get(pattern)
    if ordinary is not None:
        return ordinary(text) or _compiled(pattern).search(text)
    from trainc.apiserver.schema import engine  # noqa: PLC0415 (few clusters bring patterns)

    return engine.matches(pattern, text)


@lru_cache(maxsize=len(ORDINARY))
def _compiled(pattern: str) -> "Pattern":
    from trainc.text.re2 import compile_re2  # noqa: PLC0415 (most values are ordinary, and need no engine)

    return compile_re2(pattern)
