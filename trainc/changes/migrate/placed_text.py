"""New documents as text: what the old text says in the same words is copied from there, with its comments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from typing import Any

from trainc.changes.migrate.source_reader import COMPOSED, SourceEntry, SourceNode
from trainc.text.quantity import Quantity
from trainc.yaml.spelling import block, is_visible, other_text, plain_text, quoted, text_of

_AMOUNTS = ("requests", "limits", "sizeLimit", "storage", "divisor")
_STEP = 2  # columns


def says(value: Any, wanted: Any, *, amount: bool = False) -> bool:
    """Whether two values are the same; an amount of a resource may be spelled in another way."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        if value.keys() != wanted.keys():
            return False
        return all(says(value[key], wanted[key], amount=amount or key in _AMOUNTS) for key in wanted)
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(says(*pair, amount=amount) for pair in zip(value, wanted, strict=True))
    return (type(value) is type(wanted) and value == wanted) or (amount and is_same_amount(value, wanted))


def is_same_amount(one: object, other: object) -> bool:
    """Whether two texts are quantities of the same amount."""
    try:
        return str(Quantity.parse(str(one))) == str(Quantity.parse(str(other)))
    except ValueError:
        return False


def name_in(item: Any) -> str | None:
    """The name of an item of a list, None where it has none; what no server judged may hold anything there."""
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None


class Writer:
    """Writes a document in the layout of a text; `names` are the new names of what a list calls otherwise."""

    def __init__(self, names: Mapping[str, str], *, deeper: bool) -> None:
        self.names = names
        self._anchors: dict[str, SourceNode] = {}  # those in the lines so far
        self.indent = _STEP if deeper else 0  # of a list below its key

    def document(self, wanted: dict[str, Any], node: SourceNode | None) -> list[str]:
        """The lines of a document, in which no anchor of another one counts."""
        self._anchors = {}
        return self._map(wanted, node, 0)

    def _map(self, wanted: dict[str, Any], node: SourceNode | None, column: int) -> list[str]:
        known = node.children if node is not None and isinstance(node.children, dict) else {}
        first = [key for key in known if key in wanted] if node is not None and node.style != COMPOSED else []
        keys = [*first, *(key for key in wanted if key not in first)]
        entries = [self._entry(f"{text_of(key)}:", wanted[key], known.get(key), column) for key in keys]
        return _with_tail(entries, len(first), node, column)

    def _list(self, wanted: list[Any], node: SourceNode | None, column: int) -> list[str]:
        known = node.children if node is not None and isinstance(node.children, list) else []
        matches = self._matches(wanted, known)
        items = [self._entry("-", item, entry, column) for item, entry in zip(wanted, matches, strict=True)]
        known_up_to = max((index + 1 for index, entry in enumerate(matches) if entry is not None), default=0)
        return _with_tail(items, known_up_to, node, column)

    def _matches(self, wanted: list[Any], known: list[SourceEntry]) -> list[SourceEntry | None]:
        """For each item of a list the entry that it comes from: by its name, else what says the same."""
        by_name = {self._name(entry.node): entry for entry in known}
        left = list(known)
        out: list[SourceEntry | None] = []
        for item in wanted:
            name = name_in(item)
            match = by_name.get(name) if name is not None else None
            if name is None:
                match = next((entry for entry in left if says(entry.node.value, item)), None)
                if match is not None:
                    left.remove(match)
            out.append(match)
        return out

    def _name(self, node: SourceNode) -> str | None:
        """The new name of an item; roles are composed with theirs, which may be the former one of a container."""
        name = name_in(node.value)
        return self.names.get(name, name) if name is not None and node.style != COMPOSED else name

    def _entry(self, head: str, wanted: Any, entry: SourceEntry | None, column: int) -> list[str]:
        """The lines of one entry, behind its key or its dash."""
        if (
            entry is not None
            and says(entry.node.value, wanted)
            and (moved := entry.moved(column, head, self._anchors)) is not None
        ):
            self._anchors |= dict(entry.node.anchors)
            return moved
        node = entry.node if entry is not None else None
        above = [_line(comment, column) for comment in entry.comments_above] if entry is not None else []
        beside = entry.comment_beside if entry is not None else ""
        if not (isinstance(wanted, dict | list) and wanted):
            return [*above, *_scalar(f"{' ' * column}{head}", wanted, beside, " " * (column + _STEP))]
        if isinstance(wanted, list) and node is not None and node.is_flow and not any(map(_is_wide, wanted)):
            flow = f"[{', '.join(map(spelled, wanted))}]"
            return [*above, f"{' ' * column}{head} {flow}{_beside(beside)}"]
        below = column + _STEP if isinstance(wanted, dict) or head == "-" else column + self.indent
        inner = self._map(wanted, node, below) if isinstance(wanted, dict) else self._list(wanted, node, below)
        if head == "-":
            return [*above, *([_line(beside, column)] if beside else []), *_behind_dash(inner, column)]
        return [*above, f"{' ' * column}{head}{_beside(beside)}", *inner]


def _with_tail(entries: list[list[str]], known: int, node: SourceNode | None, column: int) -> list[str]:
    """The lines of entries; behind the last of those that are `known` stand the comments that stood behind it.

    They are left out where no entry is known: what they belong to went elsewhere.
    """
    if node is not None and node.style == COMPOSED:
        known = len(entries)
    tail = [_line(comment, column) for comment in (node.tail if node is not None and known else ())]
    return [*chain(*entries[:known]), *tail, *chain(*entries[known:])]


def _is_wide(item: Any) -> bool:
    return isinstance(item, dict | list) or (isinstance(item, str) and "\n" in item)


def _line(comment: str, column: int) -> str:
    return " " * column + comment if comment else ""


def _behind_dash(lines: list[str], column: int) -> list[str]:
    """Lines of a collection that is an item of a list: the first that is no comment stands behind the dash."""
    start = next(index for index, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#"))
    above = [_line(line.strip(), column) for line in lines[:start]]
    return [*above, f"{' ' * column}- {lines[start][column + _STEP :]}", *lines[start + 1 :]]


def _scalar(head: str, value: Any, beside: str, indent: str) -> list[str]:
    if (
        isinstance(value, str)
        and "\n" in value
        and is_visible(value)
        and not value.endswith("\n\n")
        and not re.search(r"[ \t](?:\n|$)", value)
    ):
        first, *rest = block(value, indent).removesuffix("\n").split("\n")
        return [f"{head} {first}{_beside(beside)}", *rest]
    return [f"{head} {spelled(value)}{_beside(beside)}"]


def _beside(comment: str) -> str:
    return f"  {comment}" if comment else ""


def spelled(value: Any) -> str:
    """The spelling of a value on one line; in single quotes where it holds double ones."""
    if not isinstance(value, str):
        return other_text(value)
    if plain_text(value):
        return value
    if '"' in value and not {"'", "\\"} & set(value) and value.isascii() and value.isprintable():
        return f"'{value}'"
    return quoted(value)
