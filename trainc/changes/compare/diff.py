"""What changes between two states of a project as they are applied, job by job, and which edits caused it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trainc.apiserver.served import Served
from trainc.changes.compare.base import Base
from trainc.changes.compare.causes import Edits, Search, Target, edits
from trainc.changes.compare.changes import (
    Change,
    Pairs,
    as_called,
    changed_paths,
    changes_of,
    job_identity,
    next_runs,
    renamed,
    with_common_places,
    without_places,
)
from trainc.changes.compare.facts import (
    JobFacts,
    Key,
    applied,
    differ,
    facts,
    job_key,
    names_apart,
    naming,
    object_key,
    split,
)
from trainc.changes.compare.rendered import file_of
from trainc.changes.compare.updates import update
from trainc.compiler import pipeline
from trainc.lint.tables.created_once import is_created_once
from trainc.model.bundle import KEEP, Bundle, job_of
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import Tree, value

Causes = Mapping[Key, tuple[str, ...]]


class Edited(NamedTuple):
    """Jobs that change in the same way for the same reason."""

    names: tuple[str, ...]
    causes: tuple[str, ...]  # a smallest set of files without whose edits the change would not be
    changes: tuple[Change, ...]
    refused: tuple[str, ...]  # fields that the API server would refuse to change in place
    kept: bool  # whether the committed rendering stays because of that, so that nothing that is applied changes
    ignored: bool  # whether Flux leaves the jobs as they are: it creates a JobSet once


class Replaced(NamedTuple):
    """A job that takes the place of another, or comes after it: the same job before and after, and what is not the same."""

    was: JobFacts
    now: JobFacts
    changes: tuple[Change, ...]


class OtherObject(NamedTuple):
    """An object beside jobs that is new (`was` is None), gone (`now` is None) or changed."""

    was: JobFacts | None
    now: JobFacts | None
    changes: tuple[Change, ...]
    causes: tuple[str, ...]

    @property
    def state(self) -> str:
        """What becomes of it, in one word."""
        return "new" if self.was is None else "gone" if self.now is None else "edited"

    @property
    def present(self) -> JobFacts:
        """Its form as it is now, or as it was last."""
        facts_of = self.now or self.was
        assert facts_of is not None
        return facts_of


class Turned(NamedTuple):
    """A job to which the cluster gives another answer than before, `old` empty for a new one; see `trainc fit`."""

    key: Key
    old: str
    new: str
    reason: str


class Diff(NamedTuple):
    """All of it: new jobs, jobs that are gone, edits, and totals on both sides.

    `runs` holds the new jobs that are the next run of one on the other side; their former runs are among `removed`
    where they go. `uncounted`: jobs that hold accelerators are restarted without end for reasons that use up none of
    their restarts. `groups` are the accelerators by cluster and queue, before and after.
    """

    added: tuple[JobFacts, ...]
    removed: tuple[JobFacts, ...]
    renamed: tuple[Replaced, ...]  # the same job before and after
    runs: tuple[Replaced, ...]
    edited: tuple[Edited, ...]
    accelerators: tuple[Mapping[str, int], Mapping[str, int]]
    groups: Mapping[tuple[str, str], tuple[Mapping[str, int], Mapping[str, int]]]
    hours: tuple[float | None, float | None]
    uncounted: bool
    causes: Causes  # of jobs that are new, gone or take the place of another
    jobsets: tuple[Mapping[Key, Tree], Mapping[Key, Tree]] = ({}, {})
    turned: tuple[Turned, ...] = ()
    objects: tuple[OtherObject, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing that is applied changes."""
        edited = any(not one.kept for one in self.edited)
        return not (self.added or self.removed or self.renamed or self.runs or edited or self.objects)


