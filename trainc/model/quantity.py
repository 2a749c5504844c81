"""Kubernetes' resource quantities, exact: read, added, multiplied, compared and written canonically."""

from __future__ import annotations

BINARY, DECIMAL, EXPONENT = "BinarySI", "DecimalSI", "DecimalExponent"

MALFORMED = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
BAD_NUMBER = "unable to parse numeric part of quantity"
BAD_SUFFIX = "unable to parse quantity's suffix"

_NANO = 10**9
_LARGEST_BINARY = (2**63 - 1) * _NANO
_LARGEST_EXPONENT = 1_000  # a bound of ours: the API machinery would start to count zeros
_BINARIES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMALS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIX_OF = {power: suffix for suffix, power in _DECIMALS.items()}
_SUFFIX_LETTERS = "eEinumkKMGTP"


class Quantity:
    """An amount in billionths, the finest that Kubernetes knows, and the format it was written in.

    Quantities are equal when their amounts are. A canonical text reads back as the same amount; the API machinery
    itself echoes texts that are nearly canonical (`1.500`, `05`, `+5`, `5.`, `1e3`), so compare amounts, never texts.
    """

    __slots__ = ("format", "nanos")

    def __init__(self, nanos: int, form: str = DECIMAL) -> None:
        self.nanos = nanos
        self.format = form

    @classmethod
    def parse(cls, source: object) -> Quantity:
        """The quantity that a text or a number of YAML spells; ValueError in the words of the API machinery."""
        if type(source) is int:
            return cls(source * _NANO)
        if type(source) is not str and type(source) is not float:
            raise ValueError(MALFORMED)
        text = str(source)
        number, suffix = _parted(text)
        form, power = _meaning(suffix)
        whole, _, fraction = number.partition(".")
        digits = int(whole + fraction)
        if form == BINARY:
            nanos = _scaled(digits << power, 9 - len(fraction))
            nanos = min(nanos, _LARGEST_BINARY)
            form = DECIMAL if 0 < nanos < _NANO else BINARY
        else:
            nanos = _scaled(digits, power + 9 - len(fraction))
        return cls(-nanos if text[0] == "-" else nanos, form)

    def plus(self, other: Quantity) -> Quantity:
        """The sum, in the format of the first addend that is not zero."""
        return Quantity(self.nanos + other.nanos, self.format if self.nanos else other.format)

    def times(self, count: int) -> Quantity:
        """This amount for each of `count`."""
        return Quantity(self.nanos * count, self.format)

    def ceil(self) -> int:
        """The amount as an integer, rounded away from zero, as GPUs and processes are counted."""
        whole = -(-abs(self.nanos) // _NANO)
        return whole if self.nanos >= 0 else -whole

    def __str__(self) -> str:
        nanos = self.nanos
        if nanos == 0:
            return "0"
        if self.format == BINARY and abs(nanos) >= 1024 * _NANO and nanos % _NANO == 0:
            return _binary_text(nanos // _NANO)
        return _decimal_text(nanos, self.format)

    def __repr__(self) -> str:
        return f"Quantity({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __lt__(self, other: Quantity) -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: Quantity) -> bool:
        return self.nanos <= other.nanos

    def __gt__(self, other: Quantity) -> bool:
        return self.nanos > other.nanos

    def __ge__(self, other: Quantity) -> bool:
        return self.nanos >= other.nanos


def _parted(text: str) -> tuple[str, str]:
    """The digits with their point, and the suffix; the sign is left out."""
    start = 1 if text[:1] in {"+", "-"} else 0
    end = start
    while end < len(text) and text[end] in "0123456789.":
        end += 1
    number = text[start:end]
    if number.count(".") > 1 or not number.strip("."):
        raise ValueError(MALFORMED)
    if len(number) > _LARGEST_EXPONENT:
        raise ValueError(BAD_NUMBER)
    return number, text[end:]


def _meaning(suffix: str) -> tuple[str, int]:
    """The format that a suffix stands for, and its power of two or ten."""
    if suffix in _DECIMALS:
        return DECIMAL, _DECIMALS[suffix]
    if suffix in _BINARIES:
        return BINARY, _BINARIES[suffix]
    letters = len(suffix) - len(suffix.lstrip(_SUFFIX_LETTERS))
    digits = suffix[letters:].lstrip("+-") if suffix[letters + 1 : letters + 2] not in {"+", "-"} else "?"
    if digits and not (digits.isascii() and digits.isdigit()):
        raise ValueError(MALFORMED)
    if letters != 1 or suffix[0] not in "eE" or not digits:
        raise ValueError(BAD_SUFFIX)
    power = int(suffix[1:]) if len(digits) < 6 else _LARGEST_EXPONENT + 1
    if power > _LARGEST_EXPONENT:
        raise ValueError(BAD_NUMBER)
    return EXPONENT, power


def _scaled(digits: int, power: int) -> int:
    """An amount times a power of ten, rounded up: whoever asks for something gets something."""
    if power >= 0:
        return int(digits * 10**power)
    if power < -_LARGEST_EXPONENT * 3:
        return 1 if digits else 0
    return int(-(-digits // 10**-power))


def _binary_text(amount: int) -> str:
    power = 0
    while power < 60 and amount % 1024 == 0:
        amount //= 1024
        power += 10
    suffix = next((name for name, known in _BINARIES.items() if known == power), "")
    return f"{amount}{suffix}"


def _decimal_text(nanos: int, form: str) -> str:
    power = -9
    while nanos % 1000 == 0 and (form == EXPONENT or power < 18):
        nanos //= 1000
        power += 3
    if form == EXPONENT:
        return f"{nanos}e{power}" if power else f"{nanos}"
    return f"{nanos}{_SUFFIX_OF[power]}"
