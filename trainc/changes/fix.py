"""The edits that findings carry, applied to the text they are about: comments, order and quotes stay.

What an edit changes is taken over into a text whose layout the parser that keeps comments would not keep.
"""

import io
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from trainc.changes.migrate.chunks import (
    UnreadableError,
    dump,
    fresh,
    load,
    lost_comments,
    rename,
    reshape,
    split,
    values,
    with_line_ends,
)
from trainc.model.finding import SAFE, UNSAFE, Edit, Finding
from trainc.model.sourced import Span
from trainc.model.tree import Path
from trainc.text.line_diff import LineMatcher, Replacement, differing_parts, unified

_ENTRY = {"name", "value"}


class Fixed(NamedTuple):
    """A file's new text, the findings whose edits are in it, and those that still need a person."""

    text: str
    applied: tuple[Finding, ...] = ()
    left: tuple[Finding, ...] = ()
    obstacles: tuple[tuple[int, str], ...] = ()  # at which line each document that cannot be edited is, and why


def fix(text: str, findings: Iterable[Finding], file: str, *, unsafe: bool = False) -> Fixed:
    """The text of `file` with the safe edits of its findings, with `unsafe` also those that may change the meaning.

    A finding's edits are applied all or not at all; of two findings that change one place the first wins. In a
    document that the parser which keeps comments refuses, none is applied. Line ends stay what most of them are.
    """

    def rewrite(unix: str) -> Fixed:
        allowed = {SAFE, UNSAFE} if unsafe else {SAFE}
        pieces = split(unix)
        starts = _starts(pieces)
        touched: set[tuple[int, Path | Span]] = set()
        chosen: dict[int, list[Edit]] = {}
        applied: list[Finding] = []
        left: list[Finding] = []
        for finding in findings:
            edits = [edit for edit in finding.fix if edit.file == file]
            places = {(_piece_of(edit, starts), edit.at or edit.path) for edit in edits}
            if not edits or any(e.safety not in allowed for e in finding.fix) or places & touched:
                left.append(finding)
                continue
            touched |= places
            applied.append(finding)
            for edit in edits:
                chosen.setdefault(_piece_of(edit, starts), []).append(edit)
        new, unreadable = _with_edits(pieces, chosen, starts)
        if unreadable:
            ways = [{_piece_of(edit, starts) for edit in one.fix if edit.file == file} for one in applied]
            left += [one for one, way in zip(applied, ways, strict=True) if way & unreadable.keys()]
            applied = [one for one, way in zip(applied, ways, strict=True) if not way & unreadable.keys()]
        return Fixed(new, tuple(applied), tuple(left), tuple(unreadable.values()))

    done: Fixed = with_line_ends(text, rewrite)
    return done


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits that no finding carries; a document that the parser which keeps comments refuses stays as it is."""

    def rewrite(unix: str) -> Fixed:
        pieces = split(unix)
        starts = _starts(pieces)
        chosen: dict[int, list[Edit]] = {}
        for edit in edits:
            chosen.setdefault(_piece_of(edit, starts), []).append(edit)
        return Fixed(_with_edits(pieces, chosen, starts)[0])

    done: Fixed = with_line_ends(text, rewrite)
    return done.text


def _with_edits(
    pieces: list[str], chosen: dict[int, list[Edit]], starts: list[int]
) -> tuple[str, dict[int, tuple[int, str]]]:
    """The pieces with the edits of each, and at which line one of them cannot be edited, and why."""
    unreadable = {}
    for index, edits in chosen.items():
        try:
            pieces[index] = _edited(pieces[index], edits, starts[index])
        except UnreadableError as error:
            unreadable[index] = (starts[index] + error.line, str(error))
    return "".join(pieces), unreadable


def replacements(text: str, finding: Finding, file: str) -> list[Replacement]:
    """What the safe edits of one finding replace in the text of `file`, none where it carries none."""
    done = fix(text, [finding], file)
    return differing_parts(text, done.text) if done.applied else []


def diff(before: str, after: str, file: str) -> list[str]:
    """The lines of the change as a unified diff, none where there is none."""
    out = []
    was, now = (io.StringIO(text).readlines() for text in (before, after))  # lines as Git counts them
    for line in unified(was, now, (file, file), end="\n", context=3):
        out.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            out.append("\\ No newline at end of file")
    return out


def _starts(pieces: list[str]) -> list[int]:
    return [*accumulate((piece.count("\n") for piece in pieces[:-1]), initial=1)]


def _piece_of(edit: Edit, starts: list[int]) -> int:
    return max((index for index, line in enumerate(starts) if line <= edit.line), default=0)


def _edited(piece: str, edits: list[Edit], first: int) -> str:
    """A document that begins on line `first` with its edits, in the layout that it has."""
    root = load(piece)
    before = dump(root, piece)
    make(root, edits, first)
    after = dump(root, piece)
    wanted = values(after)
    sides = () if before == piece else (False, True)  # the parser's layout is the one that it has
    tries = (merged(piece, before, after, beside=beside) for beside in sides)
    done = next((kept for kept in tries if kept is not None and values(kept) == wanted), after)
    takes_away = any(edit.value is None and not edit.name for edit in edits)
    if not takes_away and lost_comments(done, piece):
        raise UnreadableError(why="a comment would be lost")
    return done


def make(root: Any, edits: Iterable[Edit], first: int) -> None:
    """Make the edits in a document that begins on line `first` of its file; one whose place is not there changes nothing."""
    placed = []
    for edit in edits:
        path = edit.path
        if edit.at is not None:  # the scalar that begins there, nothing where none does
            wanted = (edit.at.line - first, edit.at.column - 1)
            path = next((path for path, place in _scalars(root, ()) if place == wanted), ())
        placed.append((path, edit))
    for path, edit in placed:
        if edit.name and path and holds(at(root, path[:-1]), path[-1]):
            rename(at(root, path[:-1]), str(path[-1]), edit.name)
    # What goes away goes from the end, so that the places before it stay what they were.
    placed.sort(key=lambda at: [(step, "") if type(step) is int else (-1, str(step)) for step in at[0]], reverse=True)
    for path, edit in placed:
        if path and not edit.name:
            _apply(root, path, edit.value)


def _scalars(node: Any, path: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """The path and the place of every scalar, its line and column counted from 0."""
    is_map = isinstance(node, dict)
    place = node.lc.value if is_map else node.lc.item
    for key, child in node.items() if is_map else enumerate(node):
        if isinstance(child, dict | list):
            yield from _scalars(child, (*path, key))
        elif key in node.lc.data:  # what a merge brings in stands elsewhere
            yield (*path, key), place(key)


def at(root: Any, path: Path) -> Any:
    """The node at a path, None where there is none."""
    for step in path:
        if not holds(root, step):
            return None
        root = root[step]
    return root


def holds(node: Any, step: str | int) -> bool:
    """Whether a map has a key, or a list an index."""
    if isinstance(node, dict):
        return step in node
    return isinstance(node, list) and type(step) is int and 0 <= step < len(node)


def _apply(root: Any, path: Path, value: object) -> None:
    *above, last = path
    for step in above:
        if not holds(root, step) or root[step] is None:
            if value is None or not isinstance(root, dict):
                return
            root[step] = fresh({})
        root = root[step]
    if value is None:
        if holds(root, last):
            del root[last]
    elif holds(root, last):
        node = root[last]
        if not isinstance(value, list) or isinstance(node, list):
            root[last] = reshape(node, value)
        elif isinstance(node, dict) and all(isinstance(item, dict) and item.keys() == _ENTRY for item in value):
            root[last] = _entries(node, value)
        else:
            root[last] = fresh(value)
            root[last].fa.set_flow_style()
    elif isinstance(root, dict):
        root[last] = fresh(value)


def _entries(node: Any, wanted: list[dict[str, object]]) -> Any:
    """The entries of a map as items with `name` and `value`, in its style and with what is written beside them."""
    items = fresh([])
    for entry in wanted:
        name = entry["name"]
        item = fresh({"name": name})
        item["value"] = reshape(node[name], entry["value"])
        if name in node.ca.items:
            item.ca.items["value"] = node.ca.items[name]
        if node.fa.flow_style():
            item.fa.set_flow_style()
        items.append(item)
    if node.fa.flow_style():
        items.fa.set_flow_style()
    items.ca.comment = node.ca.comment
    return items


def merged(original: str, before: str, after: str, *, beside: bool = False) -> str | None:
    """The original with what differs between two texts; None where nobody can say where it belongs.

    `before` is the original as the parser writes it, `after` the same with edits. New lines are indented as the line
    that they stand in front of is in the original, or as the entry above them that they stand `beside`.
    """
    old, plain, new = (text.splitlines(keepends=True) for text in (original, before, after))
    # Which line of the original each line stands for.
    one, other = (["".join(line.split()) for line in lines] for lines in (plain, old))
    blocks = LineMatcher(one, other).get_matching_blocks() if one != other else [(0, 0, len(old))]
    places = {at + step: there + step for at, there, size in blocks for step in range(size)}
    out: list[str] = []
    for kind, start, end, first, last in LineMatcher(plain, new).get_opcodes():
        begin, stop = _boundary(places, start, len(plain), len(old)), _boundary(places, end, len(plain), len(old))
        if begin is None or stop is None:
            return None
        if kind == "equal":
            out += old[begin:stop]
            continue
        line = start
        if beside and first < last:
            # The last line above that begins an entry at the indent, the start itself where it would be the first entry.
            indent = _indent(new[first])
            above = (n for n in range(start - 1, -1, -1) if plain[n].strip() and not plain[n].strip().startswith("#"))
            nearest = next((number for number in above if _indent(plain[number]) <= indent), start)
            line = nearest if nearest < start and _indent(plain[nearest]) == indent else start
        place = begin if line == start else places.get(line, len(old))
        known = place < len(old) and line < len(plain)
        shift = _indent(old[place]) - _indent(plain[line]) if known else 0
        for added in new[first:last]:
            out.append(" " * shift + added if shift >= 0 else added[min(-shift, _indent(added)) :])
    return "".join(out)


def _boundary(places: dict[int, int], index: int, count: int, total: int) -> int | None:
    """Where the original has the boundary in front of a line."""
    if index in places:
        return places[index]
    if index == count:
        return total
    return places[index - 1] + 1 if index - 1 in places else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
