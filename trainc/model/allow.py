"""Comments that silence a rule."""

from __future__ import annotations

from trainc.model.finding import WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.sourced import Span


UNUSED_ALLOW = Rule(
    "unused-allow",
    WARNING,
    "an `allow` comment suppresses no finding",
    "The mistake is fixed, or the rule is misspelled or not in brackets. If the comment stays, it hides the next "
    "mistake.",
)
ALLOW_WITHOUT_REASON = Rule(
    "allow-without-reason",
    WARNING,
    "an `allow` comment gives no reason",
    "The next reader needs the reason; without one the comment suppresses nothing.",
)


class Allow:
    """A comment `# trainc: allow[rule] reason`: it silences that rule on its own line and the next.

    The rule is empty where the comment names none; it silences nothing then.
    """

    __slots__ = ("borrowed", "reason", "rule", "span", "used")

    def __init__(self, rule: str, reason: str, span: Span) -> None:
        self.rule = rule
        self.reason = reason
        self.span = span
        self.used = False
        self.borrowed = False  # the run sees only a part of the jobs that it is for
