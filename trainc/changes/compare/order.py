"""The order of lists whose items a key tells apart: a server compares it, and the paths of their fields do not show it."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.text.merge_keys import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from trainc.model.paths import Step, Steps
    from trainc.model.tree import Path, Tree

    Keys = Sequence[object]
    Names = Sequence[tuple[Path, Sourced[Any]]]  # the key of each item, with its path in the object


def orders(tree: Tree) -> dict[Steps, Names]:
    """The keys of the items of every keyed list that has several, in order, by the list's path."""
    return {steps: names for steps, names in _lists(tree, (), (), "") if len(names) > 1}


def _lists(tree: Tree, steps: Steps, path: Path, field: str) -> Iterator[tuple[Steps, Names]]:
    if type(tree) is dict:
        for name, node in tree.items():
            if type(node) is not Sourced:
                yield from _lists(node, (*steps, name), (*path, name), name)
    elif type(tree) is list:
        key = MERGE_KEYS.get(field, "")
        names = []
        for index, item in enumerate(tree):
            leaf = item.get(key) if key and type(item) is dict else None
            step: Step = index
            if type(leaf) is Sourced:
                names.append(((*path, index, key), leaf))
                step = (key, leaf.value)
            if type(item) is not Sourced:
                yield from _lists(item, (*steps, step), (*path, index), field)
        yield steps, names


def keys(names: Names) -> list[object]:
    """The keys alone."""
    return [leaf.value for _, leaf in names]


def moved(old: Mapping[Any, Keys], new: Mapping[Any, Keys]) -> Iterator[tuple[Any, list[object], list[object]]]:
    """The lists in which what both sides have stands in another order: path, and the keys that moved, old and new."""
    for path, after in new.items():
        before = old.get(path, ())
        if before == after:
            continue
        was, now = [name for name in before if name in after], [name for name in after if name in before]
        apart = [at for at, (one, other) in enumerate(zip(was, now, strict=False)) if one != other]
        if apart:
            yield path, was[apart[0] : apart[-1] + 1], now[apart[0] : apart[-1] + 1]
