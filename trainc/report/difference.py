"""Differences between texts, as unified diffs of a bounded length."""

from __future__ import annotations

from trainc.text.line_diff import unified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LINES = 200  # of all differences together
_FILES = 20


def differences(texts: Iterable[tuple[str, str, str]]) -> list[str]:
    """One unified diff for each (name, before, after) that differs, cut where it gets too long to read."""
    out: list[str] = []
    cut = 0
    for number, (name, before, after) in enumerate(texts):
        if number >= _FILES or len(out) >= _LINES:
            cut += 1
            continue
        old, new = before.splitlines(), after.splitlines()
        lines = list(unified(old, new, (f"committed/{name}", f"compiled/{name}"), end="", context=2))
        room = _LINES - len(out)
        out += lines[:room]
        if len(lines) > room:
            out.append(f"... {len(lines) - room} more lines")
    if cut:
        out.append(f"... and {cut} more files")
    return out
