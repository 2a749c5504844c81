"""Trees of sourced leaves from YAML events, one document at a time, with bounds on everything."""

from __future__ import annotations

from itertools import repeat
from typing import Any

from trainc.model.document import Document, span_of
from trainc.model.finding import WARNING, Label
from trainc.model.sourced import Origin, Sourced, Span
from trainc.yaml import rules
from trainc.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from trainc.yaml.scalars import INFINITE, KEYS, VALUES, OddError, ambiguous, key_text, resolve, resolve_key, resolve_tagged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trainc.model.document import Mark, Marks, Stretch
    from trainc.model.finding import Finding
    from trainc.model.report import Report
    from trainc.model.tree import Tree

DEPTH = 200
NODES = 1_000_000  # of one document, aliases expanded
ALIASED = 100_000  # of these, through aliases
MODES = frozenset(("defaultMode", "mode"))  # where octal numbers are at home, and all of Kubernetes' tools agree

_OPEN = object()
_TAG = "tag:yaml.org,2002:"
_new = tuple.__new__


class StopError(Exception):
    """A document cannot be read to its end; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Constructor:
    """Documents from a stream of events; what is wrong with one of them goes to the report."""

    __slots__ = (
        "_aliased",
        "_anchors",
        "_duplicates",
        "_end",
        "_file",
        "_get",
        "_marks",
        "_merged",
        "_nodes",
        "_refused",
        "_report",
        "line",
    )

    def __init__(self, get: Callable[[], Any], file: str, report: Report, duplicates: str) -> None:
        self._get = get
        self._file = file
        self._report = report
        self._duplicates = duplicates
        self.line = 1  # where the latest document starts

    def documents(self) -> Iterator[Document]:
        """Each document that is not empty and holds only what Kubernetes can hold."""
        get = self._get
        get()
        while type(start := get()) is not StreamEndEvent:
            self._aliased = self._nodes = 0
            self._anchors: dict[str, tuple[Any, int]] = {}
            self._end: Mark = start.end_mark
            self._marks: dict[int, Marks] = {}
            self._merged: dict[int, set[str]] = {}
            self._refused = False
            self.line = start.start_mark.line + 1
            if start.version or start.tags:
                self._refuse(rules.DIRECTIVE.at(self._span(start), "this directive is not understood by Kubernetes' tools", help="remove it"))
            root = get()
            tree = None if _blank(root) else self._node(root, 0)
            get()
            if tree is not None and not self._refused:
                yield Document(self._file, tree, self._marks, self.line)

    def _node(self, event: Any, depth: int) -> Tree:
        kind = type(event)
        if kind is ScalarEvent:
            return self._leaf(event)
        if kind is AliasEvent:
            return self._alias(event)
        return self._mapping(event, depth + 1) if kind is MappingStartEvent else self._sequence(event, depth + 1)

    def _leaf(self, event: Any) -> Sourced[Any]:
        span = self._span(event)
        self._end = event.end_mark
        if event.implicit[0]:
            try:
                value = VALUES[event.value]
            except OddError:
                value = self._odd(event.value, span)
        else:
            value = event.value if event.implicit[1] else self._tagged(event, span)
        leaf = Sourced(value, _new(Origin, (span, "", ())))
        if event.anchor:
            self._anchors[event.anchor] = (leaf, 1)
        return leaf

    def _mapping(self, start: Any, depth: int) -> dict[str, Tree]:
        before, left = self._enter(start, depth, "map")
        get, file, new = self._get, self._file, _new
        out: dict[str, Tree] = {}
        places: dict[str, Stretch] = {}
        last = None
        for _ in repeat(None, left):
            event = get()
            if type(event) is ScalarEvent and event.implicit[0] and event.anchor is None:
                try:
                    key: Any = KEYS[event.value]
                except OddError:
                    key = self._odd_key(event)
            elif type(event) is MappingEndEvent:
                return self._leave(start, event, out, places, before, last)
            else:
                key = self._other_key(event, depth)
            place = (event.start_mark, event.end_mark)
            event = get()
            if type(event) is ScalarEvent and event.anchor is None:
                a = event.start_mark
                last = event.end_mark
                span = new(Span, (file, a.line + 1, a.column + 1, last.line + 1, last.column + 1))
                if (implicit := event.implicit)[0]:
                    try:
                        value = VALUES[event.value]
                    except OddError:
                        value = self._odd(event.value, span, key)
                else:
                    value = event.value if implicit[1] else self._tagged(event, span)
                node: Tree = Sourced(value, new(Origin, (span, "", ())))
            else:
                node = self._node(event, depth)
                last = None
            if key is None or key in out:
                self._again(out, places, key, node, place)
            else:
                out[key] = node
                places[key] = place
        raise self._too_large(start)

    def _sequence(self, start: Any, depth: int) -> list[Tree]:
        before, left = self._enter(start, depth, "seq")
        get, node = self._get, self._node
        out: list[Tree] = []
        for _ in repeat(None, left):
            event = get()
            if type(event) is SequenceEndEvent:
                return self._leave(start, event, out, None, before, None)
            out.append(node(event, depth))
        raise self._too_large(start)

    def _enter(self, start: Any, depth: int, tag: str) -> tuple[int, int]:
        if depth > DEPTH:
            message = f"this is nested more than {DEPTH} levels deep"
            raise StopError(rules.DEPTH.at(self._span(start), message, help="close the brackets or braces above it"))
        if start.anchor:
            self._anchors[start.anchor] = (_OPEN, 0)
        if start.tag and start.tag != _TAG + tag:
            self._refuse(rules.TAG.at(self._span(start), f"the tag `{_short(start.tag)}` is not understood alike everywhere", help="remove the tag"))
        return self._nodes, NODES - self._nodes + 1

    def _leave(self, start: Any, event: Any, out: Any, places: dict[str, Stretch] | None, before: int, last: Mark | None) -> Any:
        """Note where a container stands: a block ends with its last item, not where the next one starts."""
        self._nodes += len(out) + 1
        if self._nodes > NODES:
            raise self._too_large(start)
        if last is not None:
            self._end = last
        if not out or event.start_mark.index != event.end_mark.index:
            self._end = event.end_mark
        if self._merged:
            self._merged.pop(id(out), None)
        self._marks[id(out)] = (start.start_mark, self._end), places
        if start.anchor:
            self._anchors[start.anchor] = (out, self._nodes - before)
        return out

    def _alias(self, event: Any) -> Tree:
        span = self._span(event)
        node, size = self._anchors.get(event.anchor, (None, 0))
        if node is None or node is _OPEN:
            fault = "contains itself" if node else "has no anchor above it"
            raise StopError(rules.ALIASES.at(span, f"the alias `*{event.anchor}` {fault}", help="write the value out"))
        self._end = event.end_mark
        self._nodes += size
        self._aliased += size
        if self._aliased > ALIASED:
            message = f"the aliases of this document stand for more than {ALIASED} values"
            raise StopError(rules.ALIASES.at(span, message, help="write the values out"))
        return node

    def _odd(self, text: str, span: Span, key: str | None = None) -> Any:
        if text in INFINITE:
            self._refuse(rules.NOT_A_NUMBER.at(span, f"`{text}` is no value for Kubernetes", help="quote it to make it text"))
            return None
        reason = ambiguous(text)
        if reason and not (key in MODES and text.isdigit()):
            self._warn(text, span, reason)
        return resolve(text)

    def _warn(self, text: str, span: Span, reason: str) -> None:
        value = resolve(text)
        plain = f'write `{str(value).lower()}`, or ' if type(value) is not str else ""
        self._report.add(rules.AMBIGUOUS.at(span, f"`{text}` is {reason}", help=f'{plain}quote it to make it text: `"{text}"`'))

    def _tagged(self, event: Any, span: Span) -> Any:
        """The value of a scalar with an explicit tag."""
        name = event.tag.removeprefix(_TAG)
        try:
            return resolve_tagged(name, event.value)
        except KeyError:
            message = f"the tag `{_short(event.tag)}` is not understood alike everywhere"
        except (ValueError, OddError):
            message = f"`{event.value}` cannot be read as `{_short(event.tag)}`"
        self._refuse(rules.TAG.at(span, message, help="remove the tag, and quote what is text"))
        return None

    def _odd_key(self, event: Any) -> str | None:
        """The key for a text that is not used as it is, None for the merge key."""
        text = event.value
        if text == "<<":
            return None
        key = resolve_key(text)
        if key is None:
            return self._bad_key(event, f"`{text}` is no key for Kubernetes" if text else "there is no key here")
        reason = ambiguous(text)
        if reason:
            self._warn(text, self._span(event), reason)
        return key

    def _other_key(self, event: Any, depth: int) -> str | None:
        """The key that is quoted, tagged, an anchor, an alias, or not a scalar at all."""
        if type(event) is ScalarEvent and not event.anchor and event.implicit[1]:
            text: str = event.value
            return text
        refused, self._refused = self._refused, False
        node = self._node(event, depth)
        if type(event) is ScalarEvent and event.implicit[0]:
            key = self._odd_key(event)
        elif self._refused or (key := key_text(node.value) if type(node) is Sourced else None) is None:
            key = self._bad_key(event, "" if self._refused else "this key is not text")
        self._refused |= refused
        return key

    def _bad_key(self, event: Any, message: str) -> str:
        if message:
            self._refuse(rules.BAD_KEY.at(self._span(event), message, help="quote it to make it text; fill templates in first"))
        return f"?{event.start_mark.index}"

    def _again(self, out: dict[str, Tree], places: dict[str, Stretch], key: str | None, node: Tree, place: Stretch) -> None:
        """Set a key that is there already, or merge; Kubernetes lets whatever is written last win."""
        if key is None:
            self._merge(out, places, node, place)
            return
        merged = self._merged.get(id(out))
        if merged and key in merged:
            merged.discard(key)
        elif self._duplicates != "ignore":
            self._duplicate(key, span_of(self._file, places[key]), span_of(self._file, place))
        out[key] = node
        places[key] = place

    def _duplicate(self, key: str, first: Span, second: Span) -> None:
        warned = self._duplicates == "warn"
        self._report.add(
            rules.DUPLICATE_KEY.at(
                second,
                f"the key `{key}` is written twice in this map",
                label="written again here",
                also=(Label(first, "first written here"),),
                effect="the last value wins" if warned else "",
                help="remove one of the two",
                level=WARNING if warned else "",
            )
        )

    def _merge(self, out: dict[str, Tree], places: dict[str, Stretch], node: Tree, place: Stretch) -> None:
        sources = node if type(node) is list else [node]
        if any(type(source) is not dict for source in sources):
            self._bad_merge(place)
            return
        merged = self._merged.setdefault(id(out), set())
        for source in reversed(sources):
            late = [key for key in source if key in out and key not in merged]
            for key in late:
                message = f"`{key}` is set above and again by this merge, which wins for Kubernetes but not for other readers"
                self._report.add(rules.LATE_MERGE.at(span_of(self._file, place), message, help="write the merge key first"))
            out.update(source)
            places.update(self._marks[id(source)][1] or {})
            merged.update(source)

    def _bad_merge(self, place: Stretch) -> None:
        message = "the merge key `<<` has a value that is neither a map nor a list of maps"
        self._refuse(rules.SYNTAX.at(span_of(self._file, place), message, help="merge an alias of a map, or quote the key"))

    def _refuse(self, finding: Finding) -> None:
        self._refused = True
        self._report.add(finding)

    def _span(self, event: Any) -> Span:
        a, b = event.start_mark, event.end_mark
        return _new(Span, (self._file, a.line + 1, a.column + 1, b.line + 1, b.column + 1))

    def _too_large(self, start: Any) -> StopError:
        return StopError(rules.SIZE.at(self._span(start), f"this document has more than {NODES} values", help="split it"))


def _blank(event: Any) -> bool:
    return type(event) is ScalarEvent and event.value == "" and event.implicit[0] and not event.anchor


def _short(tag: str) -> str:
    return "!!" + tag.removeprefix(_TAG) if tag.startswith(_TAG) else tag