def compare(old: Base, new: Iterable[Bundle], project: Project, selection: Selection) -> Diff:
    """The difference between two states as they are applied."""
    states = Sides(old, new, project, selection)
    before, after = states.before, states.after
    runs = next_runs(before, after)
    added = [after[key] for key in sorted(after.keys() - before.keys())]
    removed = [before[key] for key in sorted(before.keys() - after.keys())]
    pairs = renamed(removed, [one for one in added if one.key not in runs])
    in_pairs = {one.key for pair in pairs for one in pair} | runs.keys() | set(runs.values())
    changed = {key for key in before.keys() & after.keys() if differ(before[key], after[key])}
    held = {
        key for key in states.renderings.keys() & states.compiled.keys() if differ(after[key], states.compiled[key])
    }
    elsewhere = {one.key for one in (*added, *removed)}
    beside = states.changed_objects()
    causes, behind = _explained(states, changed | elsewhere | beside, held, selection)
    return Diff(
        tuple(one for one in added if one.key not in in_pairs),
        tuple(one for one in removed if one.key not in in_pairs),
        _replaced(pairs),
        _replaced([(before[was], after[key]) for key, was in sorted(runs.items())]),
        tuple(_edited(states, changed, causes, behind)),
        (_total(before.values()), _total(after.values())),
        _groups(before.values(), after.values()),
        (_hours(before.values()), _hours(after.values())),
        any(one.uncounted and one.accelerators for one in (*before.values(), *after.values())),
        {key: causes.get(key, ()) for key in elsewhere},
        ({key: one.jobset for key, one in before.items()}, {key: one.jobset for key, one in after.items()}),
        objects=tuple(_other_object(states, key, causes) for key in sorted(beside)),
    )


def _other_object(states: Sides, key: Key, causes: Causes) -> OtherObject:
    was, now = (side.get(key) for side in states.objects)
    return OtherObject(
        was, now, changes_of(was, now) if was is not None and now is not None else (), causes.get(key, ())
    )


def _explained(states: Sides, changed: set[Key], held: set[Key], selection: Selection) -> tuple[Causes, Causes]:
    """The causes of what changes, and of what runs do not take of edits since the base."""
    old = states.old
    if not (changed or held):
        return {}, {}
    if old.former is None or not old.edited:
        return {key: _rests_on(states, key) for key in changed}, {}
    with edits(states.project, selection, old.edited, old.former, states.apart) as known:
        causes = _searched(known, states, changed, held=False)
        behind = _searched(known, states, held & states.before.keys(), held=True)
    new = held - states.before.keys()  # runs since the base, whose renderings the base does not have
    if new:
        edited = [name for name in old.edited if name not in {states.renderings[key] for key in new}]
        with edits(states.project, selection, edited, old.former, states.apart) as known:
            behind = {**behind, **_searched(known, states, new, held=True)}
    return {key: causes.get(key) or _rests_on(states, key) for key in changed}, behind


def _searched(known: Edits, states: Sides, keys: set[Key], *, held: bool) -> Causes:
    wanted = frozenset(_wanted(states, key) for key in keys)
    return Search(known, known.names, wanted, held=held).causes() if wanted else {}


def _wanted(states: Sides, key: Key) -> Target:
    forms = [one[key] for one in (states.before, states.compiled, *states.objects) if key in one]
    own = frozenset(one.source for one in forms)
    sources = own | states.naming(key)
    files = sources.union(*(names for one in forms for names in one.files.values()))
    return Target(key, own, sources, states.renderings.get(key, ""), files)


def _rests_on(states: Sides, key: Key) -> tuple[str, ...]:
    """The files that the changed leaves rest on, the edited ones if any; for states without known edits."""
    sides = [(states.before, states.after), states.objects]
    was, now = next((old.get(key), new.get(key)) for old, new in sides if key in old or key in new)
    edited = states.old.edited
    if was is None or now is None:
        return tuple(one.source for one in (was, now) if one is not None)
    files: frozenset[str] = frozenset()
    for path in changed_paths(was, now):
        files |= now.files.get(path) or was.files.get(path) or frozenset()
    rendering = states.renderings.get(key, "")
    return tuple(sorted(files & (edited or frozenset()) or ({rendering} if rendering else files)))


