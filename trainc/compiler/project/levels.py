"""`rules:` and `rulesByPath:` of trainc.yaml: the level of each rule, everywhere or below some paths."""

from __future__ import annotations

from trainc.model.rule_selection import is_verdict, rule_categories, rule_facts
from trainc.model.sourced import Sourced
from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.project.checker import Checker
    from trainc.model.tree import Path

OFF = "off"
LEVELS = (OFF, "warning", "error")


def levels(checker: Checker, path: Path, *, foreign: bool) -> dict[str, str]:
    """Levels by rule, where a category stands for its rules and a rule's own line wins; with `foreign`, packages add rules."""
    known = [*rule_facts(), *rule_categories()]
    of_rules: dict[str, str] = {}
    of_categories: dict[str, str] = {}
    for name, leaf in checker.map(path).items():
        level = leaf.value if type(leaf) is Sourced else None
        if level is False:  # what Kubernetes' YAML makes of a bare `off`; here it can only mean one thing
            level = OFF
            checker.meant.add(leaf.origin.at)
        if name not in known and not foreign:
            hint = meant(name, known, "`trainc explain rules` lists them")
            checker.complain((*path, name), f"there is no rule `{name}`", hint, key=True)
        elif level not in LEVELS:
            checker.complain(
                (*path, name), f"`{level}` is not a level", f"write {', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
            )
        elif is_verdict(name) and level != LEVELS[-1]:
            hint = "remove this line: the server will not listen"
            checker.complain((*path, name), f"`{name}` is a server's own verdict, which nobody can silence", hint)
        elif name in rule_categories():
            of_categories |= dict.fromkeys(rule_categories()[name], str(level))
        else:
            of_rules[name] = str(level)
    return of_categories | of_rules
