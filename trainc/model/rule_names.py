"""The names of all rules, without the rules: what a project or a comment calls by name is told apart from a slip."""

from __future__ import annotations

import os

from trainc.model.spelling import nearest

VERDICT = " verdict"  # behind the names of servers' own refusals in the file


def rule_names() -> dict[str, bool]:
    """Every rule that comes with trainc, and whether it is a server's own refusal, which nobody can silence."""
    with open(os.path.join(os.path.dirname(__file__), "rule_names.txt"), encoding="utf-8") as stream:
        return {line.removesuffix(VERDICT): line.endswith(VERDICT) for line in stream.read().splitlines()}


def slip(name: str, *, more: bool = False) -> tuple[str, str] | None:
    """What is wrong with a rule's name, and what to do; None for a name whose level somebody may choose.

    With `more`, packages may bring rules of their own: only what nearly is a name of ours is a slip then.
    """
    known = rule_names()
    if name in known:
        if known[name]:
            return (
                f"`{name}` is a server's own refusal, which cannot be silenced",
                "remove it, and repair what is refused",
            )
        return None
    near = nearest(name, known, cutoff=0.85 if more else 0.6)
    if more and not near:
        return None
    return f"there is no rule `{name}`", f"did you mean `{near}`?" if near else "see `trainc rules`"
