"""Notes as one line: how many things differ from an operator, and which rules have more to say."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trainc.model.finding import Finding

_MAX_RULES_NAMED = 4  # rules named in one line


def folded(notes: Sequence[Finding], kinds_in: Callable[[str], Iterable[str]]) -> str:
    """Notes of a run as one line; `kinds_in` gives the kinds of the jobs in a file.

    A fact that holds for every job of an older kind is counted, the rules of all other notes are named.
    """
    kinds: set[str] = set()
    constant: set[str] = set()
    others: list[str] = []
    for note in notes:
        # Kinds of which no table is printed, such as Volcano's Job, share rules with those of which one is.
        differing = [kind for kind in kinds_in(note.span.file) if kind in note.rule.differs]
        kinds.update(differing)
        if differing:
            constant.add(note.rule.name)
        else:
            others.append(note.rule.name)
    parts = []
    if constant:
        where = ", ".join(f"`trainc explain --kind {kind}`" for kind in sorted(kinds))
        things = "1 thing differs" if len(constant) == 1 else f"{len(constant)} things differ"
        parts.append(f"{things} from the operator{'s' if len(kinds) > 1 else ''}: {where}")
    counts = _counts(others)
    if counts:
        rule_names = [f"`{name}`" + (f" ({count})" if count > 1 else "") for name, count in counts[:_MAX_RULES_NAMED]]
        rule_names += [f"{len(counts) - _MAX_RULES_NAMED} more rules"] if len(counts) > _MAX_RULES_NAMED else []
        parts.append(f"{'also ' if constant else ''}{', '.join(rule_names)}")
    return f"{'; '.join(parts)}; `trainc validate -v` shows {'all' if len(notes) > 1 else 'it'}"


def _counts(names: Iterable[str]) -> list[tuple[str, int]]:
    """Names with how often each occurs, the most frequent first."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))
