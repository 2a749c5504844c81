"""A template: what all jobs of one form become, with holes for their numbers."""

from __future__ import annotations

from operator import itemgetter

from trainc.compiler.forms.record import HOLE, OWN_TEXTS, SEPARATOR
from trainc.compiler.forms.text import contexts, is_comparable, split
from trainc.model.references import Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trainc.compiler.forms.record import Record

    Values = Sequence[str]  # the runs of digits of a job's text


class Template:
    """Fills in the record of a job; `clashes` gives for a run, by its index, what it must not be.

    A number that is equal to one that does not vary may mean the same as that: such a job is compiled.
    """

    __slots__ = ("_pick", "_pieces", "_texts", "_varying", "clashes", "record", "references")

    def __init__(self, record: Record, layout: str, holes: tuple[int, ...]) -> None:
        self.record = record
        parts = layout.split(SEPARATOR)
        # Texts without holes are the same objects for all jobs: a run keeps the names of each.
        self._texts = ["" if HOLE in one else one for one in parts]
        self._varying = [at for at, one in enumerate(parts) if HOLE in one]
        fixed = SEPARATOR.join([parts[at] for at in self._varying]).split(HOLE)
        self._pieces = [piece for one in fixed for piece in (one, "")][:-1]  # of the texts that vary, and their holes
        self.references = self._references(record)
        self._pick: Callable[[Values], tuple[str, ...]] = (
            itemgetter(*holes) if len(holes) > 1 else lambda values: tuple([values[hole] for hole in holes])
        )
        self.clashes: tuple[tuple[int, frozenset[str]], ...] = ()

    def _references(self, record: Record) -> list[tuple[int, Reference | None]]:
        """Where the texts of each reference start, and the reference itself where it is the same for all jobs."""
        starts = range(OWN_TEXTS + 4 * record.names, len(self._texts), 4)
        varying = {at for at in starts if not set(range(at, at + 4)).isdisjoint(self._varying)}
        return [(at, None if at in varying else Reference(*self._texts[at : at + 4])) for at in starts]

    def without(self, clashes: dict[int, frozenset[str]]) -> Template:
        """This template for texts without clashes; of the job that it was made from only the facts stay."""
        self.record = self.record._replace(texts=())
        self.clashes = tuple(clashes.items())
        return self

    def texts(self, values: Values) -> list[str]:
        """The texts of the record of a job with these numbers."""
        texts, pieces = self._texts.copy(), self._pieces.copy()
        pieces[1::2] = self._pick(values)
        for at, text in zip(self._varying, "".join(pieces).split(SEPARATOR), strict=False):
            texts[at] = text
        return texts

    def is_like(self, record: Record, values: Values) -> bool:
        """Whether a job with these numbers, compiled in full, left behind what the template says."""
        return self.record.facts() == record.facts() and self.texts(values) == list(record.texts)


def template_of(real: tuple[Record, Values], probe: tuple[Record, Values], free: Iterable[int]) -> Template | None:
    """The template of two jobs of a form whose free numbers all differ; None where one cannot be made into the other.

    Every number of the probe's record is either that of the real one's, or that of one free number of its text.
    """
    (record, values), (other, probes) = real, probe
    if record.facts() != other.facts():
        return None
    text, numbers = split(SEPARATOR.join(record.texts))
    probed_text, probed_numbers = split(SEPARATOR.join(other.texts))
    if text != probed_text:
        return None
    index_of = {probes[index]: index for index in free}
    holes: list[int] = []
    pieces: list[str] = []
    for piece, number, probed in zip(text.split("0"), (*numbers, ""), (*probed_numbers, ""), strict=True):
        pieces.append(piece)
        index = index_of.get(probed)
        if index is not None and values[index] == number:
            holes.append(index)
            pieces.append(HOLE)
        elif number == probed:
            pieces.append(number)
        else:
            return None
    return Template(record, "".join(pieces), tuple(holes))


def clashes_of(text: str, record: Record, free: Sequence[int]) -> dict[int, frozenset[str]]:
    """For each free run of a job's text, the runs in comparable contexts that do not vary, in the job or what it becomes."""
    varying = set(free)
    runs, around = split(text)[1], contexts(text)
    own = {(around[index], runs[index]) for index in free}
    fixed = {(around[index], run) for index, run in enumerate(runs) if index not in varying}
    for one in record.texts:
        fixed.update(zip(contexts(one), split(one)[1], strict=True))
    clashes: dict[int, frozenset[str]] = {}
    for index in free:
        taken = {run for context, run in fixed - own if is_comparable(context, around[index])}
        if around[index]:
            # A name may be looked for in a longer one: `bert-1` in `bert-12`.
            taken = {run[:end] for run in taken for end in range(1, len(run) + 1)} - {runs[index]}
        if taken:
            clashes[index] = frozenset(taken)
    return clashes
