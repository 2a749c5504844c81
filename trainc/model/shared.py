"""What jobs share: the nodes of a runtime's template that each of them keeps as they are, and what code always writes."""

from __future__ import annotations

from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from trainc.model.tree import Tree

    T = TypeVar("T")


class Kept:
    """One shared node, and its text once somebody has written it: where it stood (`level`), and what came out."""

    __slots__ = ("level", "text")

    def __init__(self) -> None:
        self.level: object = None
        self.text = ""


_MOST = 1_000
_constants: list[Tree] = []  # what code writes into every job alike


def constant(tree: Tree) -> Tree:
    """The same tree, known from now on as one that is the same in every job; nobody may ever change it."""
    if len(_constants) < _MOST:
        _constants.append(tree)
    return tree


class Shared:
    """Finds the shared nodes of a tree by identity, so that what was made of one of them need not be made again.

    The tree is held for as long as this is, so no other node can ever be taken for one of its own.
    """

    __slots__ = ("_alike", "_made", "_tree", "kept", "silent")
    kept: dict[int, Kept]  # what is known of every dict and list and of constants, by identity

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.silent: set[object] = set()  # who has nothing to say about jobs that leave the tree as it is
        self._made: dict[tuple[int, object], Any] = {}
        self._alike: dict[tuple[object, ...], Any] = {}

    def __getattr__(self, name: str) -> Any:
        """`kept`, which is not there before somebody asks: by then all who write constants have been loaded."""
        if name != "kept":
            raise AttributeError(name)
        self.kept = {}
        _gather([self._tree, *_constants], self.kept)
        return self.kept

    def is_whole(self, tree: Tree) -> bool:
        """Whether it is the very tree, unchanged by the job."""
        return tree is self._tree

    def once(self, node: Tree, make: Callable[[Tree], T]) -> T:
        """What `make` makes of a node, of a shared one only once; where that is a tree, it is shared as well."""
        key = (id(node), make)
        found = self._made.get(key)
        if found is None:
            found = make(node)
            if id(node) in self.kept:
                self._made[key] = found
                _gather([found], self.kept)
        made: T = found
        return made

    def alike(self, fields: Mapping[str, Tree], make: Callable[[Mapping[str, Tree], Shared], T]) -> T:
        """What `make` makes of a map: once for all that hold equal scalars and the very same shared nodes."""
        kept = self.kept
        key: list[object] = [make, *fields]
        for node in fields.values():
            if node.__class__ is Sourced:
                value = node.value
                key.append(value if value.__class__ is str else (value.__class__, value))
            elif id(node) in kept:
                key.append(id(node))
            else:
                return make(fields, self)
        found = self._alike.get(tuple(key))
        if found is None:
            if len(self._alike) >= _MOST:
                self._alike.clear()
            found = self._alike[tuple(key)] = make(fields, self)
        made: T = found
        return made


def _gather(node: Tree, kept: dict[int, Kept]) -> None:
    if type(node) is dict:
        node = list(node.values())
    for inner in node:
        if type(inner) is dict or type(inner) is list:
            kept[id(inner)] = Kept()
            _gather(inner, kept)
