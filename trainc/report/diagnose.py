"""Answers of `trainc diagnose` for people: for each job where it stands, the first cause, and the line in Git."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainc.report.tables import summary
from trainc.text.counting import few

_PODS = 4  # pods that are named one by one
_MAX_LINES = 8  # lines of one sort for one job


def diagnosis_lines(
    rows: Sequence[Mapping[str, Any]], faults: Sequence[str], not_judged: Sequence[str], date: str
) -> list[str]:
    """All lines: a paragraph for each job that stands or failed, a line for each other one, and a summary."""
    lines = [f"the cluster as of {date}" if date else "the cluster as of an unknown time"]
    for row in rows:
        lines.extend(_job(row))
    lines.extend(f"not read: {fault}" for fault in faults[:_MAX_LINES])
    if len(faults) > _MAX_LINES:
        lines.append(f"not read: {len(faults) - _MAX_LINES} more items")
    if not_judged:
        lines.append(f"skipped: {', '.join(not_judged[:_MAX_LINES])}")
    return [*lines, summary(rows) if rows else "no jobs in the input"]


def _job(row: Mapping[str, Any]) -> Iterator[str]:
    yield f"{row['kind']} {row['job']}: {row['status']}" + (f", {row['summary']}" if row["summary"] else "")
    if cause := row.get("cause"):
        yield f"  first cause: {cause['headline']} [{cause['name']}]"
        if cause.get("since"):
            yield f"    since {cause['since']}"
        for quote in cause.get("messages", ())[:_MAX_LINES]:
            yield f"    | {quote}"
        pods = cause.get("pods", ())
        if len(pods) > 1:
            yield f"    pods: {few(pods, _PODS)}"
        yield from _git(row)
        if cause.get("help"):
            yield f"    help: {cause['help']}"
    others = row.get("others", ())
    for word, is_result in (("also", False), ("follows", True)):
        listed = [other for other in others[:_MAX_LINES] if other["result"] == is_result]
        yield from (f"  {word}: {other['headline']} [{other['name']}]" for other in listed)
    for key, title in (("notes", "note"), ("unknown", "unknown")):
        yield from (f"  {title}: {text}" for text in row.get(key, ())[:_MAX_LINES])
        if len(row.get(key, ())) > _MAX_LINES:
            yield f"  {title}: and {len(row[key]) - _MAX_LINES} more"


def _git(row: Mapping[str, Any]) -> Iterator[str]:
    git = row.get("git", {})
    for key, tool in row.get("appliedBy", {}).items():
        yield f"    applied by {key} `{tool}`"
    if "file" in git:
        value = f": {git['value']}" if "value" in git else ""
        yield f"    in Git: {git['file']}:{git['line']}:{git['column']} {git['field']}{value}"
    for text in git.get("notes", ()):
        yield f"    in Git: {text}"
