"""Edits of findings, made in one document as the parser that keeps comments holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.chunks import fresh, reshape
from trainc.changes.migrate.keys import rename

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trainc.model.finding import Edit
    from trainc.model.tree import Path

_ENTRY = {"name", "value"}


def make(root: Any, edits: Iterable[Edit], first: int) -> None:
    """Make the edits in a document that begins on line `first` of its file; one whose place is not there changes nothing."""
    placed = [(path_of(root, edit, first), edit) for edit in edits]
    for path, edit in placed:
        if edit.name and path and holds(at(root, path[:-1]), path[-1]):
            rename(at(root, path[:-1]), str(path[-1]), edit.name)
    # What goes away goes from the end, so that the places before it stay what they were.
    for path, edit in sorted(placed, key=lambda pair: _order(pair[0]), reverse=True):
        if path and not edit.name:
            _apply(root, path, edit.value)


def path_of(root: Any, edit: Edit, first: int) -> Path:
    """The path of an edit; for one that names a place, that of the scalar there, empty where none begins there."""
    if edit.at is None:
        return edit.path
    wanted = (edit.at.line - first, edit.at.column - 1)
    return next((path for path, place in _scalars(root, ()) if place == wanted), ())


def _scalars(node: Any, path: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """The path and the place of every scalar, its line and column counted from 0."""
    is_map = isinstance(node, dict)
    place = node.lc.value if is_map else node.lc.item
    for key, child in node.items() if is_map else enumerate(node):
        if isinstance(child, dict | list):
            yield from _scalars(child, (*path, key))
        elif key in node.lc.data:  # what a merge brings in stands elsewhere
            yield (*path, key), place(key)


def _order(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if type(step) is int else (-1, str(step)) for step in path)


def at(root: Any, path: Path) -> Any:
    """The node at a path, None where there is none."""
    for step in path:
        if not holds(root, step):
            return None
        root = root[step]
    return root


def holds(node: Any, step: str | int) -> bool:
    """Whether a map has a key, or a list an index."""
    if isinstance(node, dict):
        return step in node
    return isinstance(node, list) and type(step) is int and 0 <= step < len(node)


def _apply(root: Any, path: Path, value: object) -> None:
    *above, last = path
    for step in above:
        if not holds(root, step) or root[step] is None:
            if value is None or not isinstance(root, dict):
                return
            root[step] = fresh({})
        root = root[step]
    if value is None:
        if holds(root, last):
            del root[last]
    elif holds(root, last):
        root[last] = _instead(root[last], value)
    elif isinstance(root, dict):
        root[last] = fresh(value)


def _instead(node: Any, value: object) -> Any:
    """A value in the place of a node: a map as the list of its entries keeps what is written beside them."""
    if not isinstance(value, list) or isinstance(node, list):
        return reshape(node, value)
    if isinstance(node, dict) and all(isinstance(item, dict) and item.keys() == _ENTRY for item in value):
        return _entries(node, value)
    words = fresh(value)
    words.fa.set_flow_style()
    return words


def _entries(node: Any, wanted: list[dict[str, object]]) -> Any:
    """The entries of a map as items with `name` and `value`, in its style and with its comments."""
    items = fresh([])
    for entry in wanted:
        name = entry["name"]
        item = fresh({"name": name})
        item["value"] = reshape(node[name], entry["value"])
        if name in node.ca.items:
            item.ca.items["value"] = node.ca.items[name]
        if node.fa.flow_style():
            item.fa.set_flow_style()
        items.append(item)
    if node.fa.flow_style():
        items.fa.set_flow_style()
    items.ca.comment = node.ca.comment
    return items
