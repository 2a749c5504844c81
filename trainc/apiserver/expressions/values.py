"""Values of CEL as Python holds them, which fields of the object each rests on, and what equal and less mean.

null, bool, int, float, str, bytes, list and dict stand for themselves; an int that is a `Uint` is a uint. A scope is
what one evaluation of an expression sees, and what it has cost so far.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Self, TypeAlias

from trainc.apiserver.expressions.syntax import Uint

Paths: TypeAlias = "tuple[tuple[str | int, ...], ...] | Place | None"

Valued = tuple[Any, Paths]

Run = Callable[["Scope"], Valued]
MAX_PATHS = 12  # of which one value remembers that it rests on them
_OWN = {
    **{name: f"kubernetes.{name}" for name in ("Quantity", "URL", "NamedFormat", "Semver")},
    **{name: f"net.{name}" for name in ("IP", "CIDR")},
    **{
        name: f"kubernetes.authorization.{name}"
        for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
    },
    **{name: f"google.protobuf.{name}" for name in ("Duration", "Timestamp")},
}
OPAQUE = frozenset(name for name in _OWN.values() if not name.startswith("google."))
MAX_STEPS = 1_000_000  # through elements of lists and maps, for what one expression does
MAX_ELEMENTS = 1_000_000
PER_EXPRESSION = 1_000_000  # PerCallLimit of k8s.io/apiserver/pkg/apis/cel


class Place(tuple[Any, ...]):
    """The path of a value that is the object's own, as it stands there; any other value has a plain tuple of paths."""

    __slots__ = ()


class EvaluationError(Exception):
    """The error that an expression ends in, and the fields that it rests on."""

    def __init__(self, text: str, paths: Paths = None) -> None:
        super().__init__(text)
        self.paths = paths


class NotKnownError(Exception):
    """What an expression rests on is not known before the request is made."""


class NotEvaluatedError(NotKnownError):
    """Why trainc does not evaluate what the server does."""


class OutOfBudgetError(Exception):
    """An expression costs more than the server allows one."""


class Built(list[Any]):
    """A list that an expression made; `paths` holds what each element rests on."""

    __slots__ = ("paths",)

    def __init__(self, values: Iterable[Any] = (), paths: Iterable[Paths] = ()) -> None:
        super().__init__(values)
        self.paths: list[Paths] = list(paths)


class Optional(NamedTuple):
    """An optional value."""

    present: bool
    value: Any = None


NONE = Optional(False)


class UnknownValue(NamedTuple):
    """A value that nobody can know before the request is made; to reach it is to ask for it."""

    reason: str


def first_unknown(value: Any) -> str:
    """Why something in a value is not known, empty where all of it is."""
    todo = [value]
    for _ in range(100_000):
        if not todo:
            return ""
        one = todo.pop()
        if type(one) is UnknownValue:
            return one.reason
        if isinstance(one, list):
            todo += one
        elif type(one) is dict:
            todo += one.values()
    return "a value with too many parts"


class Duration(int):
    """A duration in nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """A point in time in nanoseconds since 1970, and the offset from UTC with which string() writes it."""

    offset: timedelta

    def __new__(cls, nanos: int, offset: timedelta = timedelta()) -> Self:
        """A point in time that was read with an offset, or made of such a one."""
        made = super().__new__(cls, nanos)
        made.offset = offset
        return made

    def at(self, offset: timedelta = timedelta()) -> datetime:
        """The calendar's word for it."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=self // 1000) + offset


class TypeName(NamedTuple):
    """A type as a value."""

    name: str


class Opaque(NamedTuple):
    """A value of one of Kubernetes' own types."""

    kind: str
    value: Any


def overload() -> EvaluationError:
    """The error of a function that does not take such values."""
    return EvaluationError("no such overload")


def join(*parts: Paths) -> Paths:
    """The fields that a value rests on which is made of others."""
    places: dict[tuple[str | int, ...], None] = {}
    for part in parts:
        if type(part) is Place:
            places[tuple(part)] = None
        elif part is not None:
            places.update(dict.fromkeys(part))
    return tuple(places)[-MAX_PATHS:] or None


def below(paths: Paths, key: Any) -> Paths:
    """What an element rests on."""
    return Place((*paths, key)) if type(paths) is Place and type(key) in (str, int) else paths


NAMES: dict[object, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    Built: "list",
    dict: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeName: "type",
    Optional: "optional_type",
}


def type_name(value: Any) -> str:
    """The name of a value's type."""
    return value.kind if type(value) is Opaque else NAMES.get(type(value), "dyn")


