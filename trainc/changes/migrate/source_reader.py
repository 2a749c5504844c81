"""Reads a YAML document as lines: where each value stands, with its comments, so that it can be copied as it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trainc.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    Parser,
    ScalarEvent,
    SequenceEndEvent,
)


class SourceDocument(NamedTuple):
    """The root of a document's lines, what stands above its first key and below its last."""

    root: SourceNode
    above: list[str]
    below: list[str]
    deeper: bool  # whether lists stand deeper than their key


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
        out = [" " * column + line if line else "" for line in self.comments_above]
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


_Roles = dict[str, SourceEntry]
_VOLCANO = "batch.volcano.sh/v1alpha1"


def roles_of_other(root: SourceNode, plain: dict[str, Any]) -> _Roles:
    """The entries that hold a `template`, by the names of their roles; none where the text holds no pod templates."""
    if plain.get("apiVersion") == _VOLCANO:
        return _listed(at(root, "spec", "tasks"), "name")
    roles: dict[str, SourceEntry | None] = {}
    match plain.get("kind"):
        case "Job":
            roles["node"] = _holding(at(root, "spec", "template"))
        case "LeaderWorkerSet":
            names = ("leaderTemplate", "workerTemplate")
            leader, worker = (_holding(at(root, "spec", "leaderWorkerTemplate", name)) for name in names)
            roles = {"leader": leader or worker, "worker": worker, "node": worker}
        case "RayJob":
            cluster = ("spec", "rayClusterSpec")
            driver = _holding(at(root, "spec", "submitterPodTemplate"))
            groups = _listed(at(root, *cluster, "workerGroupSpecs"), "groupName")
            roles = {"head": at(root, *cluster, "headGroupSpec"), "driver": driver, **groups}
    return {name: entry for name, entry in roles.items() if entry is not None}


def _holding(template: SourceEntry | None) -> SourceEntry | None:
    return apart(composed(template=template)) if template is not None else None


def _listed(entry: SourceEntry | None, name: str) -> _Roles:
    items = entry.node.children if entry is not None else None
    nodes = [(one.node.value, one) for one in (items if isinstance(items, list) else ())]
    return {str(value[name]): one for value, one in nodes if isinstance(value, dict) and name in value}
