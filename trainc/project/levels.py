"""`rules:` and `rulesByPath:` of trainc.yaml: the level of each rule, everywhere or below some paths."""

from __future__ import annotations

from trainc.model.rule_names import rule_names
from trainc.model.sourced import Sourced
from trainc.model.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path
    from trainc.project.checker import Checker

OFF = "off"
LEVELS = (OFF, "warning", "error")


def levels(checker: Checker, path: Path, *, foreign: bool) -> dict[str, str]:
    """Levels by rule; with `foreign`, installed packages have rules of their own."""
    known = rule_names()
    chosen = {}
    for name, leaf in checker.map(path).items():
        level = leaf.value if type(leaf) is Sourced else None
        if level is False:  # what Kubernetes' YAML makes of a bare `off`; here it can only mean one thing
            level = OFF
            checker.meant.add(leaf.origin.at)
        if name not in known and not foreign:
            hint = meant(name, known, "`trainc rules` lists them")
            checker.complain((*path, name), f"there is no rule `{name}`", hint, key=True)
        elif level not in LEVELS:
            checker.complain(
                (*path, name), f"`{level}` is not a level", f"write {', '.join(LEVELS[:-1])} or {LEVELS[-1]}"
            )
        elif known.get(name) and level != LEVELS[-1]:
            hint = "remove this line: the server will not listen"
            checker.complain((*path, name), f"`{name}` is a server's own verdict, which nobody can silence", hint)
        else:
            chosen[name] = str(level)
    return chosen
