"""Literals of a contributor, with that contributor as their origin; each of its texts is made once for a whole run."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from trainc.model.tree import Tree

_TEXTS = 1_000  # kept for each contributor; names of variables and fields are few
_MAX_CONTRIBUTORS = 100


class Literals:
    """Makes bare scalars `Sourced` by one contributor; leaves that know their origin keep it."""

    __slots__ = ("_origin", "_texts")

    def __init__(self, by: str) -> None:
        self._origin = Origin(None, by, ())
        self._texts: dict[str, Sourced[str]] = {}

    def items(self, items: tuple[Tree, ...]) -> tuple[Tree, ...]:
        """The items, their bare scalars with this origin."""
        return tuple([self.tree(item) for item in items])

    def fields(self, fields: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """The fields, their bare scalars with this origin; None stays, which takes a field away."""
        return {key: node if node is None else self.tree(node) for key, node in fields.items()}

    def map(self, nodes: Mapping[str, Tree]) -> Mapping[str, Tree]:
        """The nodes of a map, their bare scalars with this origin."""
        return {key: self.tree(node) for key, node in nodes.items()}

    def variable(self, name: str, leaf: Sourced[Any]) -> Tree:
        """One env entry of this contributor with a value that knows its origin."""
        return {"name": self.tree(name), "value": leaf if type(leaf.value) is str else leaf.map(str)}

    def tree(self, node: Any) -> Tree:
        """A tree, its bare scalars with this origin."""
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


_contributors: dict[str, Literals] = {}


def literals_of(by: str) -> Literals:
    """The literals of the contributor of that name."""
    literals = _contributors.get(by)
    if literals is None:
        if len(_contributors) >= _MAX_CONTRIBUTORS:
            _contributors.clear()
        literals = _contributors[by] = Literals(by)
    return literals
