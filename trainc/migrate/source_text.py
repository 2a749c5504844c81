"""A YAML document as lines: where each value stands, with its comments, so that it can be copied as it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trainc.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    Parser,
    ScalarEvent,
    SequenceEndEvent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_BESIDE = re.compile(r"(?:^|(?<=\s))#.*$")
_BLOCK = re.compile(r"[|>][-+0-9]*\s+(#.*)$")
_BLOCK_STYLES = ("|", ">")
COMPOSED = "composed"  # the style of a node whose entries stand at several places


class SourceNode:
    """One value and the lines that it takes: from `start` up to but without `end`, counted from 0.

    `children` are the entries of a block collection, by key or in order; None for scalars and what stands in braces.
    `shared` says that an anchor or an alias stands in it, so that its lines mean something in their place alone.
    """

    __slots__ = ("children", "column", "end", "end_column", "first", "shared", "start", "style", "tail", "value")

    def __init__(self, start: int, column: int) -> None:
        self.start = self.end = start
        self.column = column
        self.end_column = column
        self.children: dict[str, SourceEntry] | list[SourceEntry] | None = None
        self.first = start  # the first line that belongs to its first entry, comments above it included
        self.shared = False
        self.style = ""
        self.tail: list[str] = []  # comments behind its last entry
        self.value: Any = None

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
        if node.children is None and node.end > node.start:
            match = _BESIDE.search(self.lines[node.end - 1][node.end_column :])
            return match[0].rstrip() if match else ""
        if node.start > self.line or node.children is None:
            match = _BESIDE.search(self.lines[self.line][self.behind :])
            return match[0].rstrip() if match else ""
        return ""

    def moved(self, column: int, head: str) -> list[str] | None:
        """Its lines at another column, under another key or dash; None where they cannot be moved."""
        if self.node.shared:
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


class SourceDocument:
    """The root of a document's lines, what stands above its first key and below its last."""

    __slots__ = ("above", "below", "deeper", "root")

    def __init__(self, root: SourceNode, above: list[str], below: list[str], *, deeper: bool) -> None:
        self.root = root
        self.above = above
        self.below = below
        self.deeper = deeper  # whether lists stand deeper than their key


def source_of(text: str, value: Any) -> SourceDocument:
    """The lines of a text of one document, whose root is a map and says `value`."""
    lines = text.removesuffix("\n").split("\n")
    reader = _Reader(lines, iter(Parser(text.encode("utf-8")).get_event, None))
    root = reader.root()
    _give_values(root, value)
    begin = min((entry.line for entry in _entries(root)), default=len(lines))
    _extend(root, lines, begin, len(lines))
    below = [line.strip() for line in lines[root.end :] if line.lstrip().startswith("#")]
    return SourceDocument(root, lines[:begin], [*root.tail, *below], deeper=reader.deeper())


