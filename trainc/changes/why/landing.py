"""The other direction: where a line that people wrote lands in the output, or why it does not."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, NamedTuple

from trainc.changes.why import Layers, label, of_leaf
from trainc.changes.why.pieces import Pieces
from trainc.changes.why.reasons import ValueUse, is_pointer, reason
from trainc.model.paths import keyed, matches, shown
from trainc.model.sourced import Sourced
from trainc.model.tree import get, leaves
from trainc.text.merge_keys import MERGE_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainc.changes.why import Why
    from trainc.model.bundle import Bundle
    from trainc.model.document import Document
    from trainc.model.finding import Finding
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree

LANDS, BEATEN, REFUSED, NOWHERE = "lands", "beaten", "refused", "nowhere"


class Landing(NamedTuple):
    """What becomes of one value that somebody wrote: `outcome` is lands, beaten, refused or nowhere.

    `fields` are the fields of the output that hold it or, where it is beaten, that hold another value or none;
    `beaten` are such fields beside those in which it lands. `findings` are the errors at its place; `reason` says why
    it lands nowhere.
    """

    path: str
    value: Any
    at: Span
    outcome: str
    fields: tuple[Why, ...] = ()
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    beaten: tuple[Why, ...] = ()


def landings(
    documents: Iterable[Document],
    wanted: int | str,
    bundles: Sequence[Bundle],
    findings: Sequence[Finding],
    explained: Sequence[Why] = (),
) -> Iterator[Landing]:
    """What becomes of every value that `wanted` means, in all of these bundles.

    A number means the values on that line, or below a key that stands there; a text the fields whose path holds it.
    Whoever asks about many lines hands over all `fields` of the bundles, so that they are explained once.
    """
    known = _Known(explained or fields(bundles), Pieces(bundles))
    errors = _Errors(findings)
    for document in documents:
        for path in on_line(document, wanted) if isinstance(wanted, int) else at_path(document, wanted):
            leaf = _at(document.tree, path)
            if type(leaf) is Sourced and leaf.origin.at is not None:
                yield _landing(document, path, leaf, leaf.origin.at, known, bundles, errors)


def on_line(document: Document, line: int) -> list[Path]:
    """The paths of all leaves that stand on a line, whose key does, or that lie below a key that does."""
    return [path for path, leaf in leaves(document.tree) if _stands(document, path, leaf, line)]


def at_path(document: Document, wanted: str) -> list[Path]:
    """The paths of all leaves whose path holds `wanted` as a run of whole steps."""
    return [path for path, _ in leaves(document.tree) if matches(keyed(document.tree, path), wanted, path)]


def _stands(document: Document, path: Path, leaf: Tree, line: int) -> bool:
    span = leaf.origin.at if type(leaf) is Sourced else None
    if span is not None and span.line <= line <= span.end_line:
        return True
    keys = (path[:length] for length in range(1, len(path) + 1) if type(path[length - 1]) is str)
    return any(document.span(key, key=True).line == line and _is_key(document, key, line) for key in keys)


def _is_key(document: Document, path: Path, line: int) -> bool:
    """Whether a key owns its line: behind the dash of a list item it stands for itself alone."""
    if len(path) > 1 and type(path[-2]) is int:
        item = document.span(path[:-1])
        return item.line != line or type(_at(document.tree, path)) is Sourced
    return True


def _at(tree: Tree, path: Path) -> Tree:
    for step in path:
        tree = tree[step]
    return tree


def fields(bundles: Sequence[Bundle]) -> Iterator[Why]:
    """Every field of the output of these bundles, explained."""
    for bundle in bundles:
        layers = Layers(bundle)
        for tree in bundle.objects:
            name = label(tree)
            for path, leaf in leaves(tree):
                if type(leaf) is Sourced:
                    yield of_leaf(layers, name, keyed(tree, path), leaf)


def _landing(
    document: Document,
    path: Path,
    leaf: Sourced[Any],
    at: Span,
    known: _Known,
    bundles: Sequence[Bundle],
    errors: _Errors,
) -> Landing:
    where = shown(keyed(document.tree, path))
    refusals = errors.at((at, *_key_of_item(document, path)))
    if refusals:
        return Landing(where, leaf.value, at, REFUSED, findings=refusals)
    landed, lost = tuple(known.won.get(at, ())), known.lost.get(at, [])
    beaten = (*(one for one in lost if not is_pointer(path) or one.value != leaf.value), *known.taken(at))
    if landed:
        return Landing(where, leaf.value, at, LANDS, landed, beaten=beaten)
    if beaten:
        return Landing(where, leaf.value, at, BEATEN, beaten)
    return Landing(where, leaf.value, at, NOWHERE, reason=known.reason(document, path, leaf, bundles))


def _key_of_item(document: Document, path: Path) -> Iterator[Span]:
    """Where the name of the list item stands that a value belongs to: what is said of the item is said there."""
    if len(path) > 2 and type(path[-2]) is int:
        key = get(document.tree, *path[:-1], MERGE_KEYS.get(str(path[-3]), ""))
        if type(key) is Sourced and key.origin.at is not None:
            yield key.origin.at


class _Errors:
    """Errors by the line and column that they are about: each of many values asks for its own."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._of_line: dict[tuple[str, int], dict[int, list[tuple[int, Finding]]]] = {}
        self._of_lines: list[tuple[int, Finding]] = []
        for number, one in enumerate(findings):
            if one.level != "error" or not one.labels:
                continue
            span = one.labels[0].span
            if span.line == span.end_line:
                columns = self._of_line.setdefault((span.file, span.line), {})
                columns.setdefault(span.column, []).append((number, one))
            else:
                self._of_lines.append((number, one))
        self._columns = {place: sorted(columns) for place, columns in self._of_line.items()}

    def at(self, places: Sequence[Span]) -> tuple[Finding, ...]:
        """The errors about one of these places, in the order of the run."""
        nearest = {number: one for place in places for number, one in self._nearest(place)}
        wide = self._of_lines
        nearest |= {number: one for number, one in wide if any(_holds(one.labels[0].span, at) for at in places)}
        return tuple(nearest[number] for number in sorted(nearest))

    def _nearest(self, at: Span) -> Sequence[tuple[int, Finding]]:
        """The errors that start last on a line before a value, or where it does: at its key, or at itself."""
        columns = self._columns.get((at.file, at.line), [])
        index = bisect_right(columns, at.column)
        return self._of_line[at.file, at.line][columns[index - 1]] if index else ()


