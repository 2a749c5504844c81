"""`rulesFrom`: the installed packages whose rules count in this project."""

from __future__ import annotations

from trainc.compiler.project.checker import BAD_PROJECT
from trainc.text.plugins import RULES, offered
from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.project.checker import Checker
    from trainc.model.sourced import Sourced
    from trainc.model.tree import Path


def rules_from(checker: Checker, path: Path) -> tuple[Sourced[str], ...]:
    """The names listed at `path` that an installed package offers rules under; the others are complained about."""
    names = checker.texts(path)
    if not names:
        return ()
    there = offered(RULES)
    for name in names:
        if name.value not in there:
            hint = meant(name.value, there, "install the package beside trainc")
            at = name.origin.at or checker.document.span(path)
            checker.report.add(BAD_PROJECT.at(at, f"no installed package offers rules as `{name.value}`", help=hint))
    return tuple(name for name in names if name.value in there)
