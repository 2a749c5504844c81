"""The values of a YAML document and the lines that each takes, so that they can be copied as they are written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_BESIDE = re.compile(r"(?:^|(?<=\s))#.*$")
_BLOCK = re.compile(r"[|>][-+0-9]*\s+(#.*)$")
_BLOCK_STYLES = ("|", ">")
COMPOSED = "composed"  # the style of a node whose entries stand at several places


class SourceNode:
    """One value and the lines that it takes: from `start` up to but without `end`, counted from 0.

    `children` are the entries of a block collection, by key or in order; None for scalars and what stands in braces.
    `anchors` and `aliases` are those that stand in it, in order, each with the node that it names; `tagged` says that a
    tag stands in it, so that its lines mean something in their place alone.
    """

    __slots__ = (
        "aliases",
        "anchors",
        "children",
        "column",
        "end",
        "end_column",
        "first",
        "is_alias",
        "start",
        "style",
        "tagged",
        "tail",
        "value",
    )

    def __init__(self, start: int, column: int) -> None:
        self.start = self.end = start
        self.column = column
        self.end_column = column
        self.children: dict[str, SourceEntry] | list[SourceEntry] | None = None
        self.first = start  # the first line that belongs to its first entry, comments above it included
        self.anchors: list[tuple[str, SourceNode]] = []
        self.aliases: list[tuple[str, SourceNode]] = []
        self.is_alias = False
        self.tagged = False
        self.style = ""
        self.tail: list[str] = []  # comments behind its last entry
        self.value: Any = None

    def take_names(self, child: SourceNode) -> None:
        """Count in what a node below names, and is named."""
        self.anchors += child.anchors
        self.aliases += child.aliases
        self.tagged |= child.tagged

    @property
    def is_flow(self) -> bool:
        """Whether it is a collection in braces."""
        return self.children is None and isinstance(self.value, dict | list)


class SourceEntry:
    """An entry of a map or a list: `lead` up to `stop` are its lines, the comments above and behind it included."""

    __slots__ = ("behind", "column", "lead", "line", "lines", "node", "stop")

    def __init__(self, lines: list[str], line: int, column: int, behind: int, node: SourceNode) -> None:
        self.lines = lines
        self.line = self.lead = line
        self.column = column
        self.behind = behind  # the column behind its key or dash
        self.node = node
        self.stop = node.end

    @property
    def comments_above(self) -> list[str]:
        """The comments and empty lines above it."""
        return [line.strip() for line in self.lines[self.lead : self.line]]

    @property
    def comment_beside(self) -> str:
        """The comment on its first line, behind its key or its value; "" where there is none."""
        node = self.node
        if node.style in _BLOCK_STYLES:
            match = _BLOCK.search(self.lines[node.start][node.column :])
            return match[1] if match else ""
        if (node.children is None or node.is_alias) and node.end > node.start:
            match = _BESIDE.search(self.lines[node.end - 1][node.end_column :])
            return match[0].rstrip() if match else ""
        if node.start > self.line or node.children is None:
            match = _BESIDE.search(self.lines[self.line][self.behind :])
            return match[0].rstrip() if match else ""
        return ""

    def moved(self, column: int, head: str, known: Mapping[str, SourceNode]) -> list[str] | None:
        """Its lines at another column, under another key or dash; None where they cannot be moved.

        `known` are the anchors above: an alias of another one would mean something else there, or nothing.
        """
        by_anchor = {**known, **dict(self.node.anchors)}
        if self.node.tagged or any(by_anchor.get(name) is not node for name, node in self.node.aliases):
            return None
        out = [_at(line, column) for line in self.comments_above]
        out.append(" " * column + head + self.lines[self.line][self.behind :])
        shift = column - self.column
        for line in self.lines[self.line + 1 : self.stop]:
            if not line.strip():
                out.append("")
            elif shift >= 0 or not line[:-shift].strip():
                out.append(" " * shift + line if shift >= 0 else line[-shift:])
            else:
                return None
        return out

    def holding(self, node: SourceNode) -> SourceEntry:
        """This entry, with its comments above, around another value."""
        entry = SourceEntry(self.lines, self.line, self.column, self.behind, node)
        entry.lead = self.lead
        return entry


def composed(**children: SourceEntry | None) -> SourceNode:
    """A map that stands nowhere, of entries that stand somewhere."""
    node = SourceNode(0, 0)
    node.style = COMPOSED
    node.children = {key: entry for key, entry in children.items() if entry is not None}
    return node


def apart(node: SourceNode) -> SourceEntry:
    """An entry that stands nowhere."""
    return SourceEntry([], 0, 0, 0, node)


def at(node: SourceNode | None, *keys: str) -> SourceEntry | None:
    """The entry at a path of keys, None where there is none, or where it stands in braces."""
    entry = None
    for key in keys:
        if node is None or not isinstance(node.children, dict):
            return None
        entry = node.children.get(key)
        node = entry.node if entry is not None else None
    return entry


def _at(line: str, column: int) -> str:
    return " " * column + line if line else ""
