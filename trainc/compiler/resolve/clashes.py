"""Where two pieces of a runtime cannot both have their way: which of them comes later decides what the field is."""

from __future__ import annotations

from trainc.compiler.resolve.components import COMPONENT_KEYS
from trainc.compiler.resolve.composed import ADDING
from trainc.model.tree import plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.paths import Steps
    from trainc.model.tree import Tree

    Clash = tuple[Steps, Tree, Tree]  # the field, and what each of the two says about it

_WORD = "$patch"


def clash(one: Tree, two: Tree, steps: Steps = (), field: str = "") -> Clash | None:
    """The first field that two pieces set to different values, None where the order of the two does not matter."""
    if type(one) is dict and type(two) is dict:
        if _WORD not in one and _WORD not in two:
            return _of_maps(one, two, steps)
        return None if plain(one) == plain(two) else (steps, one.get(_WORD, one), two.get(_WORD, two))
    if type(one) is list and type(two) is list and field in COMPONENT_KEYS:
        return _of_items(one, two, steps, field)
    return None if plain(one) == plain(two) else (steps, one, two)


def _of_maps(one: Tree, two: Tree, steps: Steps) -> Clash | None:
    for key, node in one.items():
        if key in two:
            inner = clash(node, two[key], (*steps, key), key)
            if inner is not None:
                return inner
    return None


def _of_items(one: list[Tree], two: list[Tree], steps: Steps, field: str) -> Clash | None:
    """Two lists that merge item by item; those that only grow never clash."""
    if field in ADDING:
        return None
    key = COMPONENT_KEYS[field]
    others = {value(item, key): item for item in two if type(item) is dict}
    for item in one if key else ():
        name = value(item, key)
        if name in others:
            inner = clash(item, others[name], (*steps, (key, name)))
            if inner is not None:
                return inner
    old, new = _sweeping(one, key), _sweeping(two, key)
    return None if (old is one and new is two) or plain(one) == plain(two) else (steps, old, new)


def _sweeping(items: list[Tree], key: str) -> Tree:
    """The word in a list about all of it, such as `$patch: replace`, else the list itself."""
    for item in items:
        if type(item) is dict and _WORD in item and (value(item, _WORD) == "replace" or key not in item):
            return item[_WORD]
    return items
