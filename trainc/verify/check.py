"""A check: one rule, and the function that looks for its mistake in a job."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainc.model.finding import Rule
    from trainc.verify.job import Job

    Look = Callable[[Job], None]


class Check:
    """`look` adds findings of `rule` to the job's report, and nothing where the mistake is not there.

    It need not look at jobs that have none of the traits `where`: fields, variables, resources, kinds, and those that
    `traits` names besides. Without any it looks at every job. Rule and function may be named (`module.NAME` below
    `trainc.verify.rules`): then the module is loaded when the first job needs it, and a healthy job needs few.
    """

    __slots__ = ("_look", "_rule", "where")

    def __init__(self, rule: Rule | str, look: Look | str, *where: str) -> None:
        self._rule = rule
        self._look = look
        self.where = frozenset(where) if where else None

    @property
    def rule(self) -> Rule:
        """The rule of its findings."""
        if isinstance(self._rule, str):
            self._rule = _named(self._rule)
        return self._rule  # type: ignore[return-value] # what the name stands for

    @property
    def look(self) -> Look:
        """The function that looks at a job."""
        if isinstance(self._look, str):
            self._look = _named(self._look)
        return self._look  # type: ignore[return-value] # what the name stands for

    def for_(self, traits: frozenset[str]) -> bool:
        """Whether a job with these traits may hold the mistake."""
        return self.where is None or not self.where.isdisjoint(traits)

    def __repr__(self) -> str:
        return f"Check({self.rule.name})"


def _named(path: str) -> Any:
    module, _, name = path.partition(".")
    return getattr(__import__(f"trainc.verify.rules.{module}", fromlist=[name]), name)