def _replaced(pairs: Pairs) -> tuple[Replaced, ...]:
    return tuple(Replaced(was, now, changes_of(as_called(was, now), now)) for was, now in pairs)


def _edited(states: Sides, changed: Iterable[Key], causes: Causes, behind: Causes) -> list[Edited]:
    servers = {cluster.name: Served(cluster) for cluster in states.project.clusters}
    groups: dict[tuple[object, ...], list[tuple[str, tuple[Change, ...]]]] = {}
    edits_of: list[tuple[Key, JobFacts, JobFacts, tuple[str, ...], bool]]
    edits_of = [(key, states.before[key], states.after[key], causes.get(key, ()), False) for key in sorted(changed)]
    edits_of += [(key, states.after[key], states.compiled[key], behind[key], True) for key in sorted(behind)]
    for key, was, now, cause, kept in edits_of:
        refused = _refused(was, now, servers[key[0]])
        ignored = not kept and not refused and is_created_once(now.jobset)
        changes = changes_of(was, now)
        group = (cause, without_places(changes), refused, kept, ignored)
        groups.setdefault(group, []).append((shown(key), changes))
    edited = []
    for (whence, _, *rest), members in groups.items():
        names = tuple(name for name, _ in members)
        changes = with_common_places([changes for _, changes in members])
        edited.append(Edited(names, whence, changes, *rest))  # type: ignore[arg-type] # the rest of five
    return sorted(edited, key=lambda one: one.names)


def _refused(was: JobFacts, now: JobFacts, server: Served) -> tuple[str, ...]:
    stay = [value(one.jobset, "metadata", "annotations", KEEP) == "job" for one in (was, now)]
    if stay[0] != stay[1]:
        return ("kind",)
    old, new = (job_of(one.jobset) if all(stay) else one.jobset for one in (was, now))
    return tuple(dict.fromkeys(change.shown for change in update(old, new, server).refused))


def shown(key: Key) -> str:
    """A job's name as people write it: `eu/llm/bert`, without a cluster `llm/bert`."""
    return "/".join(part for part in key if part)


def _total(jobs: Iterable[JobFacts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for job in jobs:
        for resource, count in job.accelerators.items():
            total[resource] = total.get(resource, 0) + count
    return dict(sorted(total.items()))


def _groups(
    before: Iterable[JobFacts], after: Iterable[JobFacts]
) -> dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]]:
    sides: list[dict[tuple[str, str], list[JobFacts]]] = []
    for jobs in (before, after):
        sides.append({})
        for job in jobs:
            sides[-1].setdefault((job.key[0], job.queue), []).append(job)
    return {
        key: (_total(sides[0].get(key, ())), _total(sides[1].get(key, ()))) for key in sorted({*sides[0], *sides[1]})
    }


def _hours(jobs: Iterable[JobFacts]) -> float | None:
    """The sum of the bounds, None where a job with accelerators has none."""
    total = 0.0
    for job in jobs:
        if job.accelerators and job.hours is None:
            return None
        total += job.hours or 0.0
    return total


