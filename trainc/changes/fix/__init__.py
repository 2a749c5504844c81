"""The edits that findings carry, applied to the text they are about: comments, order and quotes stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainc.changes.fix.edits import make
from trainc.changes.fix.layout import merged
from trainc.changes.fix.layout import replacements as _replacements
from trainc.changes.migrate.chunks import UnreadableError, dump, load, lost_comments, split, values, with_line_ends
from trainc.model.finding import SAFE, UNSAFE
from trainc.text.line_diff import unified
from trainc.text.suppress import Suppress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.changes.fix.replacement import Replacement
    from trainc.model.finding import Edit, Finding
    from trainc.model.sourced import Span
    from trainc.model.tree import Path


class Fixed(NamedTuple):
    """A file's new text, the findings whose edits are in it, and those that still need a person.

    `obstacles` says of each document that cannot be edited at which line, and why.
    """

    text: str
    applied: tuple[Finding, ...]
    left: tuple[Finding, ...]
    obstacles: tuple[tuple[int, str], ...] = ()


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
    unreadable = {}
    for index, edits in chosen.items():
        try:
            pieces[index] = _edited(pieces[index], edits, starts[index])
        except UnreadableError as error:
            unreadable[index] = (starts[index] + error.line, str(error))
    if unreadable:
        left += [one for one in applied if _pieces(one, file, starts) & unreadable.keys()]
        applied = [one for one in applied if not _pieces(one, file, starts) & unreadable.keys()]
    return Fixed("".join(pieces), tuple(applied), tuple(left), tuple(unreadable.values()))


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with edits that no finding carries; a document that the parser which keeps comments refuses stays as it is."""
    chosen = tuple(edits)
    done: Fixed = with_line_ends(text, lambda unix: _edited_in(split(unix), chosen))
    return done.text


def _edited_in(pieces: list[str], edits: Iterable[Edit]) -> Fixed:
    starts = _starts(pieces)
    chosen: dict[int, list[Edit]] = {}
    for edit in edits:
        chosen.setdefault(_piece_of(edit, starts), []).append(edit)
    for index, own in chosen.items():
        with Suppress(UnreadableError):
            pieces[index] = _edited(pieces[index], own, starts[index])
    return Fixed("".join(pieces), (), ())


def replacements(text: str, finding: Finding, file: str) -> list[Replacement]:
    """What the safe edits of one finding replace in the text of `file`, none where it carries none."""
    done = fix(text, [finding], file)
    return _replacements(text, done.text) if done.applied else []


def diff(before: str, after: str, file: str) -> list[str]:
    """The lines of the change as a unified diff, none where there is none."""
    out = []
    for line in unified(_lines(before), _lines(after), (file, file), end="\n", context=3):
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
