"""Trees of sourced leaves from YAML events, one document at a time, with bounds on everything."""

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, StreamEndEvent

from trainc.model.document import Document, Marks, Stretch
from trainc.model.finding import WARNING, Finding, Label, Rule
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree
from trainc.yaml import rules, scalars
from trainc.yaml.scalars import KEYS, VALUES, OddError

DEPTH = 200
NODES = 1_000_000  # of one document, aliases expanded
ALIASED = 100_000  # of these, through aliases
MODES = frozenset(("defaultMode", "mode"))  # where octal numbers are at home, and all of Kubernetes' tools agree

_OPEN = object()
_CORE = "tag:yaml.org,2002:"
_QUOTE = "quote it to make it text"


class StopError(Exception):
    """A document cannot be read to its end; carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


class Constructor:
    """Documents from a stream of events; what is wrong with one of them goes to the report."""

    def __init__(self, get: Callable[[], Any], file: str, report: Report, duplicates: str) -> None:
        self._get = get
        self._file = file
        self._report = report
        self._duplicates = duplicates
        self._joined = 0  # the map, by identity, in which a second object was found
        self.line = 1  # where the latest document starts, or what follows the one that was read

    def documents(self) -> Iterator[Document]:
        """Each document that is not empty and holds only what Kubernetes can hold."""
        get = self._get
        get()
        while type(start := get()) is not StreamEndEvent:
            self._aliased = self._nodes = 0
            self._anchors: dict[str, tuple[Any, int]] = {}
            self._end: Any = start.end_mark
            self._marks = _Marks()
            self._merged: dict[int, set[str]] = {}
            self._refused = False
            self.line = start.start_mark.line + 1
            if start.version or start.tags:
                message = "this directive is not understood by Kubernetes' tools"
                self._refuse(rules.DIRECTIVE, self._span(start), message, "remove it")
            tree = None if _blank(root := get()) else self._node(root, 0)
            end = get().end_mark.line + 1
            if self._refused:
                self._report.account.count_unread(self._file, self.line)
            elif tree is not None:
                yield Document(self._file, tree, self._marks, self.line)
            self.line = end

    def _node(self, event: Any, depth: int) -> Tree:
        kind = type(event)
        if kind is ScalarEvent:
            return self._leaf(event)
        if kind is AliasEvent:
            node, size = self._anchors.get(event.anchor, (None, 0))
            self._end = event.end_mark
            self._nodes += size
            self._aliased += size
            fault = ""
            if node is None or node is _OPEN:
                fault = "contains itself" if node else "has no anchor above it"
            elif self._aliased > ALIASED:
                fault = f"makes the aliases of this document stand for more than {ALIASED} values"
            if fault:
                raise self._stopped(rules.ALIASES, event, f"the alias `*{event.anchor}` {fault}", "write the value out")
            return node
        if depth >= DEPTH:
            message = f"this is nested more than {DEPTH} levels deep"
            raise self._stopped(rules.DEPTH, event, message, "close the brackets or braces above it")
        if event.anchor:
            self._anchors[event.anchor] = (_OPEN, 0)
        if event.tag and event.tag != _CORE + ("map" if kind is MappingStartEvent else "seq"):
            self._refuse_tag(event)
        return self._mapping(event, depth + 1) if kind is MappingStartEvent else self._sequence(event, depth + 1)

    def _leaf(self, event: Any, key: str | None = None) -> Sourced[Any]:
        self._end = event.end_mark
        if event.implicit[0]:
            try:
                value = VALUES[event.value]
            except OddError:
                value = self._odd(event, key)
        else:
            value = event.value if event.implicit[1] else self._tagged(event)
        leaf = Sourced(value, (self._file, *_stretch(event.start_mark, event.end_mark)))
        if event.anchor:
            self._anchors[event.anchor] = (leaf, 1)
        return leaf

    def _mapping(self, start: Any, depth: int) -> dict[str, Tree]:
        get, before = self._get, self._nodes
        out: dict[str, Tree] = {}
        places: dict[str, Stretch] = {}
        for _ in repeat(None, NODES):
            event: Any = get()
            if type(event) is ScalarEvent and event.implicit[0] and event.anchor is None:
                try:
                    key: Any = KEYS[event.value]
                except OddError:
                    key = self._odd_key(event)
            elif type(event) is MappingEndEvent:
                self._leave(start, event, out, places, before)
                return out
            else:
                key = self._other_key(event, depth)
            place = _stretch(event.start_mark, event.end_mark)
            event = get()
            is_plain = type(event) is ScalarEvent and event.anchor is None
            node = self._leaf(event, key) if is_plain else self._node(event, depth)
            if key is None or key in out:
                self._again(out, places, key, node, place)
            else:
                out[key] = node
                places[key] = place
        raise self._too_large(start)

    def _sequence(self, start: Any, depth: int) -> list[Tree]:
        get, leaf, before = self._get, self._leaf, self._nodes
        out: list[Tree] = []
        for _ in repeat(None, NODES):
            event = get()
            if type(event) is SequenceEndEvent:
                self._leave(start, event, out, None, before)
                return out
            out.append(leaf(event) if type(event) is ScalarEvent else self._node(event, depth))
        raise self._too_large(start)

    def _leave(self, start: Any, event: Any, out: Any, places: dict[str, Stretch] | None, before: int) -> None:
        """Note where a container stands: a block ends with its last item, not where the next one starts."""
        self._nodes += len(out) + 1
        if self._nodes > NODES:
            raise self._too_large(start)
        if start.flow_style or not out:
            self._end = event.end_mark
        if self._merged:
            self._merged.pop(id(out), None)
        self._marks[id(out)] = (*_stretch(start.start_mark, self._end), places)
        if start.anchor:
            self._anchors[start.anchor] = (out, self._nodes - before)

    def _odd(self, event: Any, key: str | None) -> Any:
        text = event.value
        if text in scalars.INFINITE:
            message = f"`{text}` is not a value for Kubernetes"
            self._refuse(rules.NOT_A_NUMBER, self._span(event), message, _QUOTE)
            return None
        if (reason := scalars.ambiguous(text)) and not (key in MODES and text.isdigit()):
            self._warn(event, reason)
        return scalars.resolve(text)

    def _warn(self, event: Any, reason: str) -> None:
        """Report that an unquoted text is read differently elsewhere."""
        value = scalars.resolve(event.value)
        plain = f"write `{str(value).lower()}`, or " if type(value) is not str else ""
        help_ = f'{plain}quote it to make it text: `"{event.value}"`'
        self._report.add(rules.AMBIGUOUS.at(self._span(event), f"`{event.value}` is {reason}", help=help_))

    def _tagged(self, event: Any) -> Any:
        try:
            return scalars.resolve_tagged(event.tag.removeprefix(_CORE), event.value)
        except KeyError:
            self._refuse_tag(event)
        except (ValueError, OddError):
            self._refuse_tag(event, event.value)
        return None

    def _refuse_tag(self, event: Any, text: str | None = None) -> None:
        """Report a tag that readers treat differently, or one that a text does not fit."""
        tag = f"!!{event.tag.removeprefix(_CORE)}" if event.tag.startswith(_CORE) else event.tag
        message = f"the tag `{tag}` is not understood alike everywhere"
        if text is not None:
            message = f"`{text}` cannot be read as `{tag}`"
        self._refuse(rules.TAG, self._span(event), message, "remove the tag, and quote what is text")

    def _odd_key(self, event: Any) -> str | None:
        """The key for a text that is not used as it is, None for the merge key."""
        text = event.value
        if text == "<<":
            return None
        if (key := scalars.resolve_key(text)) is None:
            return self._bad_key(event, f"`{text}` is not a key for Kubernetes" if text else "there is no key here")
        if reason := scalars.ambiguous(text):
            self._warn(event, reason)
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
        elif self._refused or (key := scalars.key_text(node.value) if type(node) is Sourced else None) is None:
            is_template = type(event) is MappingStartEvent and event.flow_style  # how templates begin
            message = "`{{` starts a template: a map as the key of a map" if is_template else "this key is not text"
            help_ = rules.TEMPLATE if is_template else _QUOTE
            key = self._bad_key(event, "" if self._refused else message, help_)
        self._refused |= refused
        return key

    def _bad_key(self, event: Any, message: str, help_: str = _QUOTE) -> str:
        if message:
            self._refuse(rules.BAD_KEY, self._span(event), message, help_)
        return f"?{event.start_mark.index}"

    def _again(
        self, out: dict[str, Tree], places: dict[str, Stretch], key: str | None, node: Tree, place: Stretch
    ) -> None:
        """Set a key that is there already, or merge; Kubernetes lets whatever is written last win."""
        if key is None:
            self._merge(out, places, node, place)
            return
        if (merged := self._merged.get(id(out))) and key in merged:
            merged.discard(key)
        elif self._duplicates != "ignore" and self._joined != id(out):
            # From a second `apiVersion` on, every key of the map belongs to an object that lacks its `---`.
            help_, warned = "remove one of the two", self._duplicates == "warn"
            if key == "apiVersion":
                self._joined = id(out)
                help_ = "if a second object starts here, put `---` on a line before it"
            finding = rules.DUPLICATE_KEY.at(
                Span(self._file, *place),
                f"the key `{key}` is written twice in this map",
                label="written again here",
                also=(Label(Span(self._file, *places[key]), "first written here"),),
                effect="the last value wins" if warned else "",
                help=help_,
                level=WARNING if warned else "",
            )
            self._report.add(finding)
        self._marks.dropped.append(out[key])
        out[key] = node
        places[key] = place

    def _merge(self, out: dict[str, Tree], places: dict[str, Stretch], node: Tree, place: Stretch) -> None:
        span = Span(self._file, *place)
        sources = node if type(node) is list else [node]
        if any(type(source) is not dict for source in sources):
            message = "the merge key `<<` has a value that is neither a map nor a list of maps"
            self._refuse(rules.SYNTAX, span, message, "merge an alias of a map, or quote the key")
            return
        merged = self._merged.setdefault(id(out), set())
        for source in reversed(sources):
            for key in [key for key in source if key in out and key not in merged]:
                message = (
                    f"`{key}` is set above and again by this merge, which wins for Kubernetes but not for other readers"
                )
                self._report.add(rules.LATE_MERGE.at(span, message, help="write the merge key first"))
            self._marks.dropped.append(source)
            out.update(source)
            places.update(self._marks[id(source)][4] or {})
            merged.update(source)

    def _refuse(self, rule: Rule, span: Span, message: str, help_: str) -> None:
        self._refused = True
        self._report.add(rule.at(span, message, help=help_))

    def _span(self, event: Any) -> Span:
        return Span(self._file, *_stretch(event.start_mark, event.end_mark))

    def _stopped(self, rule: Rule, event: Any, message: str, help_: str) -> StopError:
        return StopError(rule.at(self._span(event), message, help=help_))

    def _too_large(self, start: Any) -> StopError:
        return self._stopped(rules.SIZE, start, f"this document has more than {NODES} values", "split it")


class _Marks(dict[int, Marks]):
    """Where nodes stand, by identity; those that fell out of the tree are held, so that no later object takes theirs."""

    def __init__(self) -> None:
        self.dropped: list[Tree] = []


def _stretch(a: Any, b: Any) -> Stretch:
    return a.line + 1, a.column + 1, b.line + 1, b.column + 1


def _blank(event: Any) -> bool:
    return type(event) is ScalarEvent and event.value == "" and event.implicit[0] and not event.anchor
