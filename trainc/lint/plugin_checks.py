"""The checks of installed packages, for projects that name them."""

from __future__ import annotations

from functools import cache

from trainc.lint.check import Check
from trainc.model.rule_selection import rule_facts
from trainc.text.plugins import RULES, installed
from trainc.text.trouble import Trouble


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
            raise Trouble(f"{RULES}: `{name}` holds {check!r}, which is no Check")
        if check.rule.name in own:
            raise Trouble(f"{RULES}: `{name}` has a rule `{check.rule.name}`, and so has trainc")
    return checks
