"""What changes between two states of a project, job by job, and which edit caused it."""

from __future__ import annotations

from typing import NamedTuple

from trainc.compare.facts import Facts, facts
from trainc.compare.renamed import renamed
from trainc.compare.updates import update
from trainc.schema.served import Served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.compare.base import Base
    from trainc.compare.facts import Key
    from trainc.model.bundle import Bundle
    from trainc.model.settings import Project


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


class Diff(NamedTuple):
    """All of it: new jobs, jobs that are gone, edits, and totals on both sides."""

    added: tuple[Facts, ...]
    removed: tuple[Facts, ...]
    renamed: tuple[tuple[Facts, Facts], ...]  # the same job before and after
    edited: tuple[Edited, ...]
    accelerators: tuple[Mapping[str, int], Mapping[str, int]]
    hours: tuple[float | None, float | None]

    @property
    def empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.added or self.removed or self.renamed or self.edited)


def compare(old: Base, new: Iterable[Bundle], project: Project) -> Diff:
    """The difference in meaning between two states."""
    before, after = {f.key: f for f in map(facts, old.bundles)}, {f.key: f for f in map(facts, new)}
    servers = {cluster.name: Served(cluster) for cluster in project.clusters}
    groups: dict[tuple[object, ...], list[str]] = {}
    for key in sorted(before.keys() & after.keys()):
        was, now = before[key], after[key]
        if was.digest != now.digest:
            refused = update(was.jobset, now.jobset, servers[key[0]]).refused
            group = (
                _causes(was, now, old.edited),
                _changes(was, now),
                tuple(dict.fromkeys(change.shown for change in refused)),
            )
            groups.setdefault(group, []).append(shown(key))
    edited = [Edited(tuple(names), *group) for group, names in groups.items()]  # type: ignore[arg-type] # of three
    added = [after[key] for key in sorted(after.keys() - before.keys())]
    removed = [before[key] for key in sorted(before.keys() - after.keys())]
    moved = renamed(removed, added)
    told = {one.key for pair in moved for one in pair}
    return Diff(
        tuple(one for one in added if one.key not in told),
        tuple(one for one in removed if one.key not in told),
        tuple(moved),
        tuple(sorted(edited, key=lambda one: one.names)),
        (_total(before.values()), _total(after.values())),
        (_hours(before.values()), _hours(after.values())),
    )


def shown(key: Key) -> str:
    """A job's name as people write it: `eu/llm/bert`, without a cluster `llm/bert`."""
    return "/".join(part for part in key if part)


def _changes(was: Facts, now: Facts) -> tuple[Change, ...]:
    names = [*was.values, *(name for name in now.values if name not in was.values)]
    found = [
        Change(name, was.values.get(name, ""), now.values.get(name, ""))
        for name in names
        if was.values.get(name) != now.values.get(name)
    ]
    if found:
        return tuple(found)
    paths = sorted(p for p in {*was.digest, *now.digest} if was.digest.get(p) != now.digest.get(p))
    return tuple(Change(path.partition(" ")[2], _text(was, path), _text(now, path)) for path in paths)


def _text(facts_: Facts, path: str) -> str:
    return str(facts_.digest[path]) if path in facts_.digest else ""


def _causes(was: Facts, now: Facts, edited: frozenset[str] | None) -> tuple[str, ...]:
    """The edited files that the changed leaves rest on, else those that anything in the job rests on."""
    changed = [path for path in {*was.digest, *now.digest} if was.digest.get(path) != now.digest.get(path)]
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
