"""Answers of `trainc show` about many jobs: a line for each, in groups, and totals."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from trainc.report.markdown import code, sentence
from trainc.report.tables import aligned, or_unknown
from trainc.text.counting import counted

Row = dict[str, Any]


_HEAD = ("JOB", "CLUSTER", "QUEUE", "PODS", "ACCELERATORS", "RUN", "RENDERING", "FILE")


def listing_lines(rows: Sequence[Row], group: str) -> list[str]:
    """The jobs as lines for a terminal, in groups where there are several."""
    groups = _grouped(rows, group)
    lines = iter(aligned(_table(groups, group)))
    head = next(lines)
    out: list[str] = []
    for name, listed in groups:
        if len(groups) > 1:
            out += [*([""] if out else []), f"{group} {name or '(none)'}: {_totals(listed)}"]
        out += [f"  {head}", *(f"  {next(lines)}" for _ in listed)]
    return [*out, "", _totals(rows), *_stale(rows)]


def listing_markdown(rows: Sequence[Row], group: str) -> list[str]:
    groups = _grouped(rows, group)
    cells = iter(_table(groups, group))
    head = [word.lower() for word in next(cells)]
    out: list[str] = []
    for name, listed in groups:
        title = [f"**{group} {code(name or '(none)')}**: {sentence(_totals(listed))}", ""] if len(groups) > 1 else []
        out += [*title, f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        out += [f"| {' | '.join(map(sentence, next(cells)))} |" for _ in listed]
        out.append("")
    return [*out, sentence(_totals(rows)), *map(sentence, _stale(rows))]


def _grouped(rows: Sequence[Row], group: str) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[group] or "", []).append(row)
    return sorted(groups.items())


def _table(groups: Sequence[tuple[str, list[Row]]], group: str) -> list[list[str]]:
    """The head and the jobs of all groups, with the columns that tell the jobs apart.

    Nobody reads one that is empty, or the same as the title of each of several groups.
    """
    cells = [
        (
            f"{row['namespace']}/{row['name']}" if row["namespace"] else row["name"],
            row["cluster"] or "-",
            row["queue"] or "-",
            or_unknown(row["pods"]),
            ", ".join(f"{or_unknown(number)} {what}" for what, number in sorted(row["accelerators"].items())) or "-",
            str(row["run"]),
            row["rendering"]["state"] if row["rendering"] else "-",
            row["file"],
        )
        for _, listed in groups
        for row in listed
    ]
    told = {"JOB", "PODS", "FILE"} | {name for at, name in enumerate(_HEAD) if any(row[at] != "-" for row in cells)}
    told -= {group.upper()} if len(groups) > 1 else set()
    return [[cell for cell, name in zip(row, _HEAD, strict=True) if name in told] for row in (_HEAD, *cells)]


def _totals(rows: Sequence[Row]) -> str:
    """Jobs, pods and accelerators in all; what is not known is counted beside."""
    pairs = [("", row["pods"]) for row in rows]
    pairs += [pair for row in rows for pair in row["accelerators"].items()]
    unknown = sum(type(number) is not int for _, number in pairs)
    sums: Counter[str] = Counter()
    for resource, number in pairs:
        if type(number) is int:
            sums[resource] += number
    parts = [counted(len(rows), "job"), counted(sums.pop("", 0), "pod")]
    parts += [f"{number} {resource}" for resource, number in sorted(sums.items())]
    return ", ".join([*parts, *([f"{unknown} unknown numbers"] if unknown else [])])


def _stale(rows: Iterable[Row]) -> list[str]:
    """How many renderings are not what the text says, by what they are."""
    states = Counter(row["rendering"]["state"] for row in rows if row["rendering"])
    counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()) if state != "current")
    return [f"renderings: {counts}"] if counts else []
