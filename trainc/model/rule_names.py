"""The names of all rules, without the rules: what a project or a comment calls by name is told apart from a slip."""

from __future__ import annotations

import os

from trainc.model.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def rule_names() -> Mapping[str, bool]:
    """Every rule that comes with trainc, and whether it is a server's own verdict, which nobody can silence."""
    import json  # noqa: PLC0415 (few projects choose levels)

    with open(os.path.join(os.path.dirname(__file__), "rules.json"), encoding="utf-8") as stream:
        known: Mapping[str, bool] = json.load(stream)
    return known


def instead(rule: str) -> str:
    """What to do about an `allow` comment for a rule, where it silences nothing."""
    known = rule_names()
    if known.get(rule):
        return f"remove the comment: `{rule}` is a server's own verdict, which nobody can silence"
    return "remove the comment" if rule in known else meant(rule, known, "remove the comment")
