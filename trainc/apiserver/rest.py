"""What can still be read of an object that a server refuses, so that one mistake hides no other."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trainc.apiserver.fault import Fault
from trainc.apiserver.history import reference_field
from trainc.apiserver.jobset import defaults as jobset
from trainc.apiserver.metadata import without_null_fields
from trainc.apiserver.readable import read_by_go, readable
from trainc.apiserver.served import Server
from trainc.apiserver.verdict import kind_of, named, verdict
from trainc.model.catalog import RemovedSpans, stretch
from trainc.model.document import Document
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, get
from trainc.text.placeholders import is_placeholder
from trainc.text.spelling import nearest

UNREADABLE = "${UNREADABLE}"  # stands for a value that a server cannot take: unknown, and never wrong
_ROUNDS = 8  # a server tells some faults only once others are mended
_MAX_FAULTS = 100  # in one round; an object with more is not the one that was meant


class Rest(NamedTuple):
    """An object without its faults, and where in its text they stand.

    A misspelt field is read as the one that was probably meant, a wrong value as one that is not known.
    """

    document: Document
    taken: RemovedSpans


class Round(NamedTuple):
    """One look of the server at an object that was mended so far: what it has against it, or what it would store.

    `taken` are the places of what was taken out before, `emptied` the maps that lost a field, or hold one under
    another name.
    """

    tree: Tree
    faults: list[Fault]
    stored: Tree
    taken: list[Span]
    emptied: set[Path]


def rest_of(document: Document, server: Server) -> Rest | None:
    """What a server would take of an object that it refuses; None where the faults cannot be told from the rest."""
    for look in _rounds(document, server):
        if look.stored is not None:
            return Rest(document.admitted(without_null_fields(look.stored)), RemovedSpans(look.taken, document.tree))
    return None


def further_faults(document: Document, server: Server) -> Iterator[tuple[Document, list[Fault]]]:
    """What a server would say of a refused object once the faults that it names first are mended.

    Each list comes with the object as it is then; what may follow from the mending is left out.
    """
    for index, look in enumerate(_rounds(document, server)):
        mended, taken = document.instead(look.tree), RemovedSpans(look.taken, document.tree)
        if faults := [fault for fault in look.faults if index and not _follows(fault, look, mended, taken)]:
            yield mended, faults


def _follows(fault: Fault, look: Round, mended: Document, taken: RemovedSpans) -> bool:
    """Whether a fault may come of what was taken out before."""
    return (
        UNREADABLE in fault.message
        or mended.span(fault.path) in taken
        or (fault.kind == "unknown" and any(fault.path[: len(path)] == path for path in look.emptied))
        # What lies in it was refused for the same reason.
        or ("must be of type" in fault.message and any(at[: len(fault.path)] == fault.path for at in look.emptied))
        or fault.path in look.emptied
        or (fault.path[:-1] in look.emptied and get(look.tree, *fault.path) is None)
    )


def _rounds(document: Document, server: Server) -> Iterator[Round]:
    kind, tree = kind_of(document.tree), document.tree
    root = server.table.root(kind)
    taken: list[Span] = []
    emptied: set[Path] = set()
    for _ in range(_ROUNDS if root is not None else 0):
        kept, faults = readable(tree, kind, server.table)
        if not faults:
            judged = verdict(kept, server.table, server.profile)
            faults = judged.faults if judged.by else []
            # A webhook that mutates comes before the schema: what it breaks off at need not be whole.
            if not judged.by or (judged.by == "webhook" and judged.empty_patch is not None):
                generated = named(kept)
                stored = read_by_go(root, generated) if root is not None and kind == jobset.KIND else judged.stored
                yield Round(tree, faults, stored, taken, emptied)
                return
        if len(faults) > _MAX_FAULTS:
            return
        yield Round(tree, faults, None, taken, emptied)
        mended = tree
        places = {_place(tree, fault): fault for fault in faults}
        for path in sorted(
            places,
            key=lambda path: [(step, "") if type(step) is int else (-1, str(step)) for step in path],
            reverse=True,
        ):  # later items first: to take one out moves those behind it
            mended = _mended(mended, path, places[path], taken)
            if get(mended, *path) is None:
                emptied.add(path[:-1])
        if mended is tree:
            return
        tree = mended


def tell_rest(own_report: Report, taken: RemovedSpans, report: Report, stand_in: str = "") -> None:
    """Report the errors that were found in a rest, but for those that may come of what was taken out of it.

    Of a job that lacks a name alone, whatever does not speak of its `stand_in`.
    """
    for finding in own_report.findings:
        touched = any(label.span in taken for label in finding.labels)
        words = (finding.message, finding.effect, finding.help, *finding.notes)
        is_of_name = bool(stand_in) and any(stand_in in text for text in words)
        is_certain = finding.level == ERROR or bool(stand_in)
        if is_certain and not is_of_name and not touched and UNREADABLE not in finding.message:
            report.add(finding._replace(refusal=None))


def _place(tree: Tree, fault: Fault) -> Path:
    """What a fault is about: a field, or the item of a list that lacks one."""
    path = fault.path
    return path[:-1] if len(path) > 2 and type(path[-2]) is int and get(tree, *path) is None else path


def _mended(tree: Tree, path: Path, fault: Fault, taken: list[Span]) -> Tree:
    """The object without the fault at a path, as it was where that cannot be taken out of it."""
    above, node = get(tree, *path[:-1]), get(tree, *path)
    if len(path) < 2 or node is None:
        return tree
    if type(node) is Sourced and fault.kind != "unknown" and not (is_placeholder(node.value) or _wants_more(fault)):
        taken += _stretches(node)
        return _changed(tree, path, lambda held, step: _set(held, step, Sourced(UNREADABLE, node.origin)))
    meant = ""
    if fault.kind == "unknown":
        meant = reference_field(fault.path, fault.candidates) or nearest(str(path[-1]), fault.candidates)
    if meant and type(above) is dict and meant not in above:
        return _changed(tree, path, lambda held, step: {(meant if key == step else key): held[key] for key in held})
    taken += _stretches(node if fault.kind == "unknown" else above, _item_name(tree, path))
    return _changed(tree, path, _without)


def _item_name(tree: Tree, path: Path) -> Tree:
    """The name of the list item in which nothing is left of a map without what stands at a path; `{}` elsewhere.

    Whatever is then said of the map is placed at this name.
    """
    while len(path) > 2 and type(above := get(tree, *path[:-1])) is dict and len(above) == 1:
        path = path[:-1]
        if type(path[-2]) is int:
            name = get(tree, *path[:-1], "name")
            return {} if name is None else name
    return {}


def _wants_more(fault: Fault) -> bool:
    """Whether a map or a list is wanted where a scalar stands: no placeholder can stand for one."""
    if "cannot unmarshal" in fault.message:
        return not fault.message.endswith(("of type string", "of type int32", "of type int64", "of type bool"))
    return any(f"must be of type {kind}" in fault.message for kind in ("array", "object"))


def _changed(tree: Tree, path: Path, change: Callable[[Tree, str | int], Tree]) -> Tree:
    """The tree with its innermost map or list on a path changed."""
    if len(path) == 1:
        return change(tree, path[0])
    return _set(tree, path[0], _changed(tree[path[0]], path[1:], change))


def _set(held: Tree, step: str | int, node: Tree) -> Tree:
    if type(held) is dict:
        return {**held, step: node}
    return [node if index == step else item for index, item in enumerate(held)]


def _without(held: Tree, step: str | int) -> Tree:
    if type(held) is dict:
        return {key: node for key, node in held.items() if key != step}
    return [item for index, item in enumerate(held) if index != step]


def _stretches(*nodes: Tree) -> list[Span]:
    return [one for node in nodes if (one := stretch(node)) is not None]
