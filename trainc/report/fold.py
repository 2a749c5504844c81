"""Lines folded at blanks to the width of a terminal; no word is broken."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from unicodedata import combining, east_asian_width

from trainc.model.finding import Finding
from trainc.report.lines import Line, visible

_GAP = "  "  # between the columns of a table
_WIDE = "FW"  # Unicode's classes of characters that take two columns
_MAX_RULES_NAMED = 4  # rules named in one line
_STOPS_PODS = "secret-needed"  # never among those that are counted


def fold(line: Line, width: int) -> Iterator[Line]:
    """The rows that a line takes: the first as it is, the others below the line's last column.

    A word that is longer than the width stands on a row of its own.
    """
    segments = (("", line),) if isinstance(line, str) else line
    text = "".join(visible(part) for _, part in segments)
    if columns(text) <= width:
        yield line
        return
    hang, first = _shape(text, width)
    for index, (start, end) in enumerate(_rows(text, width, hang, first)):
        indent = (("", " " * hang),) if index else ()
        yield (*indent, *_slice(segments, start, end))


def columns(text: str) -> int:
    """How many columns a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in _WIDE else 1 for char in text)


def _shape(text: str, width: int) -> tuple[int, int]:
    """Where the rows after the first begin, and where the first one has to end, 0 for wherever it is full.

    They begin at the last column of a table, behind `= help: `, or a bit further in. The last column begins a row of its
    own where it stands too far to the right.
    """
    bare = text.lstrip()
    leading = len(text) - len(bare)
    if bare.startswith("= "):
        return leading + bare.find(": ") + 2, 0
    gap = text.rfind(_GAP)
    if leading < gap and gap + 2 <= width // 2:
        return gap + 2, 0
    further = min(leading + 4, width // 2)
    return further, gap if leading < gap <= width else 0


def _rows(text: str, width: int, hang: int, end: int) -> Iterator[tuple[int, int]]:
    """The start and end of each row's text, the first until `end`; blanks at which a row ends are left out."""
    start, room = 0, width
    while columns(text[start:]) > room:
        first = start + len(text[start:]) - len(text[start:].lstrip())
        if not end:
            end = text.rfind(" ", first, _reach(text, start, room) + 1)
            end = end if end >= 0 else text.find(" ", first)
        if end < 0:
            break
        yield start, end
        start = end + len(text[end:]) - len(text[end:].lstrip())
        room, end = width - hang, 0
    yield start, len(text)


def _reach(text: str, start: int, room: int) -> int:
    end = min(len(text), start + room)
    while columns(text[start:end]) > room:
        end -= 1
    return end


def _slice(segments: tuple[tuple[str, str], ...], start: int, end: int) -> Iterator[tuple[str, str]]:
    place = 0
    for code, part in segments:
        shown = visible(part)
        cut = shown[max(0, start - place) : max(0, end - place)]
        place += len(shown)
        if cut:
            yield code, cut.rstrip() if place >= end else cut


def folded(notes: Sequence[Finding], kinds_in: Callable[[str], Iterable[str]]) -> str:
    """Notes of a run as one line; `kinds_in` gives the kinds of the jobs in a file.

    A fact that holds for every job of an older kind is counted, the rules of all other notes are named.
    """
    # Kinds of which no table is printed, such as Volcano's Job, share rules with those of which one is.
    differing = [(note.rule.name, {*note.rule.differs}.intersection(kinds_in(note.span.file))) for note in notes]
    kinds = {kind for _, of_kinds in differing for kind in of_kinds}
    constant = {name for name, of_kinds in differing if of_kinds}
    others = [name for name, of_kinds in differing if not of_kinds]
    parts = []
    if constant:
        where = ", ".join(f"`trainc explain --kind {kind}`" for kind in sorted(kinds))
        differences = f"{len(constant)} difference{'s' if len(constant) > 1 else ''}"
        parts.append(f"{differences} from the operator{'s' if len(kinds) > 1 else ''}: {where}")
    if others:
        # First the note without which no pod starts, then the most frequent.
        counts = sorted(Counter(others).items(), key=lambda one: (one[0] != _STOPS_PODS, -one[1], one[0]))
        rule_names = [f"`{name}`" + (f" ({count})" if count > 1 else "") for name, count in counts[:_MAX_RULES_NAMED]]
        more = len(counts) - _MAX_RULES_NAMED
        rule_names += [f"{more} more rule{'s' if more > 1 else ''}"] if more > 0 else []
        parts.append(f"{'also ' if constant else ''}{', '.join(rule_names)}")
    return f"{'; '.join(parts)}; `trainc validate -v` shows {'all' if len(notes) > 1 else 'it'}"
