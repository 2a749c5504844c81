"""`trainc diff` in words: for a terminal, for a pull request, for machines."""

from __future__ import annotations

from trainc.model.markdown import code, prose, sentence
from trainc.model.numbers import whole_number
from trainc.report.dumps import dumps
from trainc.report.lines import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from trainc.compare.diff import Change, Diff, Edited
    from trainc.compare.facts import Facts

    Spelling = Callable[[str], str]

_IGNORED = "Flux does not apply this to a run that exists; start a new run"
MARKDOWN_ROOM = 60_000  # characters; a comment on GitHub takes 65,536, and a marker and totals go into it as well
_SHOWN = 5  # names and changes that are spelled out before the rest is counted


def diff_lines(diff: Diff, base: str) -> list[str]:
    """For a terminal: what is new, gone, renamed and edited, then the totals."""
    if diff.empty:
        return [f"nothing changes since {base}"]
    lines = [f"+ {_name(job)}  {_size(job)}  {job.source}{_run(job, diff)}" for job in diff.added]
    lines += [f"- {_name(job)}  {_size(job)}  {job.source}" for job in diff.removed]
    lines += [
        f"> {_name(was)} -> {_name(now)}  {_size(now)}  {now.source}  starts again, nothing but the name changes"
        for was, now in diff.renamed
    ]
    for edited in diff.edited:
        lines.append(f"~ {_names(edited.names)}  because of {', '.join(edited.causes) or 'trainc itself'}")
        lines += [f"    {_change(change)}" for change in edited.changes[:_SHOWN]]
        if len(edited.changes) > _SHOWN:
            lines.append(f"    and {len(edited.changes) - _SHOWN} more")
        if edited.refused:
            lines.append(f"    {_refused(edited)}")
        if edited.ignored:
            lines.append(f"    {_IGNORED}")
    return [*lines, "", *_totals(diff)]


def diff_markdown(diff: Diff, base: str) -> list[str]:
    """For a pull request: a table of jobs and a line of totals."""
    if diff.empty:
        return [f"Nothing changes in the compiled jobs since {code(base)}."]
    lines = [f"### Compiled jobs since {code(base)}", "", "| | job | what | because of |", "|---|---|---|---|"]
    lines += [_row(f"new{' run' if job.key in diff.runs else ''}", code(_name(job)), job) for job in diff.added]
    lines += [_row("gone", code(_name(job)), job) for job in diff.removed]
    lines += [
        _row("renamed, starts again", f"{code(_name(was))} -> {code(_name(now))}", now) for was, now in diff.renamed
    ]
    for edited in diff.edited:
        what = "<br>".join(_change(change, code, prose) for change in edited.changes[:_SHOWN])
        if len(edited.changes) > _SHOWN:
            what += f"<br>and {len(edited.changes) - _SHOWN} more"
        if edited.refused:
            what += f"<br>{_refused(edited, prose, bold='**')}"
        if edited.ignored:
            what += f"<br>**{_IGNORED}**"
        causes = ", ".join(code(cause) for cause in edited.causes)
        lines.append(f"| {'kept' if edited.kept else 'edited'} | {_names(edited.names, code)} | {what} | {causes} |")
    return [*_fitting(lines), "", *map(sentence, _totals(diff))]


def _row(what: str, name: str, job: Facts) -> str:
    return f"| {what} | {name} | {prose(_size(job))} | {code(job.source)} |"


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


def diff_json(diff: Diff, base: str) -> str:
    """For machines: everything, nothing shortened."""
    content = {
        "base": base,
        "added": [{**_job(job), "after": diff.runs.get(job.key, "")} for job in diff.added],
        "removed": [_job(job) for job in diff.removed],
        "renamed": [{"old": _job(was), "new": _job(now)} for was, now in diff.renamed],
        "edited": [_edited(edited) for edited in diff.edited],
        "accelerators": {"old": dict(diff.accelerators[0]), "new": dict(diff.accelerators[1])},
        "acceleratorHours": {"old": diff.hours[0], "new": diff.hours[1]},
        "uncountedRestarts": diff.uncounted,
    }
    return dumps(content)


def _job(job: Facts) -> dict[str, object]:
    cluster, namespace, name = job.key
    return {
        "cluster": cluster,
        "namespace": namespace,
        "name": name,
        "source": job.source,
        "accelerators": dict(job.accelerators),
    }


def _edited(edited: Edited) -> dict[str, object]:
    return {
        "jobs": list(edited.names),
        "causes": list(edited.causes),
        "changes": [{"what": change.what, "old": change.old, "new": change.new} for change in edited.changes],
        "refused": list(edited.refused),
        "kept": edited.kept,
        "ignored": edited.ignored,
    }


def _refused(edited: Edited, prose: Spelling = str, *, bold: str = "") -> str:
    refused = prose(_few(edited.refused))
    if edited.kept:
        return f"{bold}committed runs keep their rendering{bold}: {refused} cannot change in place"
    return f"{bold}the API server refuses this in place{bold}: {refused}"


def _run(job: Facts, diff: Diff) -> str:
    return f"  the run after {diff.runs[job.key]}" if job.key in diff.runs else ""


def _name(job: Facts) -> str:
    return "/".join(part for part in job.key if part)


def _size(job: Facts) -> str:
    counts = [whole_number(text) for what, text in job.values.items() if what.startswith("nodes of ")]
    nodes = "?" if None in counts else sum(filter(None, counts))
    held = ", ".join(f"{count} {resource}" for resource, count in sorted(job.accelerators.items()))
    return f"{nodes} {'pod' if nodes == 1 else 'pods'}" + (f", {held}" if held else "")


def _names(names: tuple[str, ...], code: Spelling = str) -> str:
    first = ", ".join(map(code, names))
    return first if len(names) == 1 else f"{len(names)} jobs: {first}"


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:_SHOWN]) + (f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else "")


def _change(change: Change, code: Spelling = str, prose: Spelling = str) -> str:
    old, new, what = code(_short(change.old)), code(_short(change.new)), prose(change.what)
    if not change.old:
        return f"{what}: {new} (new)"
    return f"{what}: {old} -> {new}" if change.new else f"{what}: {old} (gone)"


def _short(text: str) -> str:
    flat = text.replace("\n", " ")
    return flat if len(flat) <= 100 else f"{flat[:97]}..."


def _totals(diff: Diff) -> list[str]:
    lines = [f"accelerators: {_held(diff.accelerators[0])} -> {_held(diff.accelerators[1])}"]
    old, new = diff.hours
    if old or new:
        aside = ", restarts that do not count aside" if diff.uncounted else ""
        lines.append(f"accelerator hours at most{aside}: {_bound(old)} -> {_bound(new)}")
    return lines


def _bound(hours: float | None) -> str:
    return "no bound" if hours is None else f"{hours:,.0f}"


def _held(total: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {resource}" for resource, count in total.items()) or "none"
