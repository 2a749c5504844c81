"""An edit of one form of an object, transferred to another form."""

from __future__ import annotations

from trainc.model.paths import keyed_step
from trainc.model.tree import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree


def transferred(old: Tree, new: Tree, other: Tree, field: str = "") -> Tree:
    """`other` with what differs between `old` and `new`; None where a list differs and has other items in `other`."""
    if plain(old) == plain(new):
        return other
    if type(old) is dict and type(new) is dict and type(other) is dict:
        return _transferred_map(old, new, other)
    if type(new) is list:
        return _transferred_list(old, new, other, field)
    return new


def _transferred_map(old: dict[str, Tree], new: dict[str, Tree], other: dict[str, Tree]) -> Tree:
    out = dict(other)
    for key in {**old, **new}:
        was, now, here = old.get(key), new.get(key), other.get(key)
        if plain(was) == plain(now):
            continue
        if type(here) is dict:
            was, now = was or {}, now or {}  # what others have written in it stays
        node = transferred(was, now, here, key) if now is not None else {}
        if node is None:
            return None
        if node == {} and key not in new:
            out.pop(key, None)
        else:
            out[key] = node
    return out


def _transferred_list(old: Tree, new: list[Tree], other: Tree, field: str) -> Tree:
    """The items one by one where all three forms have the same, the new list where the others are the same."""
    if plain(old) == plain(other):
        return new
    if type(old) is not list or type(other) is not list:
        return None
    names = [[keyed_step((), field, index, item) for index, item in enumerate(items)] for items in (old, new, other)]
    if not (names[0] == names[1] == names[2]) or any(type(name[0]) is int for name in names[0]):
        return None
    items = [transferred(*three) for three in zip(old, new, other, strict=True)]
    return None if any(item is None for item in items) else items
