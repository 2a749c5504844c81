"""Quantities in billionths, and how the API server would spell them."""

from __future__ import annotations

from trainc.text.quantity import NANO, Quantity, QuantityError

ONE = NANO


def amount(written: object) -> int | None:
    """The quantity in billionths; None for what is not a quantity."""
    try:
        return Quantity.parse(written).nanos
    except QuantityError:
        return None


def canonical(written: object) -> str:
    """A quantity as the API server spells it."""
    return str(Quantity.parse(written))
