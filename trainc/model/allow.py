"""Comments that silence a rule."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.sourced import Span


class Allow:
    """A comment `# trainc: allow[rule] reason`: it silences that rule on its own line and the next."""

    __slots__ = ("borrowed", "reason", "rule", "span", "used")

    def __init__(self, rule: str, reason: str, span: Span) -> None:
        self.rule = rule
        self.reason = reason
        self.span = span
        self.used = False
        self.borrowed = False  # the run sees only a part of the jobs that it is for
