"""What an edit changes, taken over into a text whose layout the parser that keeps comments would not keep."""

from __future__ import annotations

from trainc.text.line_diff import LineMatcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from trainc.text.record import NamedTuple


def merged(original: str, before: str, after: str, *, beside: bool = False) -> str | None:
    """The original with what differs between two texts; None where nobody can say where it belongs.

    `before` is the original as the parser writes it, `after` the same with edits. New lines are indented as the line
    that they stand in front of is in the original, or as the entry above them that they stand `beside`.
    """
    old, plain, new = (text.splitlines(keepends=True) for text in (original, before, after))
    places = _places(plain, old)
    out: list[str] = []
    for kind, start, end, first, last in LineMatcher(plain, new).get_opcodes():
        begin, stop = _boundary(places, start, len(plain), len(old)), _boundary(places, end, len(plain), len(old))
        if begin is None or stop is None:
            return None
        if kind == "equal":
            out += old[begin:stop]
            continue
        line = _sibling(plain, start, _indent(new[first])) if beside and first < last else start
        place = begin if line == start else places.get(line, len(old))
        known = place < len(old) and line < len(plain)
        shift = _indent(old[place]) - _indent(plain[line]) if known else 0
        out += [_shifted(line, shift) for line in new[first:last]]
    return "".join(out)


def _places(plain: list[str], old: list[str]) -> dict[int, int]:
    """Which line of the original each line stands for."""
    one, other = (["".join(line.split()) for line in lines] for lines in (plain, old))
    if one == other:
        return dict(enumerate(range(len(old))))
    blocks = LineMatcher(one, other).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}


def _sibling(lines: list[str], end: int, indent: int) -> int:
    """The last line above `end` that begins an entry at an indent, `end` itself where the entry would be the first."""
    for number in range(end - 1, -1, -1):
        text = lines[number].strip()
        if text and not text.startswith("#") and _indent(lines[number]) <= indent:
            return number if _indent(lines[number]) == indent else end
    return end


def _boundary(places: dict[int, int], index: int, count: int, total: int) -> int | None:
    """Where the original has the boundary in front of a line."""
    if index in places:
        return places[index]
    if index == count:
        return total
    return places[index - 1] + 1 if index - 1 in places else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _shifted(line: str, shift: int) -> str:
    if shift >= 0:
        return " " * shift + line
    return line[min(-shift, _indent(line)) :]


def replacements(before: str, after: str) -> list[Replacement]:
    """The parts in which two texts differ: whole lines, or what differs within lines that stand for each other."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    out = []
    for kind, start, end, first, last in LineMatcher(old, new).get_opcodes():
        if kind == "equal":
            continue
        if end - start == last - first:
            out += [_within(start + step + 1, old[start + step], new[first + step]) for step in range(end - start)]
        else:
            out.append(Replacement(start + 1, 1, end + 1, 1, "".join(new[first:last])))
    return out


def _within(number: int, old: str, new: str) -> Replacement:
    """What differs between two lines."""
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    return Replacement(number, head + 1, number, len(old) - tail + 1, new[head : len(new) - tail])


class Replacement(NamedTuple):
    """From a line and a column, counted from 1, up to but without its end: what is written there instead."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
