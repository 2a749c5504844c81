"""What became of many files: counts by kind, reasons by how many jobs they hold for, and each job's own changes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.changes.migrate import Migration, Outcome


def summary(files: Sequence[tuple[str, Migration]], ended: Sequence[tuple[str, str, str]] = ()) -> dict[str, Any]:
    """The answer of `trainc migrate` as plain data.

    `ended` are the jobs whose rendered run cannot become what they are now: the file, the name, and the rendered file.
    """
    jobs = [(file, outcome) for file, done in files for outcome in done.outcomes]
    older = {f"{outcome.kind} {outcome.name}" for _, outcome in jobs}
    return {
        "files": sum(done.touched for _, done in files),
        "kinds": _kinds([outcome for _, outcome in jobs]),
        "jobs": [_job(file, outcome) for file, outcome in jobs],
        "problems": [
            {"file": file, "line": one.span.line, "column": one.span.column, "message": one.message}
            for file, done in files
            for one in done.problems
        ],
        "respelled": [
            {"file": file, "document": change.document, "message": change.message}
            for file, done in files
            for change in done.changes
            if change.document not in older
        ],
        "newRuns": [{"file": file, "job": name, "rendering": rendering} for file, name, rendering in ended],
    }


def _kinds(outcomes: Iterable[Outcome]) -> list[dict[str, Any]]:
    """For each kind the number of jobs, of those that are migrated, and of those that each policy wires."""
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(outcome.kind, []).append(outcome)
    return [
        {
            "kind": kind,
            "jobs": len(counted),
            "migrated": sum(one.is_migrated for one in counted),
            "policies": dict(sorted(Counter(one.policy for one in counted if one.policy).items())),
        }
        for kind, counted in sorted(by_kind.items())
    ]


def _job(file: str, outcome: Outcome) -> dict[str, Any]:
    return {
        "file": file,
        "kind": outcome.kind,
        "name": outcome.name,
        "migrated": outcome.is_migrated,
        "policy": outcome.policy or None,
        "reason": outcome.reason or None,
        "changes": list(outcome.messages),
        "compiledOtherwise": [str(one) for one in outcome.differences],
        "reasons": sorted({one.reason for one in outcome.differences}),
    }
