"""What changes between two states of a project, job by job, and which edit caused it."""

from __future__ import annotations

from typing import NamedTuple

from trainc.compare.facts import QUEUES, Facts, facts
from trainc.compare.order import moved
from trainc.compare.renamed import renamed
from trainc.compare.updates import update
from trainc.model.created_once import is_created_once
from trainc.model.masking import MASK, named_secret, variable_of
from trainc.model.numbers import whole_number
from trainc.server.schema.served import Served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.compare.base import Base
    from trainc.compare.facts import Key
    from trainc.compare.updates import Change as Leaf
    from trainc.model.bundle import Bundle
    from trainc.model.settings import Project

_TOLD = frozenset(("args", "command", "completions", "env", "image", "parallelism", "resources"))


class Change(NamedTuple):
    """One thing that differs; an empty side is one where it is not there."""

    what: str
    old: str
    new: str


class Edited(NamedTuple):
    """Jobs that change in the same way for the same reason."""

    names: tuple[str, ...]
    causes: tuple[str, ...]  # the files whose edit reaches them
    changes: tuple[Change, ...]
    refused: tuple[str, ...]  # fields that the API server would refuse to change in place
    kept: bool  # whether the committed rendering stays because of that: nobody edited the jobs themselves
    ignored: bool  # whether Flux leaves the jobs as they are: it creates a JobSet once


class Diff(NamedTuple):
    """All of it: new jobs, jobs that are gone, edits, and totals on both sides.

    `runs` holds for each new job that is the next run of one on the other side what that one is called, `uncounted`
    whether jobs that hold accelerators are restarted without end for reasons that use up none of their restarts.
    """

    added: tuple[Facts, ...]
    removed: tuple[Facts, ...]
    renamed: tuple[tuple[Facts, Facts], ...]  # the same job before and after
    edited: tuple[Edited, ...]
    accelerators: tuple[Mapping[str, int], Mapping[str, int]]
    hours: tuple[float | None, float | None]
    uncounted: bool
    runs: Mapping[Key, str]

    @property
    def empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.added or self.removed or self.renamed or self.edited)


def compare(old: Base, new: Iterable[Bundle], project: Project) -> Diff:
    """The difference in meaning between two states."""
    bundles = {one.key: (one, bundle) for bundle in new for one in [facts(bundle)]}
    before, after = {f.key: f for f in map(facts, old.bundles)}, {key: one for key, (one, _) in bundles.items()}
    runs = _next_runs(before, after)
    if project.old_run == "keep":
        jobs = {_job(one) for one in after.values()}
        after |= {key: before[key] for key in before.keys() - after.keys() if _job(before[key]) in jobs}
    servers = {cluster.name: Served(cluster) for cluster in project.clusters}
    groups: dict[tuple[object, ...], list[str]] = {}
    for key in sorted(before.keys() & after.keys()):
        was, now = before[key], after[key]
        if not _differ(was, now):
            continue
        refused = update(was.jobset, now.jobset, servers[key[0]]).refused
        standing = old.kept(bundles[key][1], was.jobset) if refused else None
        if standing is not None:
            after[key] = facts(standing)
            if _reached(old, after[key], now):
                groups.setdefault(_group(after[key], now, old, refused, kept=True), []).append(shown(key))
            if not _differ(was, after[key]):
                continue
            now = after[key]
            refused = update(was.jobset, now.jobset, servers[key[0]]).refused
        groups.setdefault(_group(was, now, old, refused, kept=False), []).append(shown(key))
    edited = [Edited(tuple(names), *group) for group, names in groups.items()]  # type: ignore[arg-type] # of four
    added = [after[key] for key in sorted(after.keys() - before.keys())]
    removed = [before[key] for key in sorted(before.keys() - after.keys())]
    pairs = renamed(removed, [one for one in added if one.key not in runs])
    told = {one.key for pair in pairs for one in pair}
    return Diff(
        tuple(one for one in added if one.key not in told),
        tuple(one for one in removed if one.key not in told),
        tuple(pairs),
        tuple(sorted(edited, key=lambda one: one.names)),
        (_total(before.values()), _total(after.values())),
        (_hours(before.values()), _hours(after.values())),
        any(one.uncounted and one.accelerators for one in (*before.values(), *after.values())),
        runs,
    )


def _differ(was: Facts, now: Facts) -> bool:
    return was.digest != now.digest or was.order != now.order


def _group(was: Facts, now: Facts, old: Base, refused: Iterable[Leaf], *, kept: bool) -> tuple[object, ...]:
    """What jobs have in common that are told in one place: all fields of an `Edited` but the names."""
    causes = _causes(was, now, old.edited)
    shared = tuple(cause for cause in causes if cause != now.source) if kept else ()
    return (
        shared or causes,
        _changes(was, now),
        tuple(dict.fromkeys(change.shown for change in refused)),
        kept,
        not refused and is_created_once(now.jobset),
    )


