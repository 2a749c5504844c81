"""What is said of a directive that the strategic merge does not know."""

from __future__ import annotations

from trainc.model.finding import ERROR, Finding, Rule, place
from trainc.model.sourced import Span
from trainc.model.tree import UnknownDirectiveError

UNKNOWN_WORD = Rule("unknown-merge-directive", ERROR, admission=True)


def unknown_word(error: UnknownDirectiveError, otherwise: Span) -> Finding:
    """The finding for a directive at which a merge stopped."""
    return UNKNOWN_WORD.at(
        place(error.leaf.origin) or otherwise,
        f"`$patch: {error.leaf.value}` is not a directive of the strategic merge",
        help="write `replace` or `delete`, or remove the key",
    )
