"""What trainc tells people, as data; words and colours live in `trainc.report`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.model.sourced import Origin, Span

NOTE, WARNING, ERROR = "note", "warning", "error"
LEVELS = (NOTE, WARNING, ERROR)
SAFE, UNSAFE = "safe", "unsafe"  # edits that keep the meaning, and those that may change it


class Rule:
    """One kind of finding: `name` is what users see, search for and silence.

    `verdict` marks a server's own refusal, which nobody can silence. `unreadable` marks a reason why a text gives no
    document: silence would make what it holds disappear. `admission` rules still speak under `--only admission`.
    `differs` names the older kinds whose every job differs from its operator in this way. `compares` marks what is said
    of an edit, which another finding about the same text may be the cause of.
    """

    __slots__ = ("admission", "compares", "differs", "level", "name", "summary", "unreadable", "verdict", "why")

    def __init__(
        self,
        name: str,
        level: str,
        summary: str,
        why: str = "",
        *,
        verdict: bool = False,
        admission: bool = False,
        unreadable: bool = False,
        differs: tuple[str, ...] = (),
        compares: bool = False,
    ) -> None:
        self.name = name
        self.level = level
        self.summary = summary
        self.why = why
        self.verdict = verdict
        self.unreadable = unreadable
        self.differs = differs
        self.compares = compares
        self.admission = admission or verdict or unreadable

    def at(
        self,
        span: Span,
        message: str,
        *,
        label: str = "",
        also: Iterable[Label] = (),
        effect: str = "",
        help: str = "",  # noqa: A002 (the word users see)
        notes: Sequence[str] = (),
        fix: Sequence[Edit] = (),
        refusal: Refusal | None = None,
        level: str = "",
    ) -> Finding:
        """A finding of this rule, shown first at `span`."""
        labels = (Label(span, label), *also)
        return Finding(self, level or self.level, message, labels, effect, help, tuple(notes), tuple(fix), refusal)

    @property
    def turn(self) -> int:
        """When it is printed among findings of its level: what hides a text first, what only an edit shows last."""
        return 0 if self.unreadable else 2 if self.compares else 1

    def __repr__(self) -> str:
        return f"Rule({self.name})"


class Label:
    """A place in a file the user can open, with a few words about it."""

    __slots__ = ("span", "text")

    def __init__(self, span: Span, text: str = "") -> None:
        self.span = span
        self.text = text


class Edit:
    """A change to one YAML node of `file`: `path` is set to `value`, removed where that is None, or its key called `name`.

    With `at` it is the scalar that stands there, whatever its path.
    """

    __slots__ = ("at", "file", "line", "name", "path", "safety", "value")

    def __init__(
        self,
        file: str,
        line: int,
        path: tuple[str | int, ...],
        value: object = None,
        *,
        safety: str = SAFE,
        name: str = "",
        at: Span | None = None,
    ) -> None:
        self.file = file
        self.line = line  # of the document's start: one file may hold several
        self.path = path
        self.value = value
        self.safety = safety  # safe, unsafe, display-only
        self.name = name
        self.at = at


class Refusal:
    """A server's own words: which stage refuses (`by`), and the exact text it would print."""

    __slots__ = ("by", "text")

    def __init__(self, by: str, text: str) -> None:
        self.by = by
        self.text = text


class Finding:
    """One mistake at one place: a fact about this input, what would happen, and what to do."""

    __slots__ = ("effect", "fix", "help", "labels", "level", "message", "notes", "refusal", "rule")

    def __init__(
        self,
        rule: Rule,
        level: str,
        message: str,
        labels: tuple[Label, ...],
        effect: str,
        help: str,  # noqa: A002 (the word users see)
        notes: tuple[str, ...],
        fix: tuple[Edit, ...],
        refusal: Refusal | None,
    ) -> None:
        self.rule = rule
        self.level = level
        self.message = message
        self.labels = labels
        self.effect = effect
        self.help = help
        self.notes = notes
        self.fix = fix
        self.refusal = refusal

    @property
    def span(self) -> Span:
        """The place shown first."""
        return self.labels[0].span

    def at_level(self, level: str) -> Finding:
        """This finding with another level."""
        if level == self.level:
            return self
        return Finding(
            self.rule, level, self.message, self.labels, self.effect, self.help, self.notes, self.fix, self.refusal
        )

    def restored(self, level: str, also: tuple[Label, ...], notes: tuple[str, ...]) -> Finding:
        """This finding at a level that nobody can change, with the places and the reasons of a silence that is refused."""
        labels, more = self.labels + also, self.notes + notes
        return Finding(self.rule, level, self.message, labels, self.effect, self.help, more, self.fix, self.refusal)

    def without_refusal(self) -> Finding:
        """This finding where the server has refused the object before it comes to this."""
        return Finding(
            self.rule, self.level, self.message, self.labels, self.effect, self.help, self.notes, self.fix, None
        )

    def led_by(self, label: Label) -> Finding:
        """This finding with another place before its own."""
        labels = (label, *self.labels)
        return Finding(
            self.rule, self.level, self.message, labels, self.effect, self.help, self.notes, self.fix, self.refusal
        )

    def placed(self, there: Span, here: Span) -> Finding:
        """This finding with its first label here instead of there, and without its other labels there."""
        first, *others = self.labels
        moved = Label(here, first.text) if first.span == there else first
        labels = (moved, *[label for label in others if label.span != there])
        return Finding(
            self.rule, self.level, self.message, labels, self.effect, self.help, self.notes, self.fix, self.refusal
        )

    def identity(self) -> tuple[object, ...]:
        """What makes two findings one: a runtime's fault met by forty jobs is said once."""
        return (self.rule.name, self.message, self.span)

    def __repr__(self) -> str:
        return f"{self.level}[{self.rule.name}] {self.message} @ {self.span}"


def place(origin: Origin) -> Span | None:
    """The nearest span a value rests on, None for values no file holds."""
    spans = origin.spans()
    return spans[0] if spans else None
