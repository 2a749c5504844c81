"""The rules that one call chooses: those it ignores, or the only ones that it asks for."""

from __future__ import annotations

from trainc.model.rule_names import is_verdict, rule_categories, rule_facts
from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

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
    """The choice that values of `--select` and `--ignore` make: rules and categories, with commas between several.

    With `is_open` installed packages add rules, so that a name may be one of theirs.

    Raises:
        Trouble: for a name that no rule has, or for a server's own verdict that is to be ignored.
    """
    known = [*rule_facts(), *rule_categories()]
    named = {"--select": _names(selected), "--ignore": _names(ignored)}
    for option, names in named.items():
        for name in sorted(names):
            if name not in known and not is_open:
                raise Trouble(f"{option}: there is no rule `{name}`; {meant(name, known, 'see trainc explain rules')}")
            if option == "--ignore" and is_verdict(name):
                raise Trouble(f"--ignore: `{name}` is a server's own verdict, which cannot be ignored")
    return RuleFilter(_rules(named["--select"]), _rules(named["--ignore"]))


def _names(values: Iterable[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _rules(names: Iterable[str]) -> set[str]:
    """The rules that are named, those of a category for its name."""
    return {rule for name in names for rule in rule_categories().get(name, (name,))}
