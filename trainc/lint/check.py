"""A check of an installed package: one rule, and the function that looks for its mistake in a job."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.lint.facts.job import Job
    from trainc.model.finding import Rule


class Check:
    """`look` adds findings of `rule` to the job's report, and nothing where the mistake is not there."""

    __slots__ = ("look", "rule")

    def __init__(self, rule: Rule, look: Callable[[Job], None]) -> None:
        self.rule = rule
        self.look = look

    def __repr__(self) -> str:
        return f"Check({self.rule.name})"
