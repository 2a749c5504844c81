"""The rules that one call chooses: those it ignores, or the only ones that it asks for."""

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trainc.text.spelling import meant
from trainc.text.trouble import Trouble

_FACTS: "dict[str, RuleFacts]" = {}


class RuleFacts(NamedTuple):
    """A rule's category, whether it is a server's own verdict, which nobody can suppress, and the words of its page."""

    category: str
    verdict: bool
    summary: str = ""
    why: str = ""


NO_FACTS = RuleFacts("", verdict=False)  # of a rule that another package brings


def rule_facts() -> Mapping[str, RuleFacts]:
    """Every rule that comes with trainc."""
    if not _FACTS:
        import json  # noqa: PLC0415 (few projects choose rules)

        with open(os.path.join(os.path.dirname(__file__), "rules.json"), encoding="utf-8") as stream:
            _FACTS.update({name: RuleFacts(**entry) for name, entry in json.load(stream).items()})
    return _FACTS


def rule_categories() -> Mapping[str, tuple[str, ...]]:
    """The names of the rules of each category."""
    by_category: dict[str, tuple[str, ...]] = {}
    for name, entry in rule_facts().items():
        by_category[entry.category] = (*by_category.get(entry.category, ()), name)
    return by_category


def is_verdict(name: str) -> bool:
    """Whether a name is that of a rule of trainc that nobody can suppress."""
    return rule_facts().get(name, NO_FACTS).verdict


def instead(rule: str) -> str:
    """What to do about an `allow` comment for a rule, where it silences nothing."""
    known = rule_facts()
    if is_verdict(rule):
        return f"remove the comment: `{rule}` is an API server's rejection and cannot be suppressed"
    return "remove the comment" if rule in known else meant(rule, known, "remove the comment")


class RuleFilter(NamedTuple):
    """Which rules a call turns off: those ignored, and those beside the selected ones, if any are."""

    selected: set[str]
    ignored: set[str]

    def option_against(self, rule: str) -> str:
        """The option that turns a rule off, empty where none does."""
        if rule in self.ignored:
            return f"--ignore {rule}"
        return "--select" if self.selected and rule not in self.selected else ""


def choice_of(selected: Iterable[str], ignored: Iterable[str], *, is_open: bool) -> RuleFilter:
    """The choice that values of `--select` and `--ignore` make: rules and categories, with commas between several.

    With `is_open` installed packages add rules, so that a name may be one of theirs.
    """
    known = [*rule_facts(), *rule_categories()]
    named = {"--select": _names(selected), "--ignore": _names(ignored)}
    for option, names in named.items():
        for name in sorted(names):
            if name not in known and not is_open:
                raise Trouble(f"{option}: unknown rule `{name}`; {meant(name, known, 'see trainc explain rules')}")
            if option == "--ignore" and is_verdict(name):
                raise Trouble(f"--ignore: `{name}` is an API server's rejection and cannot be ignored")
    return RuleFilter(_rules(named["--select"]), _rules(named["--ignore"]))


def _names(values: Iterable[str]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _rules(names: Iterable[str]) -> set[str]:
    """The rules that are named, those of a category for its name."""
    categories = rule_categories()
    return {rule for name in names for rule in categories.get(name, (name,))}
