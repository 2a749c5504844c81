"""A YAML document as lines, and a new one made of them: what the old text says in the same words is copied, with its comments."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from trainc.text.quantity import Quantity
from trainc.yaml.events import Parser
from trainc.yaml.spelling import block, is_visible, other_text, plain_text, quoted, text_of

_BESIDE = re.compile(r"(?:^|(?<=\s))#.*$")
_BLOCK = re.compile(r"[|>][-+0-9]*\s+(#.*)$")
COMPOSED = "composed"  # the style of a node whose entries stand at several places
_AMOUNTS = ("requests", "limits", "sizeLimit", "storage", "divisor")
_STEP = 2  # columns


class SourceDocument(NamedTuple):
    """The root of a document's lines, what stands above its first key and below its last."""

    root: "SourceNode"
    above: list[str]
    below: list[str]
    deeper: bool  # whether every list stands deeper than its key


def source_of(text: str, value: Any) -> SourceDocument:
    """The lines of a text of one document, whose root is a map and says `value`."""
    lines = text.removesuffix("\n").split("\n")
    events: Iterator[Any] = iter(Parser(text.encode("utf-8")).get_event, None)
    while type(next(events)) is not DocumentStartEvent:
        pass
    reader = _Reader(lines, events)
    root = reader.node(next(events))
    _give_values(root, value)
    begin = min((entry.line for entry in _entries(root)), default=root.start)  # a map in braces has no lines of its own
    _extend(root, lines, begin, len(lines))
    below = [line.strip() for line in lines[root.end :] if line.lstrip().startswith("#")]
    above = lines[:begin]
    if root.is_flow and lines[begin].startswith("---"):
        above.append("---")
    return SourceDocument(root, above, [*root.tail, *below], bool(reader.offsets) and all(reader.offsets))


class _Reader:
    def __init__(self, lines: list[str], events: Iterator[Any]) -> None:
        self.lines = lines
        self.events = events
        self.anchors: dict[str, SourceNode] = {}
        self.offsets: list[bool] = []  # of each list, whether it stands deeper than its key

    def node(self, event: Any) -> "SourceNode":
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

    def _close(self, node: "SourceNode", event: Any) -> None:
        mark = event.end_mark
        node.end, node.end_column = mark.line + (mark.column > 0), mark.column
        if event.start_mark.index == mark.index:  # nothing is written
            node.end = node.start

    def _map(self, node: "SourceNode", *, flow: bool) -> None:
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

    def _list(self, node: "SourceNode", *, flow: bool) -> None:
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

    def _dash(self, child: "SourceNode", node: "SourceNode") -> int:
        """The column of the dash before the first item of a list: an anchor, where the list starts, stands elsewhere."""
        before = self.lines[child.start][: child.column].rstrip()
        line = child.start
        while not before.endswith("-") and line > node.start:
            line -= 1
            before = self.lines[line].partition("#")[0].rstrip()
            before = before if before.endswith("-") else before.partition(" &")[0].rstrip()
        return len(before) - 1 if before.endswith("-") else node.column

    def _end(
        self, node: "SourceNode", event: Any, children: "dict[str, SourceEntry] | list[SourceEntry] | None"
    ) -> None:
        node.children = children
        if children is None:
            self._close(node, event)
            return
        own = [entry for entry in _entries(node) if entry.line >= node.start]
        if own and own[0].line > node.start:  # its anchor or tag stands behind the key
            node.start, node.column = own[0].line, own[0].column
        node.end = max((max(entry.node.end, entry.line + 1) for entry in own), default=node.start + 1)


def _entries(node: "SourceNode") -> "list[SourceEntry]":
    if node.children is None:
        return []
    return list(node.children.values()) if isinstance(node.children, dict) else node.children


def _give_values(node: "SourceNode", value: Any) -> None:
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


def _extend(node: "SourceNode", lines: list[str], first: int, stop: int) -> None:
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
        self.anchors: list[tuple[str, SourceNode]] = []
        self.aliases: list[tuple[str, SourceNode]] = []
        self.is_alias = False
        self.tagged = False
        self.style = ""
        self.tail: list[str] = []  # comments behind its last entry
        self.value: Any = None

    def take_names(self, child: "SourceNode") -> None:
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
        if node.style in ("|", ">"):
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

    def holding(self, node: SourceNode) -> "SourceEntry":
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


