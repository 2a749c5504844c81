"""The one way to read a number that people wrote as text."""

from __future__ import annotations

DIGITS = 18  # more are outside of 64 bits, and nothing that trainc counts has them


def whole_number(text: object, *, least: int = 0, most: int = 10**DIGITS) -> int | None:
    """A number from `least` to `most` in ASCII digits alone, None for any other text."""
    if type(text) is not str or not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        return None
    number = int(text)
    return number if least <= number <= most else None


def brief(text: str) -> str:
    """A text that should be a number, cut where it is long."""
    return text if len(text) <= 40 else f"{text[:40]}..."