def _reached(old: Base, kept: Facts, now: Facts) -> bool:
    """Whether an edit has to do with what a run does not take; what a rendering was kept from before is no news.

    An edit of the job alone has not: what it changes is in the rendering that stays.
    """
    shared = frozenset().union(*now.files.values()) - {now.source}
    changed = frozenset().union(*(now.files.get(path, frozenset()) for path in _changed(kept, now)))
    return not (old.edited or frozenset()).isdisjoint(shared | changed)


def _next_runs(before: Mapping[Key, Facts], after: Mapping[Key, Facts]) -> dict[Key, str]:
    """What each new job is the next run of; the numbers of runs only ever grow."""
    earlier = {_job(before[key]): key[2] for key in sorted(before, key=_number)}
    return {key: earlier[_job(now)] for key, now in after.items() if key not in before and _job(now) in earlier}


def _job(one: Facts) -> tuple[str, str, str, str]:
    """What all runs of a job have in common: where they run, the name without the number, the file."""
    name, mark, run = one.key[2].rpartition("-r")
    return (*one.key[:2], name if mark and run.isdigit() else one.key[2], one.source)


def _number(key: Key) -> int:
    run = key[2].rpartition("-r")[2]
    return whole_number(run) or 1


def shown(key: Key) -> str:
    """A job's name as people write it: `eu/llm/bert`, without a cluster `llm/bert`."""
    return "/".join(part for part in key if part)


def _changes(was: Facts, now: Facts) -> tuple[Change, ...]:
    names = [*was.values, *(name for name in now.values if name not in was.values)]
    found = [
        Change(name, _masked(name, was.values.get(name, "")), _masked(name, now.values.get(name, "")))
        for name in names
        if was.values.get(name) != now.values.get(name)
    ]
    paths = [path for path in _changed(was, now) if not (found and _is_told(path))]
    found += [Change(path.partition(" ")[2], _text(was, path), _text(now, path)) for path in paths]
    for path, old, new in moved(was.order, now.order):
        found.append(Change(f"order of {path.partition(' ')[2]}", ", ".join(map(str, old)), ", ".join(map(str, new))))
    return tuple(found)


def _changed(was: Facts, now: Facts) -> list[str]:
    return sorted(p for p in {*was.digest, *now.digest} if was.digest.get(p) != now.digest.get(p))


def _is_told(path: str) -> bool:
    """Whether a leaf is among what a reviewer asks about, or follows from it as the numbers of a PodGroup do."""
    named, _, steps = path.partition(" ")
    _, inside, field = steps.partition("ontainers[")
    field = field.partition("].")[2].partition(".")[0].partition("[")[0] if inside else steps.rpartition(".")[2]
    return named.startswith("PodGroup/") or field in _TOLD or any(name in steps for name in QUEUES)


def _text(facts_: Facts, path: str) -> str:
    text = str(facts_.digest[path]) if path in facts_.digest else ""
    return MASK if text and named_secret(variable_of(path)) else text


def _masked(name: str, text: str) -> str:
    """What a reviewer is shown of a fact: not the literal value of a variable that holds a secret."""
    is_literal = text and not text.startswith("{'")  # a reference to a Secret is shown as one
    return MASK if is_literal and name.startswith("env ") and named_secret(name.split(" ")[1]) else text


def _causes(was: Facts, now: Facts, edited: frozenset[str] | None) -> tuple[str, ...]:
    """The edited files that the changed leaves rest on, else those that anything in the job rests on."""
    changed = [*_changed(was, now), *(path for path, *_ in moved(was.order, now.order))]
    found: frozenset[str] = frozenset()
    for path in changed:
        found |= now.files.get(path) or was.files.get(path) or frozenset()
    if edited is not None:
        every = frozenset({now.source}.union(*now.files.values()))
        came = frozenset().union(*now.files.values()) - frozenset().union(*was.files.values())
        # A file that is new to the job is there because the job's own file asks for it.
        asked = frozenset({now.source}) & edited if came & found else frozenset()
        found = (found & edited) | asked or (every & edited) or found
    return tuple(sorted(found))


def _total(jobs: Iterable[Facts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for job in jobs:
        for resource, count in job.accelerators.items():
            total[resource] = total.get(resource, 0) + count
    return dict(sorted(total.items()))


def _hours(jobs: Iterable[Facts]) -> float | None:
    """The sum of the bounds, None where a job with accelerators has none."""
    total = 0.0
    for job in jobs:
        if job.accelerators and job.hours is None:
            return None
        total += job.hours or 0.0
    return total