class Sides:
    """The base and the present files.

    `before` and `after` are the jobs as they are applied, `compiled` the present ones whatever runs keep, `objects` those
    beside jobs on both sides, and `apart` the names of these. `renderings` are the rendered files that count.
    """

    def __init__(self, old: Base, new: Iterable[Bundle], project: Project, selection: Selection) -> None:
        self.old = old
        self.project = project
        self._known: dict[int, tuple[Bundle, JobFacts]] = {}
        new = list(new)
        compiled = {job_key(one): one for one in new if one.jobset is not None}
        committed = {job_key(one): one for one in old.bundles if one.jobset is not None}
        self.renderings = self._renderings(committed, compiled)
        kept = {key: one for key in compiled if (one := self._kept(key, committed.get(key), compiled[key])) is not None}
        present = self._present(new, kept, self._earlier(committed, compiled), selection)
        self._bundles = (*old.bundles, *new, *present)
        self.apart = names_apart([*old.bundles, *present])
        self.before, objects = self._facts(old.bundles)
        self.compiled, _ = self._facts(new)
        self.after, now = self._facts(present)
        self.objects = (objects, now)
        for key in kept:
            self.after[key] = _placed(self.after[key], self.compiled[key], self.renderings[key])

    def changed_objects(self) -> set[Key]:
        """The objects beside jobs that differ, or are on one side alone."""
        was, now = self.objects
        return (was.keys() ^ now.keys()) | {key for key in was.keys() & now.keys() if differ(was[key], now[key])}

    def naming(self, key: Key) -> frozenset[str]:
        """The files of the jobs that name an object beside jobs; none for a job."""
        if key not in self.apart:
            return frozenset()
        holding = [one for one in self._bundles for tree in one.objects if object_key(one, tree) == key]
        jobs = [one for one in self._bundles if one.jobset is not None]
        return frozenset().union(*(naming(one, jobs) for one in holding if one.jobset is None))

    def _fact(self, bundle: Bundle) -> JobFacts:
        if id(bundle) not in self._known:
            self._known[id(bundle)] = (bundle, facts(bundle))
        return self._known[id(bundle)][1]

    def _facts(self, bundles: Iterable[Bundle]) -> tuple[dict[Key, JobFacts], dict[Key, JobFacts]]:
        parts = split(bundles, self.apart)
        jobs = {job_key(one): self._fact(one) for one in parts.jobs}
        return jobs, {key: self._fact(one) for key, one in parts.objects.items()}

    def _renderings(self, committed: Mapping[Key, Bundle], compiled: Mapping[Key, Bundle]) -> dict[Key, str]:
        """The rendered file of each job; none where renderings do not count."""
        if self.old.decisions is None:
            return {}
        places = {key: next(iter(self._fact(one).places.values()), None) for key, one in committed.items()}
        files = {key: place.file for key, place in places.items() if place is not None}
        return {key: file_of(one, self.project) for key, one in compiled.items() if key not in places} | files

    def _kept(self, key: Key, was: Bundle | None, bundle: Bundle) -> Bundle | None:
        """What a run keeps of its rendering where `build -w` writes now; None where its present form is written."""
        rendering = self.renderings.get(key, "")
        if self.old.decisions is None or not rendering:
            return None
        is_same = was is not None and not differ(self._fact(was), self._fact(bundle))
        if is_same and rendering not in (self.old.edited or ()):
            return None
        return self.old.decisions.standing(bundle, rendering)

    def _earlier(self, committed: Mapping[Key, Bundle], compiled: Mapping[Key, Bundle]) -> list[Bundle]:
        if self.project.old_run != "keep":
            return []
        jobs = {job_identity(self._fact(one)) for one in compiled.values()}
        return [one for key, one in committed.items() if key not in compiled and job_identity(self._fact(one)) in jobs]

    def _present(
        self, new: Iterable[Bundle], kept: Mapping[Key, Bundle], earlier: list[Bundle], selection: Selection
    ) -> list[Bundle]:
        """What is applied now: what earlier runs alone name stays as it is, as long as the project has it."""
        present = [*applied(new, kept, self.project, selection), *earlier]
        selected = pipeline.objects_named(earlier, self.project, selection, Report(compiles=False)) if earlier else ()
        stay = names_apart(selected) - names_apart(present)
        return [*present, *split([one for one in self.old.bundles if one.jobset is None], stay).objects.values()]


def _placed(kept: JobFacts, now: JobFacts, rendering: str) -> JobFacts:
    """A rendering that stays, with the places in the files that say the same, else those in the rendering."""
    places = {field: place._replace(file=rendering) for field, place in kept.places.items()}
    for field, place in now.places.items():
        alike = kept.digest.get(field) == now.digest.get(field) and kept.values.get(field) == now.values.get(field)
        if field in places and alike:
            places[field] = place
    return kept._replace(places=places)
