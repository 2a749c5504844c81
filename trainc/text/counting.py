"""Things in a sentence: a number with its noun, the first of many names."""

from collections.abc import Iterable


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the singular or the plural."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def few(names: Iterable[str], most: int, nouns: str = "") -> str:
    """The names, of more than `most` the first ones and how many there are besides, with what they are if given."""
    listed = list(names)
    shown = ", ".join(listed[:most])
    return shown if len(listed) <= most else f"{shown} and {len(listed) - most} more{nouns and f' {nouns}'}"
