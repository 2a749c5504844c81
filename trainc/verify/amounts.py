"""Quantities in billionths, and how the API server would spell them."""

from __future__ import annotations

from trainc.model.quantity import NANO, Quantity, QuantityError

ONE = NANO

_COMMON = {"Gi": NANO << 30, "Mi": NANO << 20, "Ti": NANO << 40}


def amount(written: object) -> int | None:
    """The quantity in billionths; None for what is no quantity."""
    if type(written) is int:
        return written * NANO
    if type(written) is str and written.isdigit() and written.isascii():
        return int(written) * NANO
    if type(written) is str and written[:-2].isdigit() and written[-2:] in _COMMON and written.isascii():
        return int(written[:-2]) * _COMMON[written[-2:]]
    try:
        return Quantity.parse(written).nanos
    except QuantityError:
        return None


def canonical(written: object) -> str:
    """A quantity as the API server spells it."""
    return str(Quantity.parse(written))
