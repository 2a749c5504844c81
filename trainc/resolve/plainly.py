"""Most patches set a few fields of pods and containers that are there: such a one is merged as it stands, in one walk.

At the first thing that typed structures would write in another way, or that a merge does more with than to set it, the
walk is given up: `normalise` and `merge` know what to do with all of them, one after the other.
"""

from __future__ import annotations

from trainc.model.merge_keys import MERGE_KEYS
from trainc.model.normalise import COMPLETED, SPELLED
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree

# The items of a list of pull secrets may lack their key, which no merge takes.
_WORDS = SPELLED | COMPLETED | {"$patch", "imagePullSecrets"}


class MoreThanSetError(Exception):
    """Something in a patch that is more than a field to set."""


def laid(base: Tree, patch: Tree) -> Tree:
    """What `merge` makes of a map and of a normalised `patch`, for one that is as it would be normalised.

    Raises:
        MoreThanSetError: for any other patch.
    """
    if type(patch) is not dict or not _WORDS.isdisjoint(patch):
        raise MoreThanSetError
    out = dict(base) if type(base) is dict else {}
    for key, node in patch.items():
        kind = type(node)
        if kind is Sourced:
            if not node.value or key[:1] == "$":
                raise MoreThanSetError
            out[key] = node
        elif not node:
            raise MoreThanSetError
        elif kind is dict:
            out[key] = laid(out.get(key), node)
        elif key in MERGE_KEYS:
            out[key] = _in_place(out.get(key), node, MERGE_KEYS[key])
        else:
            for item in node:
                if type(item) is not Sourced:
                    laid(None, item)
            out[key] = node
    return out


def _in_place(base: Tree, items: list[Tree], key: str) -> list[Tree]:
    """A keyed list in which each item of a patch is laid on its namesake; all are there, in the same order."""
    if type(base) is not list:
        raise MoreThanSetError
    out = list(base)
    last = -1
    for item in items:
        at = _first(out, key, item)
        if at <= last:
            raise MoreThanSetError
        old = out[at]
        merged = out[at] = laid(old, item)
        merged[key] = old[key]
        last = at
    return out


def _first(items: list[Tree], key: str, wanted: Tree) -> int:
    """Where the first item stands that has the same key as the `wanted` one."""
    name = wanted.get(key) if type(wanted) is dict else None
    if type(name) is Sourced:
        for at, item in enumerate(items):
            leaf = item.get(key) if type(item) is dict else None
            if type(leaf) is Sourced and leaf.value == name.value:
                return at
    return -1
