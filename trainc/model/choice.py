"""The rules that one call chooses: those it ignores, or the only ones that it asks for."""

from __future__ import annotations

from trainc.model.rule_names import rule_names
from trainc.model.spelling import meant
from trainc.model.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class RuleFilter:
    """Which rules a call turns off; with no names it turns off none."""

    __slots__ = ("ignored", "selected")

    def __init__(self, selected: Iterable[str] = (), ignored: Iterable[str] = ()) -> None:
        self.selected = frozenset(selected)
        self.ignored = frozenset(ignored)

    def option_against(self, rule: str) -> str:
        """The option that turns a rule off, empty where none does."""
        if rule in self.ignored:
            return f"--ignore {rule}"
        return "--select" if self.selected and rule not in self.selected else ""


def choice_of(selected: Iterable[str], ignored: Iterable[str], *, is_open: bool) -> RuleFilter:
    """The choice that values of `--select` and `--ignore` make, each a rule or several with commas between them.

    With `is_open` installed packages add rules, so that a name may be one of theirs.

    Raises:
        Trouble: for a name that no rule has, or for a server's own verdict that is to be ignored.
    """
    choice = RuleFilter(_names(selected), _names(ignored))
    known = rule_names()
    for option, names in (("--select", choice.selected), ("--ignore", choice.ignored)):
        for name in sorted(names):
            if name not in known and not is_open:
                raise Trouble(f"{option}: there is no rule `{name}`; {meant(name, known, 'see trainc rules')}")
            if option == "--ignore" and known.get(name):
                raise Trouble(f"--ignore: `{name}` is a server's own verdict, which cannot be ignored")
    return choice


def _names(values: Iterable[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]
