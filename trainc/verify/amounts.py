"""Kubernetes quantities as whole numbers of billionths, the finest that Kubernetes keeps."""

from __future__ import annotations

ONE = 10**9

_SUFFIXES = {
    "": ONE,
    "n": 1,
    "u": 10**3,
    "m": 10**6,
    "k": 10**12,
    "M": 10**15,
    "G": 10**18,
    "T": 10**21,
    "P": 10**24,
    "E": 10**27,
    "Ki": ONE * 2**10,
    "Mi": ONE * 2**20,
    "Gi": ONE * 2**30,
    "Ti": ONE * 2**40,
    "Pi": ONE * 2**50,
    "Ei": ONE * 2**60,
}
_BINARY = (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))


def amount(written: object) -> int | None:
    """The quantity in billionths, rounded up; None for what is no quantity."""
    if type(written) is int:
        return written * ONE
    if type(written) is float:
        written = repr(written)
    if type(written) is not str or not written.isascii():
        return None
    if written.isdigit():
        return int(written) * ONE
    end = len(written)
    while end and written[end - 1].isalpha():
        end -= 1
    scale = _SUFFIXES.get(written[end:])
    if scale is None:
        return None
    return _scaled(written[:end], scale)


def _scaled(digits: str, scale: int) -> int | None:
    mantissa, _, exponent = digits.replace("E", "e").partition("e")
    sign = -1 if mantissa.startswith("-") else 1
    before, _, after = mantissa.lstrip("+-").partition(".")
    shift = exponent.lstrip("+-")
    if not (before + after).isdigit() or (exponent and not shift.isdigit()) or len(shift) > 2:
        return None
    power = int(shift or "0") * (-1 if exponent.startswith("-") else 1) - len(after)
    number = int(before + after) * scale
    scaled = number * 10**power if power >= 0 else -(-number // 10**-power)
    return sign * scaled


def canonical(number: int, written: object = "") -> str:
    """A quantity as the API server spells it: in the largest unit that keeps it whole, binary where it was `written` so."""
    if type(written) is str and written.endswith("i"):
        return binary(number)
    for suffix, scale in (("", ONE), ("m", 10**6), ("u", 10**3)):
        if number % scale == 0:
            return f"{number // scale}{suffix}"
    return f"{number}n"


def binary(number: int) -> str:
    """An amount of memory as people say it: in the largest binary unit that keeps it whole."""
    size = number // ONE
    for suffix, scale in _BINARY:
        if size and size % scale == 0:
            return f"{size // scale}{suffix}"
    return str(size)
