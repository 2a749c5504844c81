"""Which of many names is most like one that nobody knows."""

from bisect import bisect
from difflib import get_close_matches
from functools import lru_cache

_NEAR = 50  # names on both sides together that are compared, of many


@lru_cache(maxsize=256)  # a runtime that went is missed by every job that named it
def closest(name: str, names: tuple[str, ...], cutoff: float) -> str:
    """The most similar of `names`, empty where none is similar; of many only those with a like start or end count."""
    matches = get_close_matches(name, _candidates(name, names), 1, cutoff)
    return matches[0] if matches else ""


def _candidates(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """The names worth comparing: similar ones stand side by side when sorted from their start, or from their end."""
    if len(names) <= 2 * _NEAR:
        return names
    starts, ends = _sorted(names)
    return tuple(dict.fromkeys([*_around(name, starts), *(end[::-1] for end in _around(name[::-1], ends))]))


def _around(name: str, names: list[str]) -> list[str]:
    at = bisect(names, name)
    return names[max(0, at - _NEAR // 2) : at + _NEAR // 2]


@lru_cache(maxsize=16)
def _sorted(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    return sorted(names), sorted(name[::-1] for name in names)
