"""The one fast path: what jobs of one form have in common is compiled once, and the rest is filled in.

It stands between load and the other stages, and knows no framework, no rule and no kind of job. Two texts have one
form where they differ only in values that may vary. A form is learned by compiling a job of it, and the same job with
other values in these places; docs/source.md says why what is filled in is what would have been compiled.
"""

import re
from collections.abc import Hashable, Iterable, Sequence

from trainc.compiler.forms.places import DECIMAL, LONGEST, NUMBER, POWER, TELLING
from trainc.compiler.forms.record import Trial
from trainc.compiler.forms.template import Layout, Tails, Template, Values, layout_of, parted, template_of

MAX_TEMPLATES = 1_000  # some KiB each
MAX_LAYOUTS = 4  # of texts whose lines begin alike
_MAX_MET = 50_000  # texts and keys of which it is known when one was met
_MAX_FAILURES = 3  # templates that cannot be made before a form is given up
_PAYS = 8  # jobs that have to come for a template to be worth its trials, which take as long as six
# Templates that are learned however small the run is, and for each further one files of a run, or jobs filled in.
_FEWEST, _FILES_EACH, _FILLED_EACH = 2, 50, 10
_ASKED_EACH = 20  # files that were read, for each layout beyond those: files that are all unlike have many
STYLES = DIFFERENT, SHORTEST, LONG = ("different", "shortest", "longest")
_RUNS = re.compile("(\1[0-9]+\1|[0-9]+|[A-Za-z][A-Za-z0-9]*)").split
_LETTERS = "bcdfghjkmpqrtvwxz"  # no two words of three of them, behind a letter that is none, hold one another
_FIRST, _STEP = 102_938, 1_009  # of numbers with many different digits, far apart


class Form:
    """Texts whose lines begin alike and that have one layout, and a template for each choice of what does not vary."""

    __slots__ = ("failures", "layout", "templates")

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.templates: dict[Hashable, Template | None] = {}  # None where none can be made
        self.failures = 0


