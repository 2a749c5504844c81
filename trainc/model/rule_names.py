"""What is known of each rule by its name, without the rules: so that a name in a project or a comment can be checked."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import NamedTuple

from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class RuleFacts(NamedTuple):
    """A rule's category, and whether it is a server's own verdict, which nobody can suppress."""

    category: str
    verdict: bool


@cache
def rule_facts() -> Mapping[str, RuleFacts]:
    """Every rule that comes with trainc."""
    with open(os.path.join(os.path.dirname(__file__), "rules.json"), encoding="utf-8") as stream:
        return {name: RuleFacts(**entry) for name, entry in json.load(stream).items()}


@cache
def rule_categories() -> Mapping[str, tuple[str, ...]]:
    """The names of the rules of each category."""
    by_category: dict[str, tuple[str, ...]] = {}
    for name, entry in rule_facts().items():
        by_category[entry.category] = (*by_category.get(entry.category, ()), name)
    return by_category


def is_verdict(name: str) -> bool:
    """Whether a name is that of a rule of trainc that nobody can suppress."""
    known = rule_facts().get(name)
    return known is not None and known.verdict


def instead(rule: str) -> str:
    """What to do about an `allow` comment for a rule, where it silences nothing."""
    known = rule_facts()
    if is_verdict(rule):
        return f"remove the comment: `{rule}` is a server's own verdict, which nobody can silence"
    return "remove the comment" if rule in known else meant(rule, known, "remove the comment")
