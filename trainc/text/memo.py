"""Bounded memo tables: jobs of one runtime share most of their texts and parts."""

from collections.abc import Callable
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

MAX_ENTRIES = 1_000


class Memo(dict[K, V]):
    """The answers of a pure function by what it was asked; it forgets all of them when they get too many."""

    __slots__ = ("_answer", "_max_entries")

    def __init__(self, answer: "Callable[[K], V]", *, most: int = MAX_ENTRIES) -> None:
        super().__init__()
        self._answer = answer
        self._max_entries = most

    def __missing__(self, key: "K") -> "V":
        answer = self._answer(key)
        if len(self) >= self._max_entries:
            self.clear()
        self[key] = answer
        return answer


class TextMemo(Memo[str, V]):
    """The answers of a pure function about texts; those about long ones are not kept."""

    __slots__ = ("_longest",)

    def __init__(self, answer: "Callable[[str], V]", *, longest: int, most: int = 20_000) -> None:
        super().__init__(answer, most=most)
        self._longest = longest

    def __missing__(self, key: str) -> "V":
        answer = self._answer(key)
        if len(key) <= self._longest:
            if len(self) >= self._max_entries:
                self.clear()
            self[key] = answer
        return answer
