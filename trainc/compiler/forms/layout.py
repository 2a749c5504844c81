"""A text as lines with holes: what stands before and behind the values that may vary, and how these are related."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter

from trainc.compiler.forms.places import CLASSES, holes
from trainc.model.document import Document

Values = tuple[str, ...]  # of the holes, in their order in the text
Tails = list[str]

_split = re.compile("(:[^\n]*)").split  # a single character is looked for ten times as fast as one of two
_BETWEEN = "\0"


def parted(text: str) -> tuple[str, Tails]:
    """What stands before the first `:` or `=` of each line, as one text, and what stands there and behind.

    Each `=` has a `:` before it in both, so that two texts with the same parts are the same.
    """
    parts = _split(text.replace("=", ":="))
    return _BETWEEN.join(parts[::2]), parts[1::2]


class Layout:
    """Where the holes of a text are, and the classes of what may stand in them; other texts may have the same."""

    __slots__ = ("_fixed", "_match", "_varying", "classes", "pattern", "pieces")

    def __init__(self, text: str, places: Sequence[tuple[int, int, str]]) -> None:
        """The layout of a text with holes at these places: start, end and class of each, in order."""
        self.classes = tuple([name for _, _, name in places])
        ends = [0, *[end for _, end, _ in places]]
        starts = [*[start for start, _, _ in places], len(text)]
        self.pieces = [text[end:start] for end, start in zip(ends, starts, strict=True)]
        marked = re.compile("\1([0-9]+)\1")
        tails = parted(self.text([f"\1{index}\1" for index in range(len(places))]))[1]
        varying = [index for index, tail in enumerate(tails) if "\1" in tail]
        fixed = [index for index, tail in enumerate(tails) if "\1" not in tail]
        patterns = []
        for index in varying:
            parts = marked.split(tails[index])
            parts[::2] = map(re.escape, parts[::2])
            parts[1::2] = [f"({CLASSES[self.classes[int(number)]]})" for number in parts[1::2]]
            patterns.append("".join(parts))
        self.pattern = "\n".join([*map(str, varying), *patterns])
        self._varying = _picking(varying)
        self._fixed = _picking(fixed)
        self._match = re.compile("\n".join(patterns)).fullmatch

    def read(self, tails: Tails) -> Values | None:
        """The values in the holes of a text with these tails; None where something else stands there."""
        found = self._match("\n".join(self._varying(tails)))
        return found.groups() if found is not None else None

    def key(self, tails: Tails, values: Values) -> Hashable:
        """What has to be the same in two texts for which one template answers."""
        words = words_of(values)
        return (
            self._fixed(tails),
            tuple(map(values.index, values)),
            tuple([word in value for word in words for value in values]),
        )

    def fixed_text(self) -> str:
        """The text without what is in its holes."""
        return _BETWEEN.join(self.pieces)

    def text(self, values: Sequence[str]) -> str:
        """The text with these values in its holes."""
        return "".join([part for pair in zip(self.pieces, (*values, ""), strict=True) for part in pair])


def words_of(values: Values) -> list[str]:
    """The values that are words, each once, in order: a rule may look for one of them in another text."""
    return [value for value in dict.fromkeys(values) if value[0] > "9"]


def layout_of(document: Document, text: str, *, whole_images: bool) -> Layout | None:
    """The layout of a text whose only document this is; None where nothing in it may vary."""
    places = []
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for span, start, end, name in holes(document, text, whole_images=whole_images):
        at = starts[span.line - 1]
        before = text[at : at + span.column - 1 + start]
        if ":" in before or "=" in before:
            places.append((at + span.column - 1 + start, at + span.column - 1 + end, name))
    return Layout(text, sorted(places)) if places else None


def _picking(indexes: Sequence[int]) -> Callable[[Tails], tuple[str, ...]]:
    if len(indexes) > 1:
        return itemgetter(*indexes)
    return lambda tails: tuple([tails[index] for index in indexes])
