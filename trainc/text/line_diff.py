"""Which lines of two texts stand for each other, in time that grows with the texts and not with their square."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import NamedTuple

_LONGEST = 1_500  # lines without one that both texts have once, up to which each is compared with each


class LineMatcher(SequenceMatcher[str]):
    """The standard library's matcher, told where to look: lines that both texts have once stand for each other.

    Between two such lines it works as always. Where there is none in many lines, only their equal first and last
    lines are matched.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        self._before, self._after = before, after
        super().__init__(None, before, after)

    def get_matching_blocks(self) -> list[Match]:
        """Equal runs of lines in order; the last one is empty and stands behind both texts."""
        blocks: list[Match] = []
        start, other = 0, 0
        for line, stop in [*_anchors(self._before, self._after), (len(self._before), len(self._after))]:
            for block in _blocks(self._before[start:line], self._after[other:stop]):
                _join(blocks, block._replace(a=block.a + start, b=block.b + other))
            _join(blocks, Match(line, stop, 1))
            start, other = line + 1, stop + 1
        last = blocks.pop()
        if last.size > 1:
            blocks.append(last._replace(size=last.size - 1))
        return [*blocks, Match(len(self._before), len(self._after), 0)]


def unified(
    before: Sequence[str], after: Sequence[str], names: tuple[str, str], end: str, context: int
) -> Iterator[str]:
    """A unified diff with lines of context; `end` stands behind the lines that the texts do not have."""
    groups = [group for group in LineMatcher(before, after).get_grouped_opcodes(context) if group]
    if groups:
        yield f"--- {names[0]}{end}"
        yield f"+++ {names[1]}{end}"
    for group in groups:
        (_, start, _, first, _), (_, _, stop, _, last) = group[0], group[-1]
        yield f"@@ -{_range(start, stop)} +{_range(first, last)} @@{end}"
        for kind, begin, close, opening, closing in group:
            if kind == "equal":
                yield from (f" {line}" for line in before[begin:close])
            else:
                yield from (f"-{line}" for line in before[begin:close])
                yield from (f"+{line}" for line in after[opening:closing])


def _range(start: int, stop: int) -> str:
    if stop - start == 1:
        return f"{stop}"
    return f"{start + 1 if stop > start else start},{stop - start}"


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """The longest chain of lines that each text has once, in the order of both: positions in one and the other."""
    mine, theirs = _single(before), _single(after)
    pairs = [(line, theirs[text]) for text, line in mine.items() if text in theirs]
    ends: list[int] = []  # the least last position of a chain of each length
    chains: list[tuple[int, int, int]] = []  # each pair with the one before it in its chain
    last: list[int] = []  # which pair that last position is of
    for line, other in sorted(pairs):
        length = bisect_left(ends, other)
        chains.append((line, other, last[length - 1] if length else -1))
        ends[length : length + 1], last[length : length + 1] = [other], [len(chains) - 1]
    chain = []
    at = last[-1] if last else -1
    while at >= 0:
        line, other, at = chains[at]
        chain.append((line, other))
    return chain[::-1]


def _single(lines: Sequence[str]) -> dict[str, int]:
    """The lines that a text has once, with their positions."""
    known: dict[str, int] = {}
    for number, line in enumerate(lines):
        known[line] = -1 if line in known else number
    return {line: number for line, number in known.items() if number >= 0}


def _blocks(before: Sequence[str], after: Sequence[str]) -> Iterator[Match]:
    head, tail = _equal_ends(before, after)
    yield Match(0, 0, head)
    one, other = before[head : len(before) - tail], after[head : len(after) - tail]
    if one and other and max(len(one), len(other)) <= _LONGEST:
        for block in SequenceMatcher(None, one, other).get_matching_blocks():
            yield Match(block.a + head, block.b + head, block.size)
    yield Match(len(before) - tail, len(after) - tail, tail)


def _equal_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How many items two sequences have alike at their start, and behind that at their end."""
    shorter = min(len(one), len(other))
    head = next((at for at in range(shorter) if one[at] != other[at]), shorter)
    return head, next((at for at in range(shorter - head) if one[-1 - at] != other[-1 - at]), shorter - head)


def _join(blocks: list[Match], block: Match) -> None:
    """Add a run; one that goes on where the last one ends is the same run."""
    last = blocks[-1] if blocks else None
    if last is not None and (last.a + last.size, last.b + last.size) == (block.a, block.b):
        blocks[-1] = last._replace(size=last.size + block.size)
    elif block.size:
        blocks.append(block)


class Replacement(NamedTuple):
    """From a line and a column, counted from 1, up to but without its end: what is written there instead."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def differing_parts(before: str, after: str) -> list[Replacement]:
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
    head, tail = _equal_ends(old, new)
    return Replacement(number, head + 1, number, len(old) - tail + 1, new[head : len(new) - tail])
