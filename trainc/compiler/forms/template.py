"""A text as lines with holes, and a template: what all jobs whose texts have one form become, with holes for their values."""

import re
from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter

from trainc.compiler.forms.places import CLASSES, TELLING, holes
from trainc.compiler.forms.record import HOLE, OWN_TEXTS, SEPARATOR, Record
from trainc.model.document import Document
from trainc.model.references import Reference

Values = tuple[str, ...]  # of the holes, in their order in the text
Tails = list[str]

_split = re.compile("(:[^\n]*)").split  # a single character is looked for ten times as fast as one of two
_BETWEEN = "\0"
_MAX_WORDS = 1_000
_MARK = 0x1000  # what is behind a hole stands for its value: a letter that is in none
_LETTERS = re.compile("[A-Za-z0-9_./-]{3,}").findall  # a word of any class is a part of one such stretch


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


class Template:
    """Fills in the record of a job."""

    __slots__ = ("_fixed", "_harmless", "_pick", "_pieces", "_texts", "_varying", "record", "references")

    def __init__(self, record: Record, filled: str, holes: tuple[int, ...], layout: Layout) -> None:
        parts = filled.split(SEPARATOR)
        # Texts without holes are the same objects for all jobs: a run keeps the names of each.
        self._texts = ["" if HOLE in one else one for one in parts]
        self._varying = [at for at, one in enumerate(parts) if HOLE in one]
        fixed = SEPARATOR.join([parts[at] for at in self._varying]).split(HOLE)
        self._pieces = [piece for one in fixed for piece in (one, "")][:-1]  # of the texts that vary, and their holes
        named = [str(part) for one in sorted(record.runtimes) for part in one]
        self._harmless: set[str] = set()  # words that are not found in it
        fixed_texts = SEPARATOR.join([filled, layout.fixed_text(), *named])
        self._fixed = "\n".join(dict.fromkeys(_LETTERS(fixed_texts)))
        # Where the texts of each reference start, and the reference itself where it is the same for all jobs.
        starts = range(OWN_TEXTS + 4 * record.names, len(self._texts), 4)
        varying = {at for at in starts if not set(range(at, at + 4)).isdisjoint(self._varying)}
        self.references = [(at, None if at in varying else Reference(*self._texts[at : at + 4])) for at in starts]
        self._pick: Callable[[Values], tuple[str, ...]] = (
            itemgetter(*holes) if len(holes) > 1 else lambda values: tuple([values[hole] for hole in holes])
        )
        self.record = record._replace(texts=())  # of the job that it was made from only the facts stay

    def clashes(self, values: Values) -> bool:
        """Whether a word means something, or is found in what does not vary and may mean the same: such a job is compiled."""
        new = [word for word in words_of(values) if word not in self._harmless]
        if TELLING("\n".join(new)) or any(map(self._fixed.__contains__, new)):
            return True
        if len(self._harmless) > _MAX_WORDS:
            self._harmless.clear()
        self._harmless.update(new)
        return False

    def texts(self, values: Values) -> list[str]:
        """The texts of the record of a job with these values."""
        texts, pieces = self._texts.copy(), self._pieces.copy()
        pieces[1::2] = self._pick(values)
        for at, text in zip(self._varying, "".join(pieces).split(SEPARATOR), strict=False):
            texts[at] = text
        return texts

    def is_like(self, record: Record, values: Values) -> bool:
        """Whether a job with these values, compiled in full, left behind what the template says."""
        is_same = self.record.facts() == record.facts() and self.texts(values) == list(record.texts)
        return is_same and not self.clashes(values)


def template_of(record: Record, values: Values, layout: Layout) -> Template:
    """The template that a job of a layout gives whose values are found nowhere else in what it becomes."""
    text = SEPARATOR.join(record.texts)
    for value in sorted(dict.fromkeys(values), key=len, reverse=True):
        text = text.replace(value, HOLE + chr(_MARK + values.index(value)))
    first, *others = text.split(HOLE)
    holes = tuple([ord(part[0]) - _MARK for part in others])
    return Template(record, HOLE.join([first, *[part[1:] for part in others]]), holes, layout)