class Forms:
    """The forms of the jobs of one cluster, learned while a run goes on; `files` is how many it has to read."""

    def __init__(self, trial: Trial, files: int, *, whole_images: bool = False) -> None:
        self._trial = trial
        self._files = files
        self._whole_images = whole_images
        self._forms: dict[tuple[str, str], list[Form]] = {}
        self._tries: dict[tuple[str, str], int] = {}  # texts of which nobody found a layout
        self._met: dict[int, int] = {}  # by the beginnings of lines, or key: which job of the run had it last
        self._asked = 0
        self._count = 0  # of templates
        self._layouts = 0  # that were looked for
        self._filled = 0

    def template(self, file: str, data: bytes, place: str) -> tuple[Template, Values] | None:
        """The template of a job's ASCII text and its values, None where it is compiled; `place`: all else that it depends on."""
        self._asked += 1
        text = data.decode()
        heads, tails = parted(text)
        form, values = self._form(self._forms.get((heads, place), ()), tails)
        if form is None and self._pays(hash((heads, place))) and self._has_room():
            form, values = self._another((heads, place), file, text)
        if form is None or form.failures >= _MAX_FAILURES:
            return None
        key = form.layout.key(tails, values)
        if key in form.templates:
            template = form.templates[key]
        elif not TELLING("\n".join(values)) and self._pays(hash((heads, place, form.layout.pattern, key))):
            self._count += 1
            template = learned(self._trial, form.layout, file, text, values, whole_images=self._whole_images)
            form.templates[key] = template
            form.failures += template is None
        else:
            return None
        if template is None or template.clashes(values):
            return None
        self._filled += 1
        return template, values

    def _form(self, forms: Iterable[Form], tails: Tails) -> tuple[Form | None, Values]:
        """The form that a text with these tails has, and its values."""
        for form in forms:
            if (values := form.layout.read(tails)) is not None:
                return form, values
        return None, ()

    def _another(self, start: tuple[str, str], file: str, text: str) -> tuple[Form | None, Values]:
        """The form of a text that has none of those known."""
        self._layouts += 1
        tries = self._tries[start] = self._tries.get(start, 0) + 1
        if tries > MAX_LAYOUTS:
            return None, ()
        document = self._trial.document(file, text)
        layout = layout_of(document, text, whole_images=self._whole_images) if document is not None else None
        values = layout.read(parted(text)[1]) if layout is not None else None
        if layout is None or values is None:
            return None, ()
        form = Form(layout)
        self._forms.setdefault(start, []).append(form)
        self._met.pop(hash(start), None)  # a single odd text is no reason for another layout
        return form, values

    def _has_room(self) -> bool:
        """Whether another layout may be looked for, which takes as long as a quarter of a job."""
        return self._layouts < _FEWEST + self._asked // _ASKED_EACH + self._filled // _FILLED_EACH

    def _pays(self, mark: int) -> bool:
        """Whether a template is worth its trials: as many jobs of its kind come as the distance to the last one says.

        Where it comes otherwise, little is lost: what is learned is a small part of a run, or of what it has gained.
        """
        last = self._met.get(mark)
        if last is not None or len(self._met) < _MAX_MET:
            self._met[mark] = self._asked
        room = min(MAX_TEMPLATES, _FEWEST + self._files // _FILES_EACH + self._filled // _FILLED_EACH)
        return last is not None and self._count < room and self._files - self._asked >= _PAYS * (self._asked - last)


def learned(
    trial: Trial, layout: Layout, file: str, text: str, values: Values, *, whole_images: bool = False
) -> Template | None:
    """The template for a text of a layout; None where a trial shows that it would not answer for all of them."""
    document = trial.document(file, text)
    own = layout_of(document, text, whole_images=whole_images) if document is not None else None
    if own is None or own.pattern != layout.pattern:
        return None
    key = own.key(parted(text)[1], values)
    probes = [probe(values, own.classes, style) for style in STYLES]
    texts = [own.text(one) for one in probes]
    for probed, one in zip(probes, texts, strict=True):
        tails = parted(one)[1]
        if own.read(tails) != probed or own.key(tails, probed) != key:
            return None
    [record] = trial.records(file, [text])
    records = trial.records(file, texts)
    first = records[0]
    if record is None or first is None:
        return None
    if first.facts() != record.facts():
        [again] = trial.records(file, [text])  # the first job of a runtime hears what is said of the runtime itself
        record = again or record
    template = template_of(first, probes[0], own)
    compared = zip((record, *records), (values, *probes), strict=True)
    return template if all(one is not None and template.is_like(one, given) for one, given in compared) else None


def probe(values: Values, classes: Sequence[str], style: str) -> Values:
    """A value for each hole: the same where values are the same, one within another where they are so."""
    made: dict[str, str] = {}
    for serial, text in enumerate(sorted(dict.fromkeys(values), key=len)):
        inner = [known for known in made if known[0] > "9" and known in text]
        name = classes[values.index(text)]
        if inner:
            made[text] = _around(text, sorted(inner, key=len, reverse=True), made, style, serial)
        elif name in _NUMBERS:
            made[text] = _NUMBERS[name](style, serial)
        else:
            is_alone = not any(text in other for other in values if other != text)
            made[text] = _word(style, serial, LONGEST if is_alone else LONGEST // 3)
    return tuple([made[text] for text in values])


def _word(style: str, serial: int, most: int) -> str:
    word = "a" + _LETTERS[serial // len(_LETTERS) % len(_LETTERS)] + _LETTERS[serial % len(_LETTERS)]
    if style == DIFFERENT:
        return f"{word}-{_FIRST + _STEP * (serial + 100)}"
    return word if style == SHORTEST else word + f"-9{word[1:]}" * ((most - len(word)) // 4)


def _around(text: str, inner: list[str], made: dict[str, str], style: str, serial: int) -> str:
    """A text with other words and numbers around those inside that are made already."""
    for index, known in enumerate(inner):
        text = text.replace(known, f"\1{index}\1")
    parts = _RUNS(text)
    for at in range(1, len(parts), 2):
        run = parts[at]
        if run[0] == "\1":
            parts[at] = made[inner[int(run[1:-1])]]
        elif run[0] > "9":
            parts[at] = _word(SHORTEST, serial + at * 20, 3)
        elif run[0] != "0":
            parts[at] = _number(style, serial + at * 20)
        elif len(run) > 1:
            parts[at] = (
                "0" * len(run) if style == SHORTEST else _number(LONG, serial)[: len(run) - 1].rjust(len(run), "0")
            )
    return "".join(parts)


def _number(style: str, serial: int) -> str:
    if style == DIFFERENT:
        return str(_FIRST + _STEP * serial)
    return str(1 + serial if style == SHORTEST else 999_999 - serial)


def _decimal(style: str, serial: int) -> str:
    return f"0.{_number(style, serial)}" if style != LONG else f"999.{_number(style, serial)}"


def _power(style: str, serial: int) -> str:
    if style == DIFFERENT:
        return f"{2 + serial % 8}.{500 + serial}e-7"
    return f"{1 + serial % 9}e-{1 + serial // 9 % 9}" if style == SHORTEST else f"9.{999 - serial}e-9"


_NUMBERS = {NUMBER: _number, DECIMAL: _decimal, POWER: _power}