class Overload(NamedTuple):
    """One way to call a function: what it does, and the types of its arguments; `dyn` stands for any.

    A value of one of Kubernetes' own types is given without its `Opaque`, and a `result` of such a type gets one.
    """

    run: Callable[..., Any]
    parameters: tuple[str, ...]
    result: str = ""


def taking(run: Callable[..., Any], *signatures: str) -> list[Overload]:
    """The overloads of a function; a signature names the types of the arguments."""
    return [Overload(run, tuple([_OWN.get(word, word) for word in one.split()])) for one in signatures]


def function(run: Callable[..., Any], parameters: str, result: str) -> Overload:
    """An overload of a function that gives a value of some type."""
    return taking(run, parameters)[0]._replace(result=_OWN.get(result, result))


class _Steps:
    """How many elements the present expression has looked at where the server counts no cost."""

    taken = 0


def step() -> None:
    """Count an element; a NotEvaluatedError where there are too many: lists within lists can hold one list many times."""
    _Steps.taken += 1
    if _Steps.taken > MAX_STEPS:
        raise NotEvaluatedError("an expression takes too much time")


def is_number(value: Any) -> bool:
    """Whether a value is an int, a uint or a double."""
    return type(value) in (int, Uint, float)


def equal(left: Any, right: Any) -> bool:
    """Whether two values are equal; values of different types are not, but numbers are compared as numbers."""
    step()
    if is_number(left) and is_number(right):
        left, right = _alike(left, right)
        return bool(left == right)
    if type(left) is UnknownValue or type(right) is UnknownValue:
        raise NotKnownError((left if type(left) is UnknownValue else right).reason)
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(equal, left, right))
    if type(left) is dict:
        if type(right) is not dict or len(left) != len(right):
            return False
        return all(find(right, key)[0] and equal(value, find(right, key)[1]) for key, value in left.items())
    if type(left) is Optional:
        if type(right) is not Optional or left.present != right.present:
            return False
        return not left.present or equal(left.value, right.value)
    return type(left) is type(right) and bool(left == right)


def _alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Two numbers as doubles where one of them is, which the server compares as such."""
    return (float(left), float(right)) if float in (type(left), type(right)) else (left, right)


def find(held: dict[Any, Any], key: Any) -> tuple[bool, Any]:
    """Whether a map has a key, and its value; numbers of different types are one key."""
    if type(key) is bool or type(key) is str:
        value = held.get(key, held)
        if value is held or (type(key) is bool and not any(name is key for name in held)):
            return False, None
        return True, value
    if not is_number(key):
        raise EvaluationError("unsupported key type")
    for name, value in held.items():
        if is_number(name) and name == key:
            return True, value
    return False, None


_ORDERED = (str, bytes, bool, Duration, Timestamp)


def is_ordered(value: Any) -> bool:
    """Whether values of its type have an order."""
    return is_number(value) or type(value) in _ORDERED


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1; an EvaluationError where two values have no order."""
    if not (is_number(left) and is_number(right)) and (type(left) is not type(right) or type(left) not in _ORDERED):
        raise overload()
    if left != left or right != right:  # noqa: PLR0124 (NaN)
        raise EvaluationError("NaN values cannot be ordered")
    left, right = _alike(left, right)
    return -1 if left < right else 1 if left > right else 0


def size(value: Any) -> int:
    """What costs count as the size of a value."""
    if isinstance(value, str | bytes | list | dict):
        return len(value)
    if type(value) is Optional and value.present:
        return size(value.value)
    if type(value) is Opaque:
        return int(value.value.max_prefixlen // 8) if value.kind in ("net.IP", "net.CIDR") else 1
    return 1


class Scope:
    """The names that one evaluation sees, and what it has cost so far; `lazy` gives the value of a name when first asked."""

    __slots__ = ("cost", "lazy", "names")

    def __init__(self, names: dict[str, Valued], lazy: Callable[[str], Valued]) -> None:
        self.names = names
        self.lazy = lazy
        self.cost = 0
        _Steps.taken = 0

    def pay(self, cost: int) -> None:
        """Count a cost; an OutOfBudgetError where the expression costs more than one may."""
        self.cost += cost
        if self.cost > PER_EXPRESSION:
            raise OutOfBudgetError

    @contextmanager
    def shadowing(self, *names: str) -> Iterator[dict[str, Valued]]:
        """The names that a macro may bind to something else: afterwards they mean again what they meant before."""
        before = {name: self.names.get(name) for name in names}
        try:
            yield self.names
        finally:
            for name, valued in before.items():
                self.names.pop(name, None)
                if valued is not None:
                    self.names[name] = valued