def _holds(span: Span, at: Span) -> bool:
    return span.file == at.file and span.line <= at.line <= span.end_line and span.column <= at.column


class _Known:
    """Fields of the output by the places that their value rests on, and by those that it beat."""

    def __init__(self, fields: Iterable[Why], pieces: Pieces) -> None:
        self._pieces = pieces
        self.won: dict[Span, list[Why]] = {}
        self.lost: dict[Span, list[Why]] = {}
        for one in fields:
            for at in one.winner.origin.spans():
                self.won.setdefault(at, []).append(one)
            for at in dict.fromkeys(at for setter in one.beaten for at in setter.origin.spans()):
                self.lost.setdefault(at, []).append(one)

    def taken(self, at: Span) -> Iterator[Why]:
        """What took a value away from jobs in which it neither landed nor was beaten."""
        known = {(one.cluster, one.object) for one in (*self.won.get(at, ()), *self.lost.get(at, ()))}
        return self._pieces.taken(at, known)

    def reason(self, document: Document, path: Path, leaf: Sourced[Any], bundles: Sequence[Bundle]) -> str:
        """Why a value is in no manifest."""
        at = leaf.origin.at
        counts = at is not None and self._pieces.say(at)
        use = ValueUse(
            counts, held=counts or (document.kind != "Project" and self._pieces.hold(document)), renamed=at in self.lost
        )
        return reason(document, path, leaf.value, bundles, use)
