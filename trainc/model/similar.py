"""Which of many names is most like one that nobody knows."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache


@lru_cache(maxsize=256)  # a runtime that went is missed by every job that named it
def closest(name: str, names: tuple[str, ...], cutoff: float) -> str:
    """The most similar of `names`, empty where none is similar."""
    found = get_close_matches(name, names, 1, cutoff)
    return found[0] if found else ""
