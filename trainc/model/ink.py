"""Ink: what stamps the literals of one contributor, each of its texts once for a whole run."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from trainc.model.tree import Tree

_TEXTS = 1_000  # remembered for each contributor; names of variables and fields are few
_INKS = 100


class Ink:
    """Makes bare scalars `Sourced` by one contributor; leaves that know their origin keep it."""

    __slots__ = ("_origin", "_texts")

    def __init__(self, by: str) -> None:
        self._origin = Origin(None, by, ())
        self._texts: dict[str, Sourced[str]] = {}

    def items(self, items: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """Each of some items stamped."""
        return tuple([self.tree(item) for item in items])

    def fields(self, fields: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """Each of some fields stamped, but for None, which takes a field away."""
        return {key: node if node is None else self.tree(node) for key, node in fields.items()}

    def map(self, nodes: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """Each node of a map stamped."""
        return {key: self.tree(node) for key, node in nodes.items()}

    def variable(self, name: str, leaf: Sourced[Any]) -> Tree:
        """One env entry of this contributor with a value that knows its origin."""
        return {"name": self.tree(name), "value": leaf if type(leaf.value) is str else leaf.map(str)}

    def tree(self, node: Any) -> Tree:
        """A tree stamped."""
        kind = type(node)
        if kind is Sourced:
            return node
        if kind is dict:
            texts = self._texts
            return {
                key: inner
                if type(inner) is Sourced
                else texts[inner]
                if type(inner) is str and inner in texts
                else self.tree(inner)
                for key, inner in node.items()
            }
        if kind is str:
            leaf = self._texts.get(node)
            return self._text(node) if leaf is None else leaf
        if kind is list or kind is tuple:
            return [self.tree(item) for item in node]
        return Sourced(node, self._origin)

    def _text(self, text: str) -> Sourced[str]:
        leaf = Sourced(text, self._origin)
        if len(self._texts) < _TEXTS:
            self._texts[text] = leaf
        return leaf


_inks: dict[str, Ink] = {}


def ink_of(by: str) -> Ink:
    """The ink of the contributor of that name."""
    ink = _inks.get(by)
    if ink is None:
        if len(_inks) >= _INKS:
            _inks.clear()
        ink = _inks[by] = Ink(by)
    return ink