class _Reader:
    """Events of the parser as nodes."""

    def __init__(self, lines: list[str], events: Iterator[Any]) -> None:
        self.lines = lines
        self.events = events
        self.anchors: dict[str, SourceNode] = {}
        self.offsets: list[bool] = []

    def root(self) -> SourceNode:
        """The document's root."""
        while type(next(self.events)) is not DocumentStartEvent:
            pass
        return self.node(next(self.events))

    def deeper(self) -> bool:
        """Whether every list of the text stands deeper than its key."""
        return bool(self.offsets) and all(self.offsets)

    def node(self, event: Any) -> SourceNode:
        """The node that starts with an event."""
        node = SourceNode(event.start_mark.line, event.start_mark.column)
        if type(event) is AliasEvent:
            target = self.anchors.get(str(event.anchor), node)
            node.children, node.shared = target.children, True
            self._close(node, event)
            return node
        node.shared = bool(event.anchor or getattr(event, "tag", None))
        if event.anchor:
            self.anchors[event.anchor] = node
        if type(event) is ScalarEvent:
            node.style = event.style or ""
            self._close(node, event)
        elif type(event) is MappingStartEvent:
            self._map(node, flow=bool(event.flow_style))
        else:
            self._list(node, flow=bool(event.flow_style))
        return node

    def _close(self, node: SourceNode, event: Any) -> None:
        mark = event.end_mark
        node.end, node.end_column = mark.line + (mark.column > 0), mark.column
        if event.start_mark.index == mark.index:  # nothing is written
            node.end = node.start

    def _map(self, node: SourceNode, *, flow: bool) -> None:
        children: dict[str, SourceEntry] = {}
        merged: list[SourceNode] = []
        while type(event := next(self.events)) is not MappingEndEvent:
            child = self.node(next(self.events))
            key, mark = getattr(event, "value", ""), event.start_mark
            if key == "<<":
                merged.append(child)
                node.shared = True
                continue
            behind = self.lines[event.end_mark.line].find(":", event.end_mark.column) + 1
            if child.end == child.start and child.start > mark.line:  # an empty value ends where the next token starts
                child.start = child.end = mark.line
            children[key] = SourceEntry(self.lines, mark.line, mark.column, behind, child)
            node.shared |= child.shared
            if isinstance(child.children, list):
                self.offsets.append(child.column > mark.column)
        for other in merged:
            for key, entry in (other.children if isinstance(other.children, dict) else {}).items():
                children.setdefault(key, entry)
        self._end(node, event, None if flow else children)

    def _list(self, node: SourceNode, *, flow: bool) -> None:
        items: list[SourceEntry] = []
        while type(event := next(self.events)) is not SequenceEndEvent:
            child = self.node(event)
            line = child.start
            while not flow and line > node.start and self.lines[line][node.column : node.column + 1] != "-":
                line -= 1
            items.append(SourceEntry(self.lines, line, node.column, node.column + 1, child))
            node.shared |= child.shared
        self._end(node, event, None if flow else items)

    def _end(self, node: SourceNode, event: Any, children: dict[str, SourceEntry] | list[SourceEntry] | None) -> None:
        node.children = children
        if children is None:
            self._close(node, event)
            return
        own = [entry for entry in _entries(node) if entry.line >= node.start]
        node.end = max((max(entry.node.end, entry.line + 1) for entry in own), default=node.start + 1)


def _entries(node: SourceNode) -> list[SourceEntry]:
    if node.children is None:
        return []
    return list(node.children.values()) if isinstance(node.children, dict) else node.children


def _give_values(node: SourceNode, value: Any) -> None:
    """Tell every node what it says."""
    node.value = value
    if isinstance(node.children, dict) and isinstance(value, dict):
        for key, entry in node.children.items():
            if entry.node.value is None:
                _give_values(entry.node, value.get(key))
    elif isinstance(node.children, list) and isinstance(value, list):
        for entry, item in zip(node.children, value, strict=False):
            if entry.node.value is None:
                _give_values(entry.node, item)


def _extend(node: SourceNode, lines: list[str], first: int, stop: int) -> None:
    """Give the comments from line `first` up to `stop` to the entries that they stand above, beside or behind."""
    own = sorted((entry for entry in _entries(node) if node.start <= entry.line < stop), key=lambda one: one.line)
    for index, entry in enumerate(own):
        entry.lead = min(first, entry.line)
        end = max(entry.node.end, entry.line + 1)
        last = own[index + 1].line if index + 1 < len(own) else stop
        entry.stop = first = _behind(lines, end, last, entry.column)
        inner = entry.node
        if inner.children is not None and inner.start >= entry.line:
            beside = any(one.line == entry.line for one in _entries(inner))  # behind the dash
            _extend(inner, lines, entry.line + (not beside), entry.stop)
    if own:
        node.end = _behind(lines, first, stop, own[0].column - 1)
        node.tail = [line.strip() for line in lines[first : node.end] if line.strip()]


def _behind(lines: list[str], start: int, stop: int, column: int) -> int:
    """The line behind the comments that stand to the right of a column, from `start` on."""
    end = start
    for number in range(start, stop):
        line = lines[number]
        if not line.strip():
            continue
        if not line.lstrip().startswith("#") or len(line) - len(line.lstrip()) <= column:
            break
        end = number + 1
    return end
