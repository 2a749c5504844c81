"""A check of an installed package: one rule, and the function that looks for its mistake in a job."""

from collections.abc import Callable
from functools import cache

from trainc.lint.facts.job import Job
from trainc.model.finding import Rule
from trainc.model.rule_selection import rule_facts
from trainc.text.plugins import RULES, installed
from trainc.text.trouble import Trouble


class Check:
    """`look` adds findings of `rule` to the job's report, and nothing where the mistake is not there."""

    __slots__ = ("look", "rule")

    def __init__(self, rule: Rule, look: Callable[[Job], None]) -> None:
        self.rule = rule
        self.look = look

    def __repr__(self) -> str:
        return f"Check({self.rule.name})"


@cache  # as an import is: a run asks once for every job
def foreign(name: str) -> tuple[Check, ...]:
    """The checks that an installed package offers under that name, none where none does.

    Raises:
        Trouble: where the package offers something else, or a rule that trainc has already.
    """
    checks = installed(RULES, name, tuple) or ()
    own = rule_facts()
    for check in checks:
        if not isinstance(check, Check):
            raise Trouble(f"{RULES}: `{name}` is {check!r}, not a Check")
        if check.rule.name in own:
            raise Trouble(f"{RULES}: `{name}` has a rule `{check.rule.name}`, which trainc already has")
    return checks
