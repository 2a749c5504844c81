"""A value that knows where it came from."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, NoReturn, TypeVar

T = TypeVar("T")
U = TypeVar("U")
Place = tuple[str, int, int, int, int]
Derived = tuple[str, tuple["Sourced[Any]", ...]]

SCHEMA_DEFAULT = "schema default"  # `by` of what the server's schema of a kind fills in
_new = tuple.__new__  # an origin that names all of its fields, made without asking which they are


class Span(NamedTuple):
    """A half-open stretch of text; lines and columns count from 1, in characters."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Origin(NamedTuple):
    """Why a value is what it is: written at a span, or derived by code from other origins."""

    at: Span | None = None
    by: str = ""
    of: "tuple[Origin, ...]" = ()

    def spans(self) -> tuple[Span, ...]:
        """Every place in the user's files that this value rests on, nearest first."""
        if self.at is not None:
            return (self.at,)
        return tuple(dict.fromkeys(span for origin in self.of for span in origin.spans()))

    def __str__(self) -> str:
        if self.at is not None:
            return str(self.at)
        return f"{self.by} ({', '.join(map(str, self.of))})" if self.of else self.by


class Sourced(Generic[T]):
    """One scalar of a tree, together with its origin.

    `source` is the origin, or no more than what becomes one when somebody asks, which nobody does for most of them: a
    place, the fields of a span, or the code that derived the value and the leaves that it was made from. Truth value and
    formatting raise: `if x` and `f"{x}"` are how an origin gets lost. Use `.value`.
    """

    __slots__ = ("source", "value")

    def __init__(self, value: "T", source: "Origin | Place | Derived") -> None:
        self.value = value
        self.source: Origin | Place | Derived = source

    @property
    def origin(self) -> Origin:
        source = self.source
        if source.__class__ is tuple:
            source = self.source = _origin(source)  # type: ignore[arg-type]
        return source  # type: ignore[return-value]

    @property
    def by(self) -> str:
        """Which code the value comes from, empty where people wrote it."""
        source = self.source
        return source[0] if source.__class__ is tuple and len(source) == 2 else self.origin.by

    def map(self, f: "Callable[[T], U]") -> "Sourced[U]":
        """The image of this value under `f`, with the same origin."""
        return Sourced(f(self.value), self.source)

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Sourced) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"{self.value!r} @ {self.origin}"

    def __bool__(self) -> NoReturn:
        raise TypeError("the truth of a sourced value loses its origin; ask .value")

    def __format__(self, spec: str) -> NoReturn:
        raise TypeError("formatting a sourced value loses its origin; use derive()")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let a model validate the value inside and keep the origin."""
        from pydantic_core import core_schema  # noqa: PLC0415 (pydantic is never loaded on the hook path)

        def read(value: Any, validate: Callable[[Any], Any]) -> Sourced[Any]:
            return Sourced(validate(value.value), value.origin)

        return core_schema.no_info_wrap_validator_function(read, handler(source.__args__[0]))


def is_written(leaf: object) -> bool:
    """Whether a scalar is there, and is not what the schema of its kind fills in."""
    return type(leaf) is Sourced and leaf.by != SCHEMA_DEFAULT


def _origin(source: "Place | Derived") -> Origin:
    if len(source) == 2:
        return _new(Origin, (None, source[0], tuple([leaf.origin for leaf in source[1]])))
    return _new(Origin, (_new(Span, source), "", ()))


def known(value: "T", by: str, of: tuple[Sourced[Any], ...]) -> "Sourced[T]":
    """A value that was worked out before, and what it rests on in this case."""
    return Sourced(value, (by, of))


def derive(by: str, f: "Callable[..., T]", *of: Sourced[Any]) -> "Sourced[T]":
    """The value of `f` over sourced values, its origin naming the code and all it was made from."""
    return Sourced(f(*[s.value for s in of]), (by, of))
