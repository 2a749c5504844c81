"""A template: what all jobs of one form become, with holes for their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import itemgetter

from trainc.compiler.forms.layout import Layout, Values, words_of
from trainc.compiler.forms.places import TELLING
from trainc.compiler.forms.record import HOLE, OWN_TEXTS, SEPARATOR, Record
from trainc.model.references import Reference

_MAX_WORDS = 1_000
_MARK = 0x1000  # what is behind a hole stands for its value: a letter that is in none
_LETTERS = re.compile("[A-Za-z0-9_./-]{3,}").findall  # a word of any class is a part of one such stretch


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
