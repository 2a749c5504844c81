"""The edits that findings carry, applied to the text they are about: comments, order and quotes stay."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NamedTuple

from trainc.migrate.chunks import UnreadableError, dump, fresh, load, reshape, split, with_line_ends
from trainc.migrate.keys import rename

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.finding import Edit, Finding
    from trainc.model.tree import Path

SAFE, UNSAFE = "safe", "unsafe"


class Fixed(NamedTuple):
    """A file's new text, the findings whose edits are in it, and those that still need a person."""

    text: str
    applied: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix(text: str, findings: Iterable[Finding], file: str, *, unsafe: bool = False) -> Fixed:
    """The text of `file` with the safe edits of its findings, with `unsafe` also those that may change the meaning.

    A finding's edits are applied all or not at all; of two findings that change one place the first wins. In a
    document that the parser which keeps comments refuses, none is applied. Line ends stay what most of them are.
    """
    chosen = tuple(findings)
    done: Fixed = with_line_ends(text, lambda unix: _fixed(unix, chosen, file, unsafe=unsafe))
    return done


def _fixed(text: str, findings: Iterable[Finding], file: str, *, unsafe: bool) -> Fixed:
    allowed = {SAFE, UNSAFE} if unsafe else {SAFE}
    pieces = split(text)
    starts = _starts(pieces)
    touched: set[tuple[int, Path]] = set()
    chosen: dict[int, list[Edit]] = {}
    applied: list[Finding] = []
    left: list[Finding] = []
    for finding in findings:
        edits = [edit for edit in finding.fix if edit.file == file]
        places = {(_piece_of(edit, starts), edit.path) for edit in edits}
        if not edits or any(e.safety not in allowed for e in finding.fix) or places & touched:
            left.append(finding)
            continue
        touched |= places
        applied.append(finding)
        for edit in edits:
            chosen.setdefault(_piece_of(edit, starts), []).append(edit)
    unreadable = set()
    for index, edits in chosen.items():
        try:
            pieces[index] = _edited(pieces[index], edits)
        except UnreadableError:
            unreadable.add(index)
    if unreadable:
        left += [one for one in applied if _pieces(one, file, starts) & unreadable]
        applied = [one for one in applied if not _pieces(one, file, starts) & unreadable]
    return Fixed("".join(pieces), tuple(applied), tuple(left))


def diff(before: str, after: str, file: str) -> list[str]:
    """The lines of the change as a unified diff, none where there is none."""
    out = []
    for line in difflib.unified_diff(_lines(before), _lines(after), file, file):
        out.append(line.removesuffix("\n"))
        if not line.endswith("\n"):
            out.append("\\ No newline at end of file")
    return out


def _lines(text: str) -> list[str]:
    """The lines of a text as Git counts them, each with its line end."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]


def _starts(pieces: list[str]) -> list[int]:
    starts, line = [], 1
    for piece in pieces:
        starts.append(line)
        line += piece.count("\n")
    return starts


def _pieces(finding: Finding, file: str, starts: list[int]) -> set[int]:
    return {_piece_of(edit, starts) for edit in finding.fix if edit.file == file}


def _piece_of(edit: Edit, starts: list[int]) -> int:
    return max((index for index, line in enumerate(starts) if line <= edit.line), default=0)


def _edited(piece: str, edits: list[Edit]) -> str:
    root = load(piece)
    for former, name in _renamings(root, edits):
        rename(_at(root, former[:-1]), str(former[-1]), name)
    # What goes away goes from the end, so that the places before it stay what they were.
    for edit in sorted(edits, key=lambda e: _order(e.path), reverse=True):
        _apply(root, edit)
    return dump(root, piece)


def _order(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if type(step) is int else (-1, str(step)) for step in path)


def _renamings(root: Any, edits: list[Edit]) -> list[tuple[Path, str]]:
    """Pairs of edits that only call a key otherwise: one takes it away, one sets the same value beside it."""
    gone = [edit.path for edit in edits if edit.value is None]
    renamings = []
    for edit in edits:
        for path in gone:
            beside = path[:-1] == edit.path[:-1] and path != edit.path and edit.value is not None
            if beside and _at(root, path) == edit.value:
                renamings.append((path, str(edit.path[-1])))
    return renamings


def _at(root: Any, path: Path) -> Any:
    for step in path:
        if not _holds(root, step):
            return None
        root = root[step]
    return root


def _holds(node: Any, step: str | int) -> bool:
    if isinstance(node, dict):
        return step in node
    return isinstance(node, list) and type(step) is int and 0 <= step < len(node)


def _apply(root: Any, edit: Edit) -> None:
    *above, last = edit.path
    for step in above:
        if not _holds(root, step):
            if edit.value is None or not isinstance(root, dict):
                return
            root[step] = fresh({})
        root = root[step]
    if edit.value is None:
        if _holds(root, last):
            del root[last]
    elif _holds(root, last):
        root[last] = reshape(root[last], edit.value)
    elif isinstance(root, dict):
        root[last] = fresh(edit.value)
