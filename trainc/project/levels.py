"""`rules:` and `rulesByPath:` of trainc.yaml: the level of each rule, everywhere or below some paths."""

from __future__ import annotations

import json
import os

from trainc.model.sourced import Sourced
from trainc.model.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.model.tree import Path
    from trainc.project.checker import Checker

OFF = "off"
LEVELS = (OFF, "warning", "error")
NAMES = os.path.join(os.path.dirname(__file__), "rules.json")  # of every rule: whether it is a server's own verdict


def levels(checker: Checker, path: Path, *, foreign: bool) -> dict[str, str]:
    """Levels by rule; with `foreign`, installed packages have rules of their own."""
    known = _known()
    found = {}
    for name, leaf in checker.map(path).items():
        level = leaf.value if type(leaf) is Sourced else None
        if level is False:  # what Kubernetes' YAML makes of a bare `off`; here it can only mean one thing
            level = OFF
            checker.meant.add(leaf.origin.at)
        if name not in known and not foreign:
            hint = meant(name, known, "`trainc rules` lists them")
            checker.complain((*path, name), f"there is no rule `{name}`", hint, key=True)
        elif level not in LEVELS:
            checker.complain((*path, name), f"`{level}` is no level", f"write {', '.join(LEVELS[:-1])} or {LEVELS[-1]}")
        elif known.get(name) and level != LEVELS[-1]:
            hint = "remove this line: the server will not listen"
            checker.complain((*path, name), f"`{name}` is a server's own verdict, which nobody can silence", hint)
        else:
            found[name] = str(level)
    return found


def _known() -> Mapping[str, bool]:
    with open(NAMES, encoding="utf-8") as stream:
        known: Mapping[str, bool] = json.load(stream)
    return known
