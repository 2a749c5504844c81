"""Reads a YAML document as lines: where each value stands, with its comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.changes.migrate.source_text import SourceEntry, SourceNode
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
    begin = min((entry.line for entry in _entries(root)), default=root.start)  # a map in braces has no lines of its own
    _extend(root, lines, begin, len(lines))
    below = [line.strip() for line in lines[root.end :] if line.lstrip().startswith("#")]
    above = lines[:begin]
    if root.is_flow and lines[begin].startswith("---"):
        above.append("---")
    return SourceDocument(root, above, [*root.tail, *below], deeper=reader.deeper())


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
            node.children, node.is_alias = target.children, True
            node.aliases.append((str(event.anchor), target))
            self._close(node, event)
            return node
        node.tagged = bool(getattr(event, "tag", None))
        if event.anchor:
            self.anchors[event.anchor] = node
            node.anchors.append((event.anchor, node))
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
                node.take_names(child)
                continue
            behind = self.lines[event.end_mark.line].find(":", event.end_mark.column) + 1
            if child.end == child.start and child.start > mark.line:  # an empty value ends where the next token starts
                child.start = child.end = mark.line
            children[key] = SourceEntry(self.lines, mark.line, mark.column, behind, child)
            node.take_names(child)
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
            if not items and not flow:
                node.column = self._dash(child, node)
            line = child.start
            while not flow and line > node.start and self.lines[line][node.column : node.column + 1] != "-":
                line -= 1
            items.append(SourceEntry(self.lines, line, node.column, node.column + 1, child))
            node.take_names(child)
        self._end(node, event, None if flow else items)

    def _dash(self, child: SourceNode, node: SourceNode) -> int:
        """The column of the dash before the first item of a list: an anchor, where the list starts, stands elsewhere."""
        before = self.lines[child.start][: child.column].rstrip()
        line = child.start
        while not before.endswith("-") and line > node.start:
            line -= 1
            before = self.lines[line].partition("#")[0].rstrip()
            before = before if before.endswith("-") else before.partition(" &")[0].rstrip()
        return len(before) - 1 if before.endswith("-") else node.column

    def _end(self, node: SourceNode, event: Any, children: dict[str, SourceEntry] | list[SourceEntry] | None) -> None:
        node.children = children
        if children is None:
            self._close(node, event)
            return
        own = [entry for entry in _entries(node) if entry.line >= node.start]
        if own and own[0].line > node.start:  # its anchor or tag stands behind the key
            node.start, node.column = own[0].line, own[0].column
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
