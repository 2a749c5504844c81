"""Every field of the manifests with where it comes from, in tables that thousands of similar jobs share."""

from __future__ import annotations

from trainc.changes.why import Layers, label, of_leaf
from trainc.model.paths import keyed, shown
from trainc.model.sourced import Sourced
from trainc.model.tree import value
from trainc.text.masking import MASK, named_secret, variable_of
from trainc.yaml.writer import order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator
    from typing import Any

    from trainc.changes.why import LayerValue, Why
    from trainc.model.bundle import Bundle
    from trainc.model.tree import Path, Tree
    from trainc.report.page.texts import SourceLines

MAX_CELLS = 3_000_000  # numbers and texts in all tables: about 24 MiB of the page

_SECRET_DATA = ("data", "stringData")


class Fields:
    """Tables of values, origins and fields, filled job by job until they hold `most` cells.

    `paths` holds `[shown path, steps...]`; `setters` `[layer, who, by, file, line, column, file, ...]` with indices of
    `texts`; `beaten` `[setter, value, ...]`; `fields` `[path, value, setter, beaten]` with indices, -1 for none. An
    object of a job is `[label, shape, position, field, ...]`: the fields of a shape, but for some that are others.
    """

    def __init__(self, lines: SourceLines, most: int = MAX_CELLS) -> None:
        self._lines = lines
        self._most = most
        self.cells = 0
        self._tables: dict[str, dict[Hashable, int]] = {
            name: {} for name in ("texts", "values", "paths", "setters", "beaten", "fields")
        }
        self._shapes: dict[tuple[int, ...], int] = {}
        self._members: list[list[int]] = []

    def objects(self, bundle: Bundle) -> list[list[int]] | None:
        """The objects of a job; None where the tables are full."""
        if self.cells > self._most:
            return None
        layers = Layers(bundle)
        return [self._object(layers, tree) for tree in bundle.objects]

    def tables(self) -> dict[str, list[Any]]:
        """All tables as plain lists."""
        out: dict[str, list[Any]] = {name: list(table) for name, table in self._tables.items()}
        out["values"] = [content for _, content in out["values"]]
        return {**out, "shapes": self._members}

    def _object(self, layers: Layers, tree: Tree) -> list[int]:
        name = label(tree)
        members, paths = [], []
        for path, leaf in _as_written(tree):
            if type(leaf) is Sourced:
                steps = keyed(tree, path)
                where = self._index("paths", (shown(steps), *path))
                paths.append(where)
                hidden = _is_secret(tree, path, shown(steps))
                members.append(self._field(where, of_leaf(layers, name, steps, leaf), hidden=hidden))
        return [self._text(name), *self._changes(tuple(paths), members)]

    def _changes(self, paths: tuple[int, ...], members: list[int]) -> list[int]:
        """The shape of an object, and where its fields are others than those of the first one of that shape."""
        shape = self._shapes.get(paths)
        if shape is None:
            shape = self._shapes[paths] = len(self._members)
            self._members.append(members)
            self.cells += len(members)
        out = [shape]
        for position, (own, first) in enumerate(zip(members, self._members[shape], strict=True)):
            if own != first:
                out += [position, own]
        self.cells += len(out)
        return out

    def _field(self, path: int, why: Why, *, hidden: bool) -> int:
        beaten = [
            part for setter in why.beaten for part in (self._setter(setter), self._value(setter.value, hidden=hidden))
        ]
        lost = self._index("beaten", tuple(beaten)) if beaten else -1
        return self._index(
            "fields", (path, self._value(why.value, hidden=hidden), self._setter(why.winner), lost), size=4
        )

    def _setter(self, setter: LayerValue) -> int:
        parts = [self._text(setter.layer), self._text(setter.who), self._text(setter.origin.by)]
        for span in setter.origin.spans():
            self._lines.want(span.file, span.line)
            parts += [self._text(span.file), span.line, span.column]
        return self._index("setters", tuple(parts), size=len(parts))

    def _value(self, content: Any, *, hidden: bool) -> int:
        masked = MASK if hidden and content else content
        return self._index("values", (type(masked).__name__, masked), size=1 + len(str(masked)) // 8)

    def _text(self, text: str) -> int:
        return self._index("texts", text, size=1 + len(text) // 8)

    def _index(self, name: str, entry: Hashable, *, size: int = 6) -> int:
        table = self._tables[name]
        index = table.get(entry)
        if index is None:
            index = table[entry] = len(table)
            self.cells += size
        return index


def _as_written(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Every leaf with its path, in the order of the rendered file."""
    if type(tree) is dict:
        for key in order(tree):
            yield from _as_written(tree[key], (*path, key))
    elif type(tree) is list:
        for index, item in enumerate(tree):
            yield from _as_written(item, (*path, index))
    else:
        yield path, tree


def _is_secret(tree: Tree, path: Path, where: str) -> bool:
    if value(tree, "kind") == "Secret" and path[0] in _SECRET_DATA:
        return True
    return named_secret(variable_of(where))
