"""What became of the objects of a dump, in words and as data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from trainc.authoring.adopt.objects import ARCHIVE, HELD, JOBS, LeftOut
from trainc.authoring.adopt.repository import EQUAL, IN_PLACE, KEPT, UNKNOWN, AdoptedJob, Adoption
from trainc.model.finding import ERROR, WARNING, Finding
from trainc.text.counting import few

K = TypeVar("K")
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
    held = _grouped((job.reason, job.object.shown) for job in adoption.jobs if job.folder == HELD)
    if held:
        yield "held back; when the job has finished or compiles, move its file to jobs/ and remove `.held` from its name:"
    yield from (f"  {len(names):>6}  {reason} ({_named(names)})" for reason, names in sorted(held.items()))
    yield from _comparison_lines(adoption.jobs)
    notes = [(note, job.object.shown) for job in adoption.jobs for note in job.notes]
    notes += [(f"already applied by {job.applied_by}", job.object.shown) for job in adoption.jobs if job.applied_by]
    yield from (f"note: {note} ({_named(names)})" for note, names in sorted(_grouped(notes).items()))
    differing = [path for path, state in states.items() if state == DIFFERS and path.split("/")[0] in _OF_CLUSTER]
    if differing:
        yield f"kept, although the cluster differs: {_named(differing)}"
    yield from _finding_lines(adoption)


def _new(paths: Iterable[str], states: Mapping[str, str]) -> str:
    wrote = sum(states[path] == WRITTEN for path in paths)
    return "" if wrote == len(list(paths)) else f", {wrote} new"


def _grouped(named: Iterable[tuple[K, str]]) -> dict[K, list[str]]:
    """The names of what has something in common, by that."""
    groups: dict[K, list[str]] = {}
    for key, name in named:
        groups.setdefault(key, []).append(name)
    return groups


def _left_lines(left: list[LeftOut]) -> Iterator[str]:
    reasons = []
    for one in left:
        reason = "another object owns it" if " owns it" in one.reason else one.reason
        if one.reason.endswith("not in the dump"):
            reason = f"the {one.reason.partition(' ')[0]} that owns it is not in the dump"
        reasons.append(((one.object.kind or "no kind", reason), one.object.shown))
    if left:
        yield "left out:"
    for (kind, reason), names in sorted(_grouped(reasons).items(), key=lambda item: (-len(item[1]), item[0])):
        yield f"  {len(names):>6}  {kind}: {reason} ({_named(names)})"


def _comparison_lines(jobs: Iterable[AdoptedJob]) -> Iterator[str]:
    compared = [(job.object.shown, job.comparison) for job in jobs if job.comparison is not None]
    by_state = {
        state: [(shown, one) for shown, one in compared if one.state == state]
        for state in (EQUAL, IN_PLACE, KEPT, UNKNOWN)
    }
    if compared:
        yield f"build compared with the cluster: {', '.join(f'{len(held)} {state}' for state, held in by_state.items())}"
    words = {
        IN_PLACE: "the first sync changes these fields in place; nothing restarts",
        KEPT: "fields that cannot change while a job runs: its rendered file keeps what runs; `trainc run JOB` takes the change",
    }
    for state, about in words.items():
        if listed := by_state[state]:
            yield f"  {len(listed):>6}  {about}:"
        for shown, one in listed[:_MAX_JOBS]:
            yield f"          {shown}"
            yield from (f"            {field}" for field in one.differences[:_MAX_FIELDS])
            if len(one.differences) > _MAX_FIELDS:
                yield f"            and {len(one.differences) - _MAX_FIELDS} more fields"
        if len(listed) > _MAX_JOBS:
            yield f"          and {len(listed) - _MAX_JOBS} more jobs, which `--report json` lists"
    reasons = _grouped((one.reason.rpartition(", and ")[2], shown) for shown, one in by_state[UNKNOWN])
    for reason, names in sorted(reasons.items()):
        yield f"  {len(names):>6}  unknown, {reason} ({_named(names)})"


def _finding_lines(adoption: Adoption) -> Iterator[str]:
    for finding in adoption.secrets[:_MAX_SECRETS]:
        yield f"secret in plain text: {finding.span.file}:{finding.span.line}: {finding.message}"
    if len(adoption.secrets) > _MAX_SECRETS:
        yield f"and {len(adoption.secrets) - _MAX_SECRETS} more secrets in plain text"
    if adoption.secrets:
        yield "  move each to a Secret before you commit: Git never forgets. A running job keeps its own until it ends:"
        yield "  `kubectl create secret generic NAME --from-literal KEY=VALUE`, name it by `valueFrom.secretKeyRef` in the"
        yield "  held file, and move the file to jobs/ for the next run"
    if counts := _rule_counts(adoption):
        yield "rules that fire most, each explained by `trainc explain RULE`:"
    for (rule, level), number in counts[:_TOP_RULES]:
        lowered = ", lowered to a warning in trainc.yaml until these jobs are fixed" if level == ERROR else ""
        yield f"  {number:>6}  {rule}{lowered}"
    for finding in adoption.failures:
        yield f"not rendered: {finding.span.file}:{finding.span.line}: {finding.message} [{finding.rule.name}]"


def _rule_counts(adoption: Adoption) -> list[tuple[tuple[str, str], int]]:
    counts = Counter((one.rule.name, one.level) for one in adoption.findings if one.level in (ERROR, WARNING))
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
    if (compared := job.comparison) is not None:
        build = {"state": compared.state, "differences": list(compared.differences), "reason": compared.reason}
        row["build"] = {key: held for key, held in build.items() if held}
    return row


def _names(one: Any) -> dict[str, str]:
    return {"apiVersion": one.api, "kind": one.kind, "namespace": one.namespace, "name": one.name}


def _place(finding: Finding) -> dict[str, Any]:
    span = finding.span
    return {"file": span.file, "line": span.line, "rule": finding.rule.name, "message": finding.message}
