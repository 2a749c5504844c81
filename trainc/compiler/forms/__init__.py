"""The one fast path: what jobs of one form have in common is compiled once, and the rest is filled in.

It stands between load and the other stages, and knows no framework, no rule and no kind of job. Two texts have one
form where they differ only in numbers that may vary. A form is learned by compiling a job of it, and the same job with
other numbers in these places; docs/source.md says why what is filled in is what would have been compiled.
"""

from __future__ import annotations

from itertools import combinations

from trainc.compiler.forms.places import free_runs
from trainc.compiler.forms.template import clashes_of, template_of
from trainc.compiler.forms.text import CLASSES, LONGEST, PLAIN, Splitter, contexts, is_comparable, joined, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from trainc.compiler.forms.template import Template
    from trainc.compiler.forms.trial import Trial

    Key = tuple[str, ...]
    Values = list[str]
    Classes = Mapping[int, str]  # of the numbers that may vary, by their index
    Clashes = Mapping[int, Collection[str]]

MAX_TEMPLATES = 1_000  # some KiB each
_MAX_MET = 50_000  # texts and keys of which it is known when one was met
_MAX_FAILURES = 3  # templates that cannot be made before a form is given up
_PAYS = 8  # jobs that have to come for a template to be worth its trials, which take as long as six
# Templates that are learned however small the run is, and for each further one files of a run, or jobs filled in.
_FEWEST, _FILES_EACH, _FILLED_EACH = 2, 50, 10


class Form:
    """All texts of one skeleton: which of their numbers may vary, and a template for each choice of the others."""

    __slots__ = ("failures", "fixed", "free", "pairs", "templates")

    def __init__(self, free: tuple[int, ...], text: str) -> None:
        around = contexts(text)
        self.free = free
        self.fixed = tuple([index for index in range(len(around)) if index not in free])
        # Numbers that may be compared with each other, such as two that stand behind one name.
        pairs = [pair for pair in combinations(free, 2) if is_comparable(*[around[index] for index in pair])]
        self.pairs = [(index, other, bool(around[index])) for index, other in pairs]
        self.templates: dict[Key, Template | None] = {}  # None where none can be made
        self.failures = 0

    def key(self, values: Values) -> Key:
        """What has to be the same in two texts for which one template answers."""
        return (
            *[values[index] for index in self.fixed],
            *[CLASSES[values[index]] for index in self.free],
            *[relation(values[index], values[other], is_name=is_name) for index, other, is_name in self.pairs],
        )


def relation(value: str, other: str, *, is_name: bool) -> str:
    """How two numbers are related: equal, not at all, or, behind a word, one the beginning of the other.

    A name may be looked for in a longer one; nobody looks for a number in a longer one.
    """
    if value == other:
        return "="
    if not is_name:
        return ""
    return "<" if other.startswith(value) else ">" if value.startswith(other) else ""


