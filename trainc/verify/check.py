"""A check: one rule, and the function that looks for its mistake in a job."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from trainc.model.finding import Rule
    from trainc.verify.job import Job

    Look = Callable[[Job], None]


class Check:
    """`look` adds findings of `rule` to the job's report, and nothing where the mistake is not there.

    It need not look at jobs that have none of the traits `where`: fields, variables, resources, kinds, and those that
    `traits` names besides. Without any it looks at every job.
    """

    __slots__ = ("look", "rule", "where")

    def __init__(self, rule: Rule, look: Look, *where: str) -> None:
        self.rule = rule
        self.look = look
        self.where = frozenset(where) if where else None

    def for_(self, traits: frozenset[str]) -> bool:
        """Whether a job with these traits may hold the mistake."""
        return self.where is None or not self.where.isdisjoint(traits)

    def __repr__(self) -> str:
        return f"Check({self.rule.name})"
