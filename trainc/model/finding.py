"""What trainc tells people, as data; words and colours live in `trainc.report`."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from trainc.model.rule_selection import NO_FACTS, rule_facts
from trainc.model.sourced import Origin, Span

NOTE, WARNING, ERROR = "note", "warning", "error"
LEVELS = (NOTE, WARNING, ERROR)
SAFE, UNSAFE = "safe", "unsafe"  # edits that keep the meaning, and those that may change it


class Rule:
    """One kind of finding; the words of its page are for most rules of trainc in `lint/catalogue/rules.toml`."""

    __slots__ = ("_summary", "_why", "admission", "compares", "differs", "level", "name", "unreadable", "verdict")

    def __init__(
        self,
        name: str,
        level: str,
        summary: str = "",
        why: str = "",
        *,
        verdict: bool = False,
        admission: bool = False,
        unreadable: bool = False,
        differs: tuple[str, ...] = (),
        compares: bool = False,
    ) -> None:
        self.name = name  # what users see, search for and suppress
        self.level = level
        self._summary = summary
        self._why = why
        self.verdict = verdict  # a server's own refusal, which nobody can suppress
        self.unreadable = unreadable  # why a text gives no document: suppressed, what it holds would disappear
        self.differs = differs  # the older kinds whose every job differs from its operator in this way
        self.compares = compares  # said of an edit: another finding about the same text may be the cause
        self.admission = admission or verdict or unreadable  # also looked for under `--only admission`

    @property
    def summary(self) -> str:
        """What is wrong, in one line."""
        return self._summary or rule_facts().get(self.name, NO_FACTS).summary

    @property
    def why(self) -> str:
        """Why it matters."""
        return self._why or rule_facts().get(self.name, NO_FACTS).why

    def at(
        self,
        span: Span,
        message: str,
        *,
        label: str = "",
        also: "Iterable[Label]" = (),
        effect: str = "",
        help: str = "",  # noqa: A002 (the word users see)
        notes: Sequence[str] = (),
        fix: "Sequence[Edit]" = (),
        refusal: "Refusal | None" = None,
        level: str = "",
    ) -> "Finding":
        """A finding of this rule, shown first at `span`."""
        labels = (Label(span, label), *also)
        return Finding(self, level or self.level, message, labels, effect, help, tuple(notes), tuple(fix), refusal)

    @property
    def turn(self) -> int:
        """When it is printed among findings of its level: what hides a text first, what only an edit shows last."""
        return 0 if self.unreadable else 2 if self.compares else 1

    def __repr__(self) -> str:
        return f"Rule({self.name})"


class Label(NamedTuple):
    """A place in a file the user can open, with a few words about it."""

    span: Span
    text: str = ""


class Edit(NamedTuple):
    """A change to one YAML node of `file`: `path` is set to `value`, removed where that is None, or its key called `name`."""

    file: str
    line: int  # of the document's start: one file may hold several
    path: tuple[str | int, ...]
    value: object = None
    safety: str = SAFE
    name: str = ""
    at: Span | None = None  # of the scalar that is meant, whatever its path


class Refusal(NamedTuple):
    """A server's own words: which stage refuses (`by`), and the exact text it would print."""

    by: str
    text: str


class Finding(NamedTuple):
    """One mistake at one place: a fact about this input, what would happen, and what to do."""

    rule: Rule
    level: str
    message: str
    labels: tuple[Label, ...]
    effect: str = ""
    help: str = ""
    notes: tuple[str, ...] = ()
    fix: tuple[Edit, ...] = ()
    refusal: Refusal | None = None

    @property
    def span(self) -> Span:
        """The place shown first."""
        return self.labels[0].span

    def restored(self, level: str, also: tuple[Label, ...] = (), notes: tuple[str, ...] = ()) -> "Finding":
        """This finding at a level that nobody can change, with the places and the reasons of a rejected `allow`."""
        return self._replace(level=level, labels=self.labels + also, notes=self.notes + notes)

    def placed(self, there: Span, here: Span) -> "Finding":
        """This finding with its first label here instead of there, and without its other labels there."""
        first, *others = self.labels
        moved = Label(here, first.text) if first.span == there else first
        return self._replace(labels=(moved, *[label for label in others if label.span != there]))

    def identity(self) -> tuple[object, ...]:
        """What makes two findings one: a runtime's fault met by forty jobs is said once."""
        return (self.rule.name, self.message, self.span)

    def __repr__(self) -> str:
        return f"{self.level}[{self.rule.name}] {self.message} @ {self.span}"


def place(origin: Origin) -> Span | None:
    """The nearest span a value rests on, None for values no file holds."""
    spans = origin.spans()
    return spans[0] if spans else None
