"""Answers of `trainc fit` for people: a table in the terminal, and Markdown for a pull request."""

from collections.abc import Mapping, Sequence
from typing import Any

from trainc.report.markdown import code, sentence
from trainc.report.tables import aligned, summary
from trainc.text.counting import few

_HOSTS = 4  # domains that are named one by one


def table(rows: Sequence[Mapping[str, Any]], dumps: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The lines of the table: a line for each job, and below it why it waits and what would help."""
    cells = [(_job(row), row["status"], placing(row)) for row in rows]
    if not cells:
        return []
    lines = _headings(dumps)
    for row, line in zip(rows, aligned(cells), strict=True):
        lines += [line, *(f"    {text}" for text in _details(row))]
    return [*lines, summary(rows)]


def markdown(rows: Sequence[Mapping[str, Any]], dumps: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The same as a Markdown table."""
    head = "| job | result | where | reason and help |"
    lines = [*map(sentence, _headings(dumps)), "", head, "|---|---|---|---|"]
    for row in rows:
        details = "<br>".join(map(sentence, _details(row)))
        lines.append(f"| {code(_job(row))} | {row['status']} | {sentence(placing(row))} | {details} |")
    return [*lines, "", summary(rows)]


def _headings(dumps: Mapping[str, Mapping[str, Any]]) -> list[str]:
    out = []
    for name, dump in sorted(dumps.items()):
        of = f"cluster `{name}` " if name else "the cluster "
        out.append(f"{of}as dumped on {dump['date'] or 'an unknown date'}")
        if dump["assumedEmpty"]:
            out.append(f"not in the dump, assumed empty: {', '.join(dump['assumedEmpty'])}")
    return out


def _job(row: Mapping[str, Any]) -> str:
    at = f" on {row['cluster']}" if row.get("cluster") else ""
    return f"{row['job']}{at}"


def placing(row: Mapping[str, Any]) -> str:
    """The queue, the flavors and the nodes; empty for a job that gets none."""
    parts = []
    kueue = row.get("kueue") or {}
    if kueue.get("quotaReserved"):
        flavors = sorted({name for one in kueue.get("podSets", []) for name in one.get("flavors", {}).values()})
        parts.append(f"queue {kueue['queue']} ({kueue['clusterQueue']}), flavor {', '.join(flavors) or 'none'}")
        for cohort in sorted({one["cohort"] for one in kueue.get("borrowed", [])}):
            lent = [f"{one['amount']} {one['resource']}" for one in kueue["borrowed"] if one["cohort"] == cohort]
            parts.append(f"borrows {', '.join(lent)} from cohort {cohort}")
        if kueue.get("pendingAdmissionChecks"):
            parts.append(f"after the admission checks {', '.join(kueue['pendingAdmissionChecks'])}")
        names: list[str] = []
        for one in kueue.get("podSets", []):
            names += ["/".join(domain["values"]) for domain in one.get("topology", {}).get("domains", [])]
        parts += [f"on {few(sorted(set(names)), _HOSTS)}"] if names else []
    elif row["status"] == "fits":
        groups = row.get("pods", {}).get("groups", [])
        placed = sorted({name for group in groups for name in group.get("nodes", {})})
        parts.append(f"on {few(placed, _HOSTS)}" if placed else f"on any of {few(row['nodes']['first'], _HOSTS)}")
    if "headroom" in row and row["status"] == "fits":
        parts.append(f"{row['headroom']} more {'node' if row['headroom'] == 1 else 'nodes'} would fit")
    return ", ".join(parts)


def _details(row: Mapping[str, Any]) -> list[str]:
    details = [f"{row['file']}:{row['line']}: {row['reason']}"] if row.get("reason") else []
    for group in row.get("pods", {}).get("groups", []) if row["status"] not in {"fits", "never"} else ():
        details += [f"{group['replicatedJob']}: {text}" for text in group.get("pending", [])]
    return [*details, *([f"help: {row['change']}"] if row.get("change") else [])]
