"""The part of the package `rpds` that jsonschema asks for, in Python: the real one is compiled, and not for every interpreter."""

from collections.abc import Iterable, Mapping
from typing import Any, Self


class HashTrieMap(dict[Any, Any]):
    """A map that gives another one where something is added or taken away."""

    @classmethod
    def convert(cls, value: Mapping[Any, Any]) -> "HashTrieMap":
        return value if isinstance(value, cls) else cls(value)

    def insert(self, key: object, value: object) -> "HashTrieMap":
        return HashTrieMap({**self, key: value})

    def remove(self, key: object) -> "HashTrieMap":
        return HashTrieMap({name: value for name, value in self.items() if name != key})

    def update(self, *others: Any, **named: Any) -> "HashTrieMap":  # type: ignore[override] # dict's own changes the map
        return HashTrieMap({**self, **dict(*others, **named)})


class HashTrieSet(frozenset[Any]):
    """A set that gives another one where something is added."""

    def insert(self, value: object) -> "HashTrieSet":
        return HashTrieSet({*self, value})

    def update(self, *others: Iterable[Any]) -> "HashTrieSet":
        return HashTrieSet(self.union(*others))


class List(tuple[Any, ...]):
    """A list that gives another one where something is put before it."""

    __slots__ = ()

    def __new__(cls, values: Iterable[Any] = ()) -> Self:
        return super().__new__(cls, values)

    def push_front(self, value: object) -> "List":
        return List((value, *self))

    def drop_first(self) -> "List":
        return List(self[1:])