class Forms:
    """The forms of the jobs of one cluster, learned while a run goes on; `files` is how many it has to read."""

    def __init__(self, trial: Trial, files: int) -> None:
        self._trial = trial
        self._files = files
        self._forms: dict[tuple[str, str], Form] = {}
        self._met: dict[int, int] = {}  # by text without digits, or key: which job of the run had it last
        self._asked = 0
        self._splitter = Splitter()
        self._count = 0  # of templates
        self._filled = 0

    def template(self, file: str, data: bytes, place: str) -> tuple[Template, Values] | None:
        """The template of a job's ASCII text and its numbers, None where the text has to be compiled.

        `place` stands for everything about the file on which its job depends.
        """
        self._asked += 1
        skeleton, values = self._splitter.split(data)
        form = self._forms.get((skeleton, place))
        if form is None:
            if not self._pays(hash((skeleton, place))):
                return None
            form = self._forms[skeleton, place] = self._form(file, data.decode())
        if not form.free or form.failures >= _MAX_FAILURES:
            return None
        key = form.key(values)
        if key in form.templates:
            template = form.templates[key]
        elif self._pays(hash((skeleton, place, key))):
            template = form.templates[key] = self._learn(form, file, data.decode(), values)
        else:
            return None
        if template is None or any(values[index] in taken for index, taken in template.clashes):
            return None
        self._filled += 1
        return template, values

    def _pays(self, mark: int) -> bool:
        """Whether a template is worth its trials: as many jobs of its kind come as the distance to the last one says.

        Where it comes otherwise, little is lost: what is learned is a small part of a run, or of what it has gained.
        """
        last = self._met.get(mark)
        if last is not None or len(self._met) < _MAX_MET:
            self._met[mark] = self._asked
        room = min(MAX_TEMPLATES, _FEWEST + self._files // _FILES_EACH + self._filled // _FILLED_EACH)
        return last is not None and self._count < room and self._files - self._asked >= _PAYS * (self._asked - last)

    def _form(self, file: str, text: str) -> Form:
        document = self._trial.document(file, text)
        return Form(free_runs(document, text) if document is not None else (), text)

    def _learn(self, form: Form, file: str, text: str, values: Values) -> Template | None:
        self._count += 1
        template = learned(self._trial, form, file, text, values)
        if template is None:
            form.failures += 1
        return template


def learned(trial: Trial, form: Form, file: str, text: str, values: Values) -> Template | None:
    """The template for a text of a form; None where a trial shows that it would not answer for all of them."""
    document = trial.document(file, text)
    classes = {index: name for index in form.free if (name := CLASSES[values[index]]) != values[index]}
    if document is None or not classes or free_runs(document, text) != form.free:
        return None
    [record] = trial.records(file, [text])
    if record is None:
        return None
    clashes = clashes_of(text, record, tuple(classes))
    taken = {*values, *[run for one in record.texts for run in split(one)[1]]}
    probes = (different(classes, taken), smallest(classes, clashes), largest(classes, clashes))
    probed = [_with(values, chosen) for chosen in probes if chosen is not None]
    if len(probed) < len(probes):
        return None
    skeleton = split(text)[0]
    records = trial.records(file, [joined(skeleton, one) for one in probed])
    first = records[0]
    if first is None:
        return None
    if first.facts() != record.facts():
        [again] = trial.records(file, [text])  # the first job of a runtime hears what is said of the runtime itself
        record = again or record
    template = template_of((record, values), (first, probed[0]), tuple(classes))
    if template is None or not all(
        one is not None and template.is_like(one, numbers) for one, numbers in zip(records, probed, strict=True)
    ):
        return None
    return template.without(clashes)


def _with(values: Values, chosen: dict[int, str]) -> Values:
    return [chosen.get(index, value) for index, value in enumerate(values)]


_FIRST, _STEP = 102_938, 1_009  # many different digits; far apart


def different(classes: Classes, taken: Collection[str]) -> dict[int, str] | None:
    """Numbers of different digits, rising, none of them twice or taken; None where a class has too few."""
    # What is taken is so for every place: each looks on where the one before it stopped.
    numbers = {name: _of_different_digits(name) for name in set(classes.values())}
    return _chosen(classes, taken, numbers.__getitem__, {})


def smallest(classes: Classes, clashes: Clashes) -> dict[int, str] | None:
    """The smallest and shortest numbers, the same for all of one class."""
    chosen: dict[str, str] = {}
    for name in set(classes.values()):
        banned = {run for index, of in classes.items() if of == name for run in clashes.get(index, ())}
        run_text = next((run for at in range(1_000) if (run := _spelled(name, at + (name == PLAIN))) not in banned), "")
        if not run_text:
            return None
        chosen[name] = run_text
    return {index: chosen[name] for index, name in classes.items()}


def largest(classes: Classes, clashes: Clashes) -> dict[int, str] | None:
    """The largest and longest numbers, all different, falling."""
    return _chosen(classes, (), _falling, clashes)


def _chosen(
    classes: Classes, taken: Collection[str], order: Callable[[str], Iterable[int]], clashes: Clashes
) -> dict[int, str] | None:
    used = set(taken)
    chosen: dict[int, str] = {}
    for index in sorted(classes):
        name = classes[index]
        banned = clashes.get(index, ())
        run = next((run for at in order(name) if (run := _spelled(name, at)) not in used and run not in banned), "")
        if not run:
            return None
        used.add(run)
        chosen[index] = run
    return chosen


def _room(name: str) -> int:
    """How many numbers a class has, or one behind the largest of them."""
    room: int = 10 ** (LONGEST if name == PLAIN else int(name[1:]) - 1)
    return room


def _of_different_digits(name: str) -> Iterator[int]:
    room = _room(name)
    # Behind a zero no number below 12345, or as many digits of it, has different ones.
    for number in range(_FIRST, room, _STEP) if room > _FIRST else range(room * 12_345 // 100_000, room):
        digits = _spelled(name, number)
        if len(set(digits)) == len(digits):
            yield number


def _falling(name: str) -> Iterable[int]:
    return range(_room(name) - 1, 0, -1)


def _spelled(name: str, number: int) -> str:
    return str(number) if name == PLAIN else f"{number:0{int(name[1:])}}"
