"""Tables and counts, as several answers have them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from trainc.text.counting import counted


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines, with columns as wide as their widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def or_unknown(value: object) -> str:
    return "?" if value is None else str(value)


def summary(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many jobs there are, and how many of each status."""
    counts = Counter(row["status"] for row in rows)
    listed = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return f"{counted(len(rows), 'job')}: {listed}"
