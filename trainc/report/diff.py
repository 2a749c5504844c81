"""`trainc diff` in words: for a terminal, for a pull request, for machines."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from urllib.parse import quote

from trainc.changes.compare.changes import Change, JobFacts, Key
from trainc.changes.compare.diff import Diff, Edited, Replaced
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.report.dumps import dumps
from trainc.report.lines import visible
from trainc.report.markdown import code, prose, sentence
from trainc.text.counting import counted, few
from trainc.text.line_diff import unified
from trainc.text.numbers import whole_number
from trainc.text.word_diff import differing

Spelling = Callable[[str], str]

_IGNORED = "Flux does not apply this to an existing run; start a new run"
MARKDOWN_ROOM = 60_000  # characters; a comment on GitHub takes 65,536, and a marker and totals go into it as well
_SIGNS = {"new": "+  ", "gone": "-  ", "edited": "~  "}
_SHOWN = 5  # names and changes that are spelled out before the rest is counted
_WIDTH = 100  # characters of a value that is shown whole
_LINES = 200  # of all differences together
_FILES = 20
MAX_ERRORS = 50  # errors that are listed: a comment takes 65,536 characters


def diff_lines(diff: Diff, base: str, *, whole: bool = False) -> list[str]:
    """For a terminal: what is new, gone, replaced and edited, then the totals; `whole` lists every change of a job."""
    lines = [f"+   {_name(job)}  {_size(job)}  {job.source}{_because(diff.causes, job)}" for job in diff.added]
    lines += [f"-   {_name(job)}  {_size(job)}  {job.source}{_because(diff.causes, job)}" for job in diff.removed]
    for one in diff.renamed:
        lines.append(f"-/+ {_name(one.was)} -> {_name(one.now)}  {_size(one.now)}  {one.now.source}{_moved(one)}")
        lines += listed_changes(one.changes, whole=whole)
    for one in diff.runs:
        sign = "-/+" if one.was.key in diff.causes else "+  "
        lines.append(f"{sign} {_name(one.now)}  {_size(one.now)}  {one.now.source}  next run of {one.was.key[2]}")
        lines += listed_changes(one.changes, whole=whole)
    for edited in sorted(diff.edited, key=lambda one: one.kept):
        lines += _edited_lines(edited, whole=whole)
    for other in diff.objects:
        causes = ", ".join(other.causes)
        because = f"  because of {causes}" if causes not in ("", other.present.source) else ""
        lines.append(f"{_SIGNS[other.state]} {_name(other.present)}  {other.present.source}{because}")
        lines += listed_changes(other.changes, whole=whole)
    return [f"nothing changes since {base}", *lines] if diff.empty else [*lines, "", *_totals(diff)]


def _because(causes: Mapping[Key, tuple[str, ...]], job: JobFacts) -> str:
    """The edits behind a job that is new or gone, where they are not the one of its own file."""
    others = causes.get(job.key, ())
    return f"  because of {', '.join(others)}" if others and others != (job.source,) else ""


def _moved(one: Replaced) -> str:
    (cluster, namespace, name), (other, place, called) = one.was.key, one.now.key
    what = [
        f"moved to {other or 'no cluster'}" if cluster != other else "",
        f"moved to the namespace {place}" if namespace != place else "",
        "renamed" if name != called else "",
    ]
    rest = "" if one.changes else ", nothing else changes"
    return f"  {', '.join(filter(None, what))}: restarts{rest}"


def _edited_lines(edited: Edited, *, whole: bool) -> list[str]:
    causes = ", ".join(edited.causes) or "trainc itself"
    changes = listed_changes(edited.changes, whole=whole)
    if edited.kept:
        keeps = "keeps its rendering" if len(edited.names) == 1 else "keep their renderings"
        head = f"=   {_names(edited.names)}  {keeps}, without the edit of {causes}"
        refused = few(edited.refused, _SHOWN)
        return [head, *changes, f"      {refused} cannot change in place; start a new run to apply the edit"]
    lines = [f"{'-/+' if edited.refused else '~  '} {_names(edited.names)}  because of {causes}", *changes]
    if edited.refused:
        lines.append(f"      {_refused(edited)}")
    return [*lines, f"      {_IGNORED}"] if edited.ignored else lines


def listed_changes(changes: Sequence[Change], *, whole: bool) -> list[str]:
    """What differs between two forms of a job: a line for each change, or for the first ones and how to see the rest."""
    lines = shown_changes(changes, len(changes) if whole else _SHOWN)
    return [*lines[:-1], f"{lines[-1]} (`--details` lists each)"] if len(changes) > _SHOWN and not whole else lines


def shown_changes(changes: Sequence[Change], most: int = _SHOWN) -> list[str]:
    """What differs between two forms of a job, a line for each of the first changes."""
    lines = [f"      {_change(change)}{_places(change)}" for change in _first(changes, most)]
    return [*lines, f"      and {len(changes) - most} more"] if len(changes) > most else lines


def _first(changes: Sequence[Change], most: int) -> Sequence[Change]:
    """As many changes: fields with both values first, then as many new as removed ones, so that no sort hides the others."""
    if len(changes) <= most:
        return changes
    edited = [change for change in changes if change.old and change.new]
    new, gone = [one for one in changes if not one.old], [one for one in changes if one.old and not one.new]
    sides = [change for pair in zip_longest(new, gone) for change in pair if change is not None]
    return [*edited, *sides][:most]


def _places(change: Change) -> str:
    if change.was_at and change.is_at and change.was_at != change.is_at:
        return f"  ({change.was_at} -> {change.is_at})"
    place = change.is_at if change.new else change.was_at
    return f"  ({place})" if place else ""


def diff_markdown(diff: Diff, base: str) -> list[str]:
    """For a pull request: a table of jobs and a line of totals."""
    if diff.empty and not diff.edited:
        return [f"Nothing changes in the compiled jobs since {code(base)}."]
    lines = [f"### Compiled jobs since {code(base)}", "", "| | job | what | because of |", "|---|---|---|---|"]
    if diff.empty:
        lines[1:1] = ["", "No applied object changes."]
    # What happens, to which job, what changes in it, and the edits behind that.
    rows: list[tuple[str, str, list[str], Iterable[str]]] = []
    rows += [("new", code(_name(job)), [_size(job)], _causes(diff, job)) for job in diff.added]
    rows += [("gone", code(_name(job)), [_size(job)], _causes(diff, job)) for job in diff.removed]
    moves = [("moved" if one.was.key[2] == one.now.key[2] else "renamed", _moved(one), one) for one in diff.renamed]
    for sign, move, one in (*moves, *(("new run", _size(one.now), one) for one in diff.runs)):
        both = f"{code(_name(one.was))} -> {code(_name(one.now))}"
        rows.append((sign, both, [prose(move.strip()), *_cells(one.changes)], _causes(diff, one.now)))
    for edited in sorted(diff.edited, key=lambda one: one.kept):
        what = _cells(edited.changes)
        if edited.refused:
            what.append(_refused(edited, prose, bold="**"))
        if edited.ignored:
            what.append(f"**{_IGNORED}**")
        sign = "kept" if edited.kept else "needs a new run" if edited.refused else "edited"
        rows.append((sign, _names(edited.names, code), what, edited.causes))
    for other in diff.objects:
        causes = other.causes or (other.present.source,)
        rows.append((other.state, code(_name(other.present)), _cells(other.changes), causes))
    lines += [
        f"| {sign} | {name} | {'<br>'.join(what)} | {', '.join(map(code, causes))} |"
        for sign, name, what, causes in rows
    ]
    return [*_fitting(lines), "", *map(sentence, _totals(diff))]


def _causes(diff: Diff, job: JobFacts) -> Iterable[str]:
    return diff.causes.get(job.key, ()) or (job.source,)


def _cells(changes: Sequence[Change]) -> list[str]:
    cells = [_change(change, code, prose) for change in _first(changes, _SHOWN)]
    return [*cells, f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else cells


def _fitting(lines: list[str]) -> list[str]:
    """As many lines as one comment takes; the rest is counted."""
    room = MARKDOWN_ROOM
    kept: list[str] = []
    for line in lines:
        room -= len(visible(line)) + 1
        if room >= 0:
            kept.append(line)
    left = len(lines) - len(kept)
    return [*kept, "", f"and {left} more rows; `trainc diff` shows them"] if left else kept


def _refused(edited: Edited, prose: Spelling = str, *, bold: str = "") -> str:
    refused = prose(few(edited.refused, _SHOWN))
    if edited.kept:
        return f"{bold}committed runs keep their rendering{bold}: {refused} cannot change in place"
    return f"{bold}the API server rejects this change in place{bold}: {refused}"


def _name(job: JobFacts) -> str:
    return "/".join(part for part in job.key if part)


def _size(job: JobFacts) -> str:
    counts = [whole_number(text) for what, text in job.values.items() if what.startswith("nodes of ")]
    nodes = "?" if None in counts else sum(filter(None, counts))
    held = ", ".join(f"{count} {resource}" for resource, count in sorted(job.accelerators.items()))
    return f"{nodes} {'pod' if nodes == 1 else 'pods'}" + (f", {held}" if held else "")


def _names(names: tuple[str, ...], code: Spelling = str) -> str:
    first = ", ".join(map(code, names))
    return first if len(names) == 1 else f"{len(names)} jobs: {first}"


def _change(change: Change, code: Spelling = str, prose: Spelling = str) -> str:
    old, new = map(code, differing(change.old, change.new, _WIDTH))
    what = prose(change.what)
    if not change.old:
        return f"{what}: {new} (new)"
    return f"{what}: {old} -> {new}" if change.new else f"{what}: {old} (removed)"


def _totals(diff: Diff) -> list[str]:
    lines = [f"accelerators: {_before_and_after(*map(_held, diff.accelerators))}"]
    for (cluster, queue), (held, held_now) in diff.groups.items() if len(diff.groups) > 1 else ():
        if held != held_now:
            group = f"cluster {cluster}, " if cluster else ""
            lines.append(f"{group}{f'queue {queue}' if queue else 'no queue'}: {_held(held)} -> {_held(held_now)}")
    if any(diff.hours):
        aside = ", not counting restarts outside the limit" if diff.uncounted else ""
        old, new = ("unlimited" if hours is None else f"{hours:,.0f}" for hours in diff.hours)
        lines.append(f"maximum accelerator hours{aside}: {_before_and_after(old, new)}")
    for one in diff.turned:
        words = f"{one.old} -> {one.new}" if one.old else f"{one.new} (new)"
        reason = f": {one.reason}" if one.reason else ""
        lines.append(f"{'/'.join(filter(None, one.key))}, with all jobs at once: {words}{reason}")
    return lines


def _before_and_after(old: str, new: str) -> str:
    return f"{old}, unchanged" if old == new else f"{old} -> {new}"


def _held(total: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {resource}" for resource, count in total.items()) or "none"


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


def mark(folder: str) -> str:
    """The first line of a comment, which no reader sees; each folder of a repository has a comment of its own."""
    return f"<!-- trainc diff of {quote(folder)} -->" if folder else "<!-- trainc diff -->"


def refused_lines(report: Report, shown: Callable[[str], str], base: str) -> list[str]:
    """What a comment says where the jobs do not compile, so that nothing can be compared."""
    errors = [finding for finding in report.findings if finding.level == ERROR]
    lines = [f"### The jobs do not compile: {counted(len(errors), 'error')}", ""]
    lines += [f"The changes since {code(base)} are unknown.", ""]
    for finding in errors[:MAX_ERRORS]:
        place = code(f"{shown(finding.span.file)}:{finding.span.line}"[:300])
        lines.append(f"- {place}: {sentence(finding.message[:300])}")
    if len(errors) > MAX_ERRORS:
        lines.append(f"- and {len(errors) - MAX_ERRORS} more")
    return lines


def diff_json(diff: Diff, base: str) -> str:
    """For machines: everything, nothing shortened."""
    added = [{**_job(job, diff), "after": ""} for job in diff.added]
    added += [{**_job(one.now, diff), "after": one.was.key[2], **_changes(one.changes)} for one in diff.runs]
    former = [one.was for one in diff.runs if one.was.key in diff.causes]
    content = {
        "base": base,
        "added": added,
        "removed": [_job(job, diff) for job in sorted([*diff.removed, *former], key=lambda job: job.key)],
        "renamed": [
            {"old": _job(one.was), "new": _job(one.now), **_causes_of(one.now, diff), **_changes(one.changes)}
            for one in diff.renamed
        ],
        "edited": [
            {
                "jobs": list(edited.names),
                "causes": list(edited.causes),
                **_changes(edited.changes),
                "refused": list(edited.refused),
                "kept": edited.kept,
                "ignored": edited.ignored,
            }
            for edited in diff.edited
        ],
        "objects": [
            {
                **_named(other.present.key),
                "source": other.present.source,
                "state": other.state,
                "causes": list(other.causes),
                **_changes(other.changes),
            }
            for other in diff.objects
        ],
        "accelerators": _sides(diff.accelerators),
        "groups": [
            {"cluster": cluster, "queue": queue, "accelerators": _sides(sides)}
            for (cluster, queue), sides in diff.groups.items()
        ],
        "acceleratorHours": {"old": diff.hours[0], "new": diff.hours[1]},
        "uncountedRestarts": diff.uncounted,
        "answers": [{**_named(one.key), "old": one.old, "new": one.new, "reason": one.reason} for one in diff.turned],
    }
    return dumps(content)


def _sides(sides: tuple[Mapping[str, int], Mapping[str, int]]) -> dict[str, object]:
    return {"old": dict(sides[0]), "new": dict(sides[1])}


def _changes(changes: Iterable[Change]) -> dict[str, object]:
    names = ("what", "old", "new", "oldPlace", "newPlace")
    return {"changes": [dict(zip(names, one, strict=True)) for one in changes]}


def _named(key: Key) -> dict[str, object]:
    return dict(zip(("cluster", "namespace", "name"), key, strict=True))


def _job(job: JobFacts, diff: Diff | None = None) -> dict[str, object]:
    """A job, with the edits behind its part in a diff."""
    row = {**_named(job.key), "source": job.source, "accelerators": dict(job.accelerators)}
    return row if diff is None else {**row, **_causes_of(job, diff)}


def _causes_of(job: JobFacts, diff: Diff) -> dict[str, object]:
    return {"causes": list(diff.causes.get(job.key, ()))}
