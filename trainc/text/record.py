"""What `typing` gives, for modules that every run loads: importing it costs more than the work on one file."""

from _collections import _tuplegetter  # type: ignore[import-not-found]  # the getter that `collections` itself uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self, dataclass_transform
else:

    def dataclass_transform(**_: bool) -> object:
        """Tells type checkers alone that a class makes its `__init__` of its fields."""
        return lambda one: one


__all__ = [
    "IO", "Any", "BinaryIO", "Final", "Generic", "Immutable", "NamedTuple", "Never", "NoReturn", "Protocol", "Self", "T",
    "TextIO", "cached_property",
]  # fmt: skip

_new = tuple.__new__


class _Generic:
    """A base that takes parameters and remembers them for those who ask, as pydantic does."""

    __slots__ = ()
    __class_getitem__: "Any" = classmethod(type(list[int]))


class _CachedProperty:
    """What `functools.cached_property` is to its users: a method that is called once, and its answer kept."""

    def __init__(self, method: "Any") -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, one: "Any", owner: type | None = None) -> "Any":
        if one is None:
            return self
        answer = one.__dict__[self._name] = self._method(one)
        return answer


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Immutable:
    """A base of classes whose objects keep the fields they are made with; what a class sets is a field's default."""

    def __init__(self, **fields: object) -> None:
        if unknown := fields.keys() - type(self).__annotations__.keys():
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(unknown))}")
        self._fill(**fields)

    def but(self, **changes: object) -> "Self":
        """This object with other values in some of its fields."""
        one = object.__new__(type(self))
        one._fill(**{**vars(self), **changes})
        return one

    def __setattr__(self, field: str, content: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{field} does not change")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{field} does not change")

    def _fill(self, **fields: object) -> None:
        """Set fields of a new object, before anybody else holds it."""
        for field, content in fields.items():
            object.__setattr__(self, field, content)


class _Fields(type):
    """Makes the annotated names of a class the fields of a tuple."""

    def __new__(cls, name: str, bases: tuple[type, ...], space: "dict[str, Any]") -> "Any":
        if not bases:
            return super().__new__(cls, name, (tuple,), {**space, "__slots__": ()})
        fields = tuple(space.get("__annotations__", ()))
        defaults = {field: space.pop(field) for field in fields if field in space}
        getters = {field: _tuplegetter(at, f"the field `{field}`") for at, field in enumerate(fields)}
        own = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields, "__slots__": ()}
        return super().__new__(cls, name, bases, {**space, **getters, **own})


class _NamedTuple(metaclass=_Fields):
    """What `typing.NamedTuple` is to its users, as far as they need it here."""

    _make: "Any" = classmethod(_new)

    def __new__(cls: "Any", *given: "Any", **by_name: "Any") -> "Any":
        """A tuple of all fields, by place, by name or by default."""
        if by_name or len(given) != len(cls._fields):
            fields = cls._fields
            held = {**cls._field_defaults, **dict(zip(fields, given, strict=False)), **by_name}
            if len(given) > len(fields) or len(held) != len(fields) or not held.keys() <= set(fields):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(fields)}")
            given = tuple([held[name] for name in fields])
        return _new(cls, given)

    def __repr__(self: "Any") -> str:
        held = ", ".join([f"{name}={getattr(self, name)!r}" for name in self._fields])
        return f"{type(self).__name__}({held})"

    def __getnewargs__(self: "Any") -> "tuple[Any, ...]":
        return tuple(self)

    def _replace(self: "Any", **by_name: "Any") -> "Any":
        return type(self)(**{name: getattr(self, name) for name in self._fields} | by_name)


if TYPE_CHECKING:  # what these are to their users
    from functools import cached_property
    from typing import IO, BinaryIO, Final, Generic, NamedTuple, Never, NoReturn, Protocol, TextIO, TypeVar

    T = TypeVar("T")
else:
    T = IO = Any = BinaryIO = Final = Never = NoReturn = Protocol = Self = TextIO = (
        _Generic  # annotations may index them
    )
    Generic, NamedTuple, cached_property = _Generic, _NamedTuple, _CachedProperty
