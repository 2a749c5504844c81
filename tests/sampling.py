"""A sample of many parameters for the quick part; the rest are slow."""

from collections.abc import Callable, Iterable
from typing import Any
from zlib import crc32

import pytest
from _pytest.mark import ParameterSet

leave_out_slow = False  # in a run of the quick part, which would make thousands of items and drop them


def sampled(
    values: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], str] | None = None,
    *,
    every: int = 0,
    quick: tuple[str, ...] = (),
) -> list[ParameterSet]:
    """The values as parameters: those that `quick` names and about one in `every` stay in the quick part.

    Their names decide, so that a new case moves no other one.
    """
    rows = [value if type(value) is tuple else (value,) for value in values]
    names = [_name(row) for row in rows] if ids is None else list(map(ids, values) if callable(ids) else ids)
    unknown = set(quick).difference(names)
    assert not unknown, f"no parameters have these names: {unknown}"
    found = []
    for row, name in zip(rows, names, strict=True):
        is_quick = name in quick or _in_sample(name, every)
        if is_quick or not leave_out_slow:
            found.append(pytest.param(*row, id=name, marks=() if is_quick else pytest.mark.slow))
    return found


def _name(row: tuple[Any, ...]) -> str:
    return "-".join(getattr(value, "__name__", str(value)) for value in row)


def _in_sample(name: str, every: int) -> bool:
    return bool(every) and crc32(name.encode()) % every == 0
