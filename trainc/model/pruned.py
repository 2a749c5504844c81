"""Where a text says what was taken out of its tree: what is found there may come of the taking."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from trainc.model.sourced import Span
from trainc.model.tree import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.tree import Tree

    Point = tuple[str, int, int]  # file, line, column

_LINE_END = 1 << 62  # behind every column


class Taken:
    """What was taken out of the `whole` tree, as stretches of its text.

    Each goes from the value before it, or the start of its line, to its end, or that of its line: where every value has
    a line of its own that is all of these lines, and on a line with others it is a value with its keys.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, stretches: Iterable[Span], whole: Tree) -> None:
        spans = [leaf.origin.at for _, leaf in leaves(whole) if leaf.origin.at is not None]
        starts, ends = sorted(map(_start, spans)), sorted(map(_end, spans))
        self._starts: list[Point] = []
        self._ends: list[Point] = []
        for start, end in sorted((_from(one, ends), _to(one, starts)) for one in stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, span: Span) -> bool:
        """Whether a place begins or ends in what was taken."""
        last = (span.file, span.end_line, max(1, span.end_column - 1))
        return self._has(_start(span)) or self._has(last)

    def _has(self, point: Point) -> bool:
        index = bisect_right(self._starts, point)
        return index > 0 and point < self._ends[index - 1]


def stretch(node: Tree) -> Span | None:
    """The text from the first value of a part of a tree to its last one, None where nobody wrote any."""
    spans = [leaf.origin.at for _, leaf in leaves(node) if leaf.origin.at is not None]
    if not spans:
        return None
    first, last = min(spans, key=_start), max(spans, key=_end)
    return Span(first.file, first.line, first.column, last.end_line, last.end_column)


def _from(one: Span, ends: list[Point]) -> Point:
    """Where a stretch begins with its keys."""
    before = bisect_right(ends, _start(one))
    is_alone = not before or ends[before - 1][:2] != (one.file, one.line)
    return one.file, one.line, 1 if is_alone else ends[before - 1][2]


def _to(one: Span, starts: list[Point]) -> Point:
    """Where a stretch ends."""
    behind = bisect_left(starts, _end(one))
    is_last = behind == len(starts) or starts[behind][:2] != (one.file, one.end_line)
    return one.file, one.end_line, _LINE_END if is_last else one.end_column


def _start(span: Span) -> Point:
    return span.file, span.line, span.column


def _end(span: Span) -> Point:
    return span.file, span.end_line, span.end_column
