"""Answers of `trainc show` about many jobs: a line for each, in groups, and totals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from trainc.report.markdown import code, sentence
from trainc.report.tables import aligned, or_unknown
from trainc.text.counting import counted

Row = dict[str, Any]


_HEAD = ("JOB", "CLUSTER", "QUEUE", "PODS", "ACCELERATORS", "RUN", "RENDERING", "FILE")
GROUPS = ("cluster", "queue", "folder")


def listing_lines(rows: Sequence[Row], group: str) -> list[str]:
    """The jobs as lines for a terminal, in groups where there are several."""
    groups = _grouped(rows, group)
    kept = _columns(rows, group if len(groups) > 1 else "")
    table = aligned([_chosen(_HEAD, kept), *(_chosen(_cells(row), kept) for _, listed in groups for row in listed)])
    head, lines = table[0], iter(table[1:])
    out: list[str] = []
    for name, listed in groups:
        if len(groups) > 1:
            out += [*([""] if out else []), f"{group} {name or '(none)'}: {_totals(listed)}"]
        out += [f"  {head}", *(f"  {next(lines)}" for _ in listed)]
    return [*out, "", _totals(rows), *_stale(rows)]


def listing_markdown(rows: Sequence[Row], group: str) -> list[str]:
    """The jobs as a Markdown table for each group."""
    groups = _grouped(rows, group)
    kept = _columns(rows, group if len(groups) > 1 else "")
    out: list[str] = []
    for name, listed in groups:
        title = [f"**{group} {code(name or '(none)')}**: {sentence(_totals(listed))}", ""] if len(groups) > 1 else []
        head = [word.lower() for word in _chosen(_HEAD, kept)]
        out += [*title, f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        out += [f"| {' | '.join(map(sentence, _chosen(_cells(row), kept)))} |" for row in listed]
        out.append("")
    return [*out, sentence(_totals(rows)), *map(sentence, _stale(rows))]


def _grouped(rows: Sequence[Row], group: str) -> list[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[group] or "", []).append(row)
    return sorted(groups.items())


def _cells(row: Row) -> tuple[str, ...]:
    return (
        f"{row['namespace']}/{row['name']}" if row["namespace"] else row["name"],
        row["cluster"] or "-",
        row["queue"] or "-",
        or_unknown(row["pods"]),
        ", ".join(f"{or_unknown(number)} {what}" for what, number in sorted(row["accelerators"].items())) or "-",
        str(row["run"]),
        row["rendering"]["state"] if row["rendering"] else "-",
        row["file"],
    )


def _columns(rows: Sequence[Row], group: str) -> list[int]:
    """The columns that tell the jobs apart: nobody reads one that is empty, or the same as the group's title."""
    cells = [_cells(row) for row in rows]
    return [
        index
        for index, name in enumerate(_HEAD)
        if name.lower() != group and (name in {"JOB", "PODS", "FILE"} or any(cell[index] != "-" for cell in cells))
    ]


def _chosen(cells: Sequence[str], kept: Iterable[int]) -> tuple[str, ...]:
    return tuple(cells[index] for index in kept)


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
