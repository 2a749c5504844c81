"""Resource quantities as Kubernetes reads and respells them (k8s.io/apimachinery/pkg/api/resource)."""

from __future__ import annotations

from fractions import Fraction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MALFORMED = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
UNKNOWN_SUFFIX = "unable to parse quantity's suffix"

_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BY_EXPONENT = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_DIGITS = frozenset("0123456789")
_SUFFIX = frozenset("eEinumkKMGTP")
_NANO = 10**9
_LONGEST = 400  # digits of a number, and the power of ten of an exponent, beyond which nothing is told apart


class QuantityError(ValueError):
    """Text that is no quantity; its message is Kubernetes' own."""


class Quantity:
    """A parsed quantity: its exact value and the family of suffixes it was written in."""

    __slots__ = ("digits", "exponent", "family", "value")

    def __init__(self, value: Fraction, family: str, digits: str, exponent: int) -> None:
        self.value = value
        self.family = family
        self.digits = digits
        self.exponent = exponent


def parse(text: str) -> Quantity:
    """The quantity that `text` spells; raises QuantityError."""
    body = text[1:] if text[:1] in ("+", "-") else text
    number = _leading(body, (*_DIGITS, "."))
    suffix = body[len(number) :]
    if not number.strip(".") or number.count(".") > 1:
        raise QuantityError(MALFORMED)
    family, exponent = _suffix(suffix)
    whole, _, part = number.partition(".")
    if len(number) > _LONGEST:
        # No amount needs so many digits; reading them all is what an attacker would want.
        exponent += min(max(len(whole) - _LONGEST, 0), _LONGEST)
        whole, part = whole[:_LONGEST], part[: max(_LONGEST - len(whole), 0)]
    base = Fraction(1024) if family == "binary" else Fraction(10)
    value = Fraction(int(whole + part), 10 ** len(part)) * base**exponent
    value = _at_least_nano(-value if text[:1] == "-" else value)
    return Quantity(value, family, whole + part, exponent - len(part))


def _at_least_nano(value: Fraction) -> Fraction:
    """Amounts below a billionth are rounded up to one, away from zero."""
    scaled = value * _NANO
    if scaled.denominator == 1:
        return value
    up = -(-abs(scaled.numerator) // scaled.denominator)
    return Fraction(up if value > 0 else -up, _NANO)


def _leading(text: str, allowed: Iterable[str]) -> str:
    length = 0
    held = frozenset(allowed)
    while length < len(text) and text[length] in held:
        length += 1
    return text[:length]


def _suffix(text: str) -> tuple[str, int]:
    if text in _DECIMAL:
        return "decimal", _DECIMAL[text]
    if text in _BINARY:
        return "binary", _BINARY[text]
    rest = text[1:]
    unsigned = rest[1:] if rest[:1] in ("+", "-") else rest
    if text[0] in "eE" and unsigned and _DIGITS.issuperset(unsigned):
        return "exponent", max(-_LONGEST, min(_LONGEST, int(rest[:9])))
    letters = _leading(text, _SUFFIX)
    tail = text[len(letters) :]
    tail = tail[1:] if tail[:1] in ("+", "-") else tail
    raise QuantityError(UNKNOWN_SUFFIX if _DIGITS.issuperset(tail) else MALFORMED)


def canonical(text: str) -> str:
    """The spelling in which Kubernetes stores a quantity; raises QuantityError."""
    quantity = parse(text)
    if _echoed(quantity):
        return text
    if quantity.value == 0:
        return "0"
    if quantity.family == "binary" and abs(quantity.value) >= 1024 and quantity.value.denominator == 1:
        return _binary(int(quantity.value))
    return _decimal(quantity.value, exponents=quantity.family == "exponent")


def _echoed(quantity: Quantity) -> bool:
    """A decimal whose digits already stand at a power of a thousand, with nothing left to shorten, stays as written."""
    if quantity.family == "binary" or len(quantity.digits) > 18 or quantity.exponent < -9:
        return False
    amount = int(quantity.digits)
    return amount != 0 and quantity.exponent % 3 == 0 and amount % 1000 != 0


def _binary(amount: int) -> str:
    power = 0
    while power < 6 and amount % 1024 == 0:
        amount //= 1024
        power += 1
    return f"{amount}{('', *_BINARY)[power]}"


def _decimal(value: Fraction, *, exponents: bool) -> str:
    amount, exponent = int(value * _NANO), -9
    while amount % 1000 == 0 and exponent < 18:
        amount //= 1000
        exponent += 3
    if exponents:
        return f"{amount}e{exponent}" if exponent else str(amount)
    return f"{amount}{_BY_EXPONENT[exponent]}"
