"""What differs between a program and trainc, by kind, with the smallest input of each kind."""

import copy
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

_TRIES = 400
Input = list[dict[str, Any]]


class Difference(NamedTuple):
    """One disagreement: a kind that others share, and what each side says."""

    kind: str
    theirs: str
    ours: str


class Outcome(NamedTuple):
    """A row of the lane: what was asked, and the first input of each kind that differs, with their number."""

    row: str
    asked: int
    differences: dict[str, tuple[Difference, Input, int]]

    @property
    def differing(self) -> int:
        """How many inputs differ."""
        return sum(count for _, _, count in self.differences.values())


def compared(row: str, inputs: Iterator[Input], differs: Callable[[Input], Difference | None]) -> Outcome:
    """Ask all inputs, and make the first of each kind that differs as small as it goes."""
    found: dict[str, tuple[Difference, Input, int]] = {}
    asked = 0
    for documents in inputs:
        asked += 1
        difference = differs(documents)
        if difference is not None:
            first, smallest, count = found.get(difference.kind, (difference, documents, 0))
            found[difference.kind] = first, smallest, count + 1
    for kind, (first, documents, count) in found.items():
        small = smallest_like(documents, lambda tried, kind=kind: _is(differs(tried), kind))  # type: ignore[misc]
        found[kind] = differs(small) or first, small, count
    return Outcome(row, asked, found)


def _is(difference: Difference | None, kind: str) -> bool:
    return difference is not None and difference.kind == kind


def smallest_like(documents: Input, holds: Callable[[Input], bool]) -> Input:
    """The documents without what they can lose while something still holds of them."""
    tries = _TRIES
    lost = True
    while lost:
        lost = False
        for path in list(paths(documents)):
            if tries == 0:
                return documents
            shorter = without(documents, path)
            if shorter is None:
                continue
            tries -= 1
            if holds(shorter):
                documents, lost = shorter, True
                break
    return documents


def paths(node: Any, prefix: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of a tree, those that hold most first."""
    children = list(node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ())
    yield from ((*prefix, key) for key, _ in children)
    for key, child in children:
        yield from paths(child, (*prefix, key))


def without(tree: Input, path: tuple[str | int, ...]) -> Input | None:
    """A copy of the tree without one place; None where that would not be a list of objects."""
    if path[-1] in {"apiVersion", "kind"} and len(path) == 2:
        return None
    result = copy.deepcopy(tree)
    node: Any = result
    for key in path[:-1]:
        try:
            node = node[key]
        except (KeyError, IndexError):
            return None
    try:
        del node[path[-1]]
    except (KeyError, IndexError):
        return None
    return result


def pattern(text: str) -> str:
    """A message without what is particular: values, indexes, names in quotes."""
    text = re.sub(r"Invalid value: .*?: (?=[a-z])", "Invalid value: ", text)
    text = re.sub(r'"[^"]*"|`[^`]*`', '""', text)
    return re.sub(r"\d+", "N", text)[:160]


def first_difference(theirs: Any, ours: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """The first place at which two trees differ, indexes left out, and the values there."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted(theirs.keys() | ours.keys()):
            place = f"{path}.{key if path else key.rpartition('/')[0] or key}"  # without the name of the object
            inner = first_difference(theirs.get(key), ours.get(key), place)
            if inner:
                return inner
        return None
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for left, right in zip(theirs, ours, strict=True):
            inner = first_difference(left, right, f"{path}[]")
            if inner:
                return inner
        return None
    return None if theirs == ours else (path, theirs, ours)
