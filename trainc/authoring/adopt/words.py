"""What became of the objects of a dump, in words and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainc.authoring.adopt.objects import ARCHIVE, HELD, JOBS, LeftOut
from trainc.authoring.adopt.repository import EQUAL, IN_PLACE, KEPT, UNKNOWN, AdoptedJob, Adoption
from trainc.model.finding import ERROR, WARNING, Finding
from trainc.text.counting import few

WRITTEN, UNCHANGED, DIFFERS = "written", "unchanged", "differs"
_MAX_NAMED = 5  # objects that are named one by one for one reason
_MAX_JOBS = 10  # whose fields are named
_MAX_FIELDS = 3  # of a job that are named
_MAX_SECRETS = 20
_TOP_RULES = 3
_OF_CLUSTER = (JOBS, HELD, ARCHIVE, "runtimes", "rendered")  # folders of what the dump holds
_FOLDERS = {JOBS: "jobs that trainc compiles", HELD: "jobs held back", ARCHIVE: "finished jobs"}


def adoption_lines(adoption: Adoption, states: Mapping[str, str], objects: int) -> Iterator[str]:
    """The account of a dump for people: files, what is left out, how builds stand to what runs, what to look at."""
    files = len(adoption.jobs) + len(adoption.runtimes)
    yield f"{_count(objects, 'object')}: {_count(files, 'file')}, {len(adoption.left)} left out"
    for folder, words in _FOLDERS.items():
        if paths := [job.path for job in adoption.jobs if job.folder == folder]:
            yield f"  {folder + '/':<10} {len(paths):>6}  {words}{_new(paths, states)}"
    if adoption.runtimes:
        yield f"  {'runtimes/':<10} {len(adoption.runtimes):>6}  runtimes{_new(adoption.runtimes, states)}"
    yield from _left_lines(adoption.left)
    yield from _held_lines(adoption.jobs)
    yield from _comparison_lines(adoption.jobs)
    yield from _note_lines(adoption.jobs)
    differing = [path for path, state in states.items() if state == DIFFERS and path.split("/")[0] in _OF_CLUSTER]
    if differing:
        yield f"kept, although the cluster differs: {_named(differing)}"
    yield from _finding_lines(adoption)


def _new(paths: Iterable[str], states: Mapping[str, str]) -> str:
    wrote = sum(states[path] == WRITTEN for path in paths)
    return "" if wrote == len(list(paths)) else f", {wrote} new"


def _left_lines(left: list[LeftOut]) -> Iterator[str]:
    by_reason: dict[tuple[str, str], list[str]] = {}
    for one in left:
        reason = "another object owns it" if " owns it" in one.reason else one.reason
        if one.reason.endswith("not in the dump"):
            reason = f"the {one.reason.partition(' ')[0]} that owns it is not in the dump"
        by_reason.setdefault((one.object.kind or "no kind", reason), []).append(one.object.shown)
    if by_reason:
        yield "left out:"
    for (kind, reason), names in sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"  {len(names):>6}  {kind}: {reason} ({_named(names)})"


def _held_lines(jobs: Iterable[AdoptedJob]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for job in jobs:
        if job.folder == HELD:
            by_reason.setdefault(job.reason, []).append(job.object.shown)
    if by_reason:
        yield "held back; when the job has finished or compiles, move its file to jobs/ and remove `.held` from its name:"
    for reason, names in sorted(by_reason.items()):
        yield f"  {len(names):>6}  {reason} ({_named(names)})"


def _comparison_lines(jobs: Iterable[AdoptedJob]) -> Iterator[str]:
    by_state: dict[str, list[AdoptedJob]] = {}
    for job in jobs:
        if job.comparison is not None:
            by_state.setdefault(job.comparison.state, []).append(job)
    if by_state:
        parts = [f"{len(by_state.get(state, ()))} {state}" for state in (EQUAL, IN_PLACE, KEPT, UNKNOWN)]
        yield f"build compared with the cluster: {', '.join(parts)}"
    words = {
        IN_PLACE: "the first sync changes these fields in place; nothing restarts",
        KEPT: "fields that cannot change while a job runs: its rendered file keeps what runs; `trainc run JOB` takes the change",
    }
    for state in (IN_PLACE, KEPT):
        if listed := by_state.get(state, []):
            yield f"  {len(listed):>6}  {words[state]}:"
        for job in listed[:_MAX_JOBS]:
            fields = job.comparison.differences if job.comparison is not None else ()
            yield f"          {job.object.shown}"
            yield from (f"            {field}" for field in fields[:_MAX_FIELDS])
            if len(fields) > _MAX_FIELDS:
                yield f"            and {len(fields) - _MAX_FIELDS} more fields"
        if len(listed) > _MAX_JOBS:
            yield f"          and {len(listed) - _MAX_JOBS} more jobs, which `--report json` lists"
    reasons: dict[str, list[str]] = {}
    for job in by_state.get(UNKNOWN, ()):
        assert job.comparison is not None
        reasons.setdefault(job.comparison.reason.rpartition(", and ")[2], []).append(job.object.shown)
    for reason, names in sorted(reasons.items()):
        yield f"  {len(names):>6}  unknown, {reason} ({_named(names)})"


def _note_lines(jobs: Iterable[AdoptedJob]) -> Iterator[str]:
    notes: dict[str, list[str]] = {}
    for job in jobs:
        for note in job.notes:
            notes.setdefault(note, []).append(job.object.shown)
        if job.applied_by:
            notes.setdefault(f"already applied by {job.applied_by}", []).append(job.object.shown)
    for note, names in sorted(notes.items()):
        yield f"note: {note} ({_named(names)})"


def _finding_lines(adoption: Adoption) -> Iterator[str]:
    for finding in adoption.secrets[:_MAX_SECRETS]:
        yield f"secret in plain text: {finding.span.file}:{finding.span.line}: {finding.message}"
    if len(adoption.secrets) > _MAX_SECRETS:
        yield f"and {len(adoption.secrets) - _MAX_SECRETS} more secrets in plain text"
    if adoption.secrets:
        yield "  move each to a Secret before you commit: Git never forgets"
    if counts := _rule_counts(adoption):
        yield "rules that fire most, each explained by `trainc explain RULE`:"
    for (rule, level), number in counts[:_TOP_RULES]:
        lowered = ", lowered to a warning in trainc.yaml until these jobs are fixed" if level == ERROR else ""
        yield f"  {number:>6}  {rule}{lowered}"
    for finding in adoption.failures:
        yield f"not rendered: {finding.span.file}:{finding.span.line}: {finding.message} [{finding.rule.name}]"


def _rule_counts(adoption: Adoption) -> list[tuple[tuple[str, str], int]]:
    counts: dict[tuple[str, str], int] = {}
    for finding in adoption.findings:
        if finding.level in (ERROR, WARNING):
            counts[finding.rule.name, finding.level] = counts.get((finding.rule.name, finding.level), 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _named(names: Iterable[str]) -> str:
    return few(names, _MAX_NAMED)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


def adoption_data(adoption: Adoption, states: Mapping[str, str], objects: int) -> dict[str, Any]:
    """The same for programs: every object of the dump, with its file or the reason why it has none."""
    rows = [_job_row(job, states) for job in adoption.jobs]
    rows += [
        {**_names(one), "file": path, "state": states[path], "place": "runtimes"}
        for path, one in sorted(adoption.runtimes.items())
    ]
    return {
        "objects": objects,
        "adopted": rows,
        "leftOut": [{**_names(one.object), "reason": one.reason} for one in adoption.left],
        "secrets": [_place(finding) for finding in adoption.secrets],
        "rules": [
            {"rule": rule, "level": level, "findings": number} for (rule, level), number in _rule_counts(adoption)
        ],
        "notRendered": [_place(finding) for finding in adoption.failures],
    }


def _job_row(job: AdoptedJob, states: Mapping[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {**_names(job.object), "file": job.path, "state": states[job.path], "place": job.folder}
    extra: dict[str, Any] = {"ended": job.ended, "reason": job.reason, "notes": job.notes, "appliedBy": job.applied_by}
    row |= {key: held for key, held in extra.items() if held}
    if job.comparison is not None:
        compared = job.comparison
        row["build"] = {"state": compared.state}
        row["build"] |= {"differences": list(compared.differences)} if compared.differences else {}
        row["build"] |= {"reason": compared.reason} if compared.reason else {}
    return row


def _names(one: Any) -> dict[str, str]:
    return {"apiVersion": one.api, "kind": one.kind, "namespace": one.namespace, "name": one.name}


def _place(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {"file": span.file, "line": span.line, "rule": finding.rule.name, "message": finding.message}
