"""Resource quantities as Kubernetes reads, adds and respells them (k8s.io/apimachinery/pkg/api/resource).

Amounts are held as whole billionths, the smallest step that Kubernetes knows, so all arithmetic is exact.
"""

from collections.abc import Container

from trainc.text.memo import Memo, TextMemo

MALFORMED = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
BAD_NUMBER = "unable to parse numeric part of quantity"
UNKNOWN_SUFFIX = "unable to parse quantity's suffix"
BINARY, DECIMAL, EXPONENT = "binary", "decimal", "exponent"
NANO = 10**9

_POWERS_OF_1024 = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_POWERS_OF_TEN = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BY_EXPONENT = {exponent: suffix for suffix, exponent in _POWERS_OF_TEN.items()}
_DIGITS = frozenset("0123456789")
_NUMBER = frozenset("0123456789.")
_SUFFIX = frozenset("eEinumkKMGTP")
_WIDEST = 4096  # digits or exponent beyond which text is not an amount of anything
_LARGEST_BINARY = (2**63 - 1) * NANO  # what the API machinery caps binary amounts at


class QuantityError(ValueError):
    """Text that is not a quantity; its message is Kubernetes' own."""


class Quantity:
    """An exact amount in billionths (`nanos`), and the family of suffixes it was written in."""

    __slots__ = ("family", "kept", "nanos")

    def __init__(self, nanos: int, family: str = DECIMAL, *, kept: bool = False) -> None:
        self.nanos = nanos
        self.family = family
        self.kept = kept  # whether a server keeps it as it was written

    @classmethod
    def parse(cls, text: object) -> "Quantity":
        """The quantity that a string or a number of YAML spells; QuantityError for anything else."""
        if type(text) is int:
            return _PARSED[str(text)]
        if type(text) is float:
            text = repr(text)
        if type(text) is not str or len(text) > _WIDEST:
            raise QuantityError(MALFORMED)
        return _PARSED[text]

    def plus(self, other: "Quantity") -> "Quantity":
        """The sum; the first amount that is not zero gives the family."""
        return Quantity(self.nanos + other.nanos, self.family if self.nanos else other.family)

    def times(self, count: int) -> "Quantity":
        """The amount for `count` of the same."""
        return Quantity(self.nanos * count, self.family)

    def ceil(self) -> int:
        """The amount rounded to a whole number, away from zero, as GPUs and processes are counted."""
        whole = -(-abs(self.nanos) // NANO)
        return whole if self.nanos >= 0 else -whole

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos

    def __le__(self, other: "Quantity") -> bool:
        return self.nanos <= other.nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __str__(self) -> str:
        """The canonical spelling: zero as `0`, else the largest suffix that leaves a whole number."""
        return _SPELLED[self.nanos, self.family]

    def __repr__(self) -> str:
        return f"Quantity({self})"


def _parse(text: str) -> Quantity:
    body = text[1:] if text[:1] in ("+", "-") else text
    number = _leading(body, _NUMBER)
    if not text or number.count(".") > 1:
        raise QuantityError(MALFORMED)
    family, power = _suffix(body[len(number) :])
    whole, _, part = number.partition(".")
    digits = (whole.lstrip("0") or "0") + part
    ten = (0 if family == BINARY else power) - len(part)
    if family == BINARY:
        kept = not part and len(digits) + 3 * power < 15 and int(digits) % 8 != 0
        nanos = min(_scaled(int(digits) * 1024**power, ten + 9), _LARGEST_BINARY)
        family = DECIMAL if nanos < NANO else BINARY
    else:
        kept = len(digits) <= 18 and ten >= -9 and ten % 3 == 0 and digits[0] != "0" and digits[-3:] != "000"
        nanos = _scaled(int(digits), ten + 9)
    return Quantity(-nanos if text[:1] == "-" else nanos, family, kept=kept)


def _spelling(amount: tuple[int, str]) -> str:
    nanos, family = amount
    whole, rest = divmod(abs(nanos), NANO)
    sign = "-" if nanos < 0 else ""
    if not nanos:
        return "0"
    if family == BINARY and not rest and whole >= 1024:
        return sign + _binary(whole)
    return sign + _decimal(abs(nanos), exponents=family == EXPONENT)


_PARSED = TextMemo(_parse, longest=32)
_SPELLED = Memo(_spelling, most=10_000)


def stored(text: str) -> str:
    """The spelling in which a server keeps a quantity: canonical, but what is nearly so stays as it was written."""
    quantity = Quantity.parse(text)
    return text if quantity.kept else str(quantity)


def _leading(text: str, allowed: Container[str]) -> str:
    length = 0
    while length < len(text) and text[length] in allowed:
        length += 1
    return text[:length]


def _suffix(text: str) -> tuple[str, int]:
    if text in _POWERS_OF_TEN:
        return DECIMAL, _POWERS_OF_TEN[text]
    if text in _POWERS_OF_1024:
        return BINARY, _POWERS_OF_1024[text]
    rest = text[1:]
    unsigned = rest[1:] if rest[:1] in ("+", "-") else rest
    if text[0] in "eE" and unsigned and _DIGITS.issuperset(unsigned):
        power = int(rest) if len(rest) < 6 else _WIDEST if rest[0] != "-" else -_WIDEST
        if power >= _WIDEST:  # a bound of ours: the API machinery would start to write zeros
            raise QuantityError(BAD_NUMBER)
        return EXPONENT, max(power, -_WIDEST)
    letters = _leading(text, _SUFFIX)
    tail = text[len(letters) :]
    tail = tail[1:] if tail[:1] in ("+", "-") else tail
    raise QuantityError(UNKNOWN_SUFFIX if _DIGITS.issuperset(tail) else MALFORMED)


def _scaled(amount: int, ten: int) -> int:
    """`amount` times a power of ten; what is left below one is rounded up, away from zero."""
    scaled: int = amount * 10**ten if ten >= 0 else -(-amount // 10**-ten)
    return scaled


def _binary(amount: int) -> str:
    power = 0
    while power < 6 and amount % 1024 == 0:
        amount //= 1024
        power += 1
    return f"{amount}{('', *_POWERS_OF_1024)[power]}"


def _decimal(nanos: int, *, exponents: bool) -> str:
    exponent = -9
    while nanos % 1000 == 0 and (exponents or exponent < 18):
        nanos //= 1000
        exponent += 3
    if exponents:
        return f"{nanos}e{exponent}" if exponent else str(nanos)
    return f"{nanos}{_BY_EXPONENT[exponent]}"