def children_at(node: SourceNode | None, *keys: str) -> dict[str, SourceEntry] | list[SourceEntry] | None:
    """The entries of what stands at a path of keys, None where there is none, or where it stands in braces."""
    entry = at(node, *keys)
    return entry.node.children if entry is not None else None


def says(value: Any, wanted: Any, *, amount: bool = False) -> bool:
    """Whether two values are the same; an amount of a resource may be spelled in another way."""
    if isinstance(value, dict) and isinstance(wanted, dict):
        if value.keys() != wanted.keys():
            return False
        return all(says(value[key], wanted[key], amount=amount or key in _AMOUNTS) for key in wanted)
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(says(*pair, amount=amount) for pair in zip(value, wanted, strict=True))
    if type(value) is type(wanted) and value == wanted:
        return True
    try:
        return amount and str(Quantity.parse(str(value))) == str(Quantity.parse(str(wanted)))
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
        by_name = {}
        for entry in known:
            name = name_in(entry.node.value)
            # Roles are composed with their new names, which may be the former one of a container.
            renames = name is not None and entry.node.style != COMPOSED
            by_name[self.names.get(name, name) if name is not None and renames else name] = entry
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

    def _entry(self, head: str, wanted: Any, entry: SourceEntry | None, column: int) -> list[str]:
        """The lines of one entry, behind its key or its dash."""
        is_same = entry is not None and says(entry.node.value, wanted)
        moved = entry.moved(column, head, self._anchors) if entry is not None and is_same else None
        if entry is not None and moved is not None:
            self._anchors |= dict(entry.node.anchors)
            return moved
        node = entry.node if entry is not None else None
        above = [_line(comment, column) for comment in entry.comments_above] if entry is not None else []
        beside = entry.comment_beside if entry is not None else ""
        if not (isinstance(wanted, dict | list) and wanted):
            return [*above, *_scalar(f"{' ' * column}{head}", wanted, beside, " " * (column + _STEP))]
        is_wide = any(isinstance(item, dict | list) or (isinstance(item, str) and "\n" in item) for item in wanted)
        if isinstance(wanted, list) and node is not None and node.is_flow and not is_wide:
            flow = f"[{', '.join(map(spelled, wanted))}]"
            return [*above, f"{' ' * column}{head} {flow}{_beside(beside)}"]
        below = column + _STEP if isinstance(wanted, dict) or head == "-" else column + self.indent
        inner = self._map(wanted, node, below) if isinstance(wanted, dict) else self._list(wanted, node, below)
        if head == "-":
            # The first line that is no comment stands behind the dash.
            start = next(at for at, line in enumerate(inner) if line.strip() and not line.lstrip().startswith("#"))
            above += [_line(beside, column)] if beside else []
            above += [_line(line.strip(), column) for line in inner[:start]]
            return [*above, f"{' ' * column}- {inner[start][column + _STEP :]}", *inner[start + 1 :]]
        return [*above, f"{' ' * column}{head}{_beside(beside)}", *inner]


def _with_tail(entries: list[list[str]], known: int, node: SourceNode | None, column: int) -> list[str]:
    """The lines of entries; behind the last of those that are `known` stand the comments that stood behind it.

    They are left out where no entry is known: what they belong to went elsewhere.
    """
    if node is not None and node.style == COMPOSED:
        known = len(entries)
    tail = [_line(comment, column) for comment in (node.tail if node is not None and known else ())]
    return [*chain(*entries[:known]), *tail, *chain(*entries[known:])]


def _line(comment: str, column: int) -> str:
    return " " * column + comment if comment else ""


def _scalar(head: str, value: Any, beside: str, indent: str) -> list[str]:
    is_block = isinstance(value, str) and "\n" in value and is_visible(value) and not value.endswith("\n\n")
    if is_block and not re.search(r"[ \t](?:\n|$)", value):
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
