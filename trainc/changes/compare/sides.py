"""Both sides of a comparison, job by job and object by object: what is applied, and what the present files compile to."""

from __future__ import annotations

from trainc.changes.compare.facts import differ, facts
from trainc.changes.compare.objects import applied, job_key, names_apart, naming, object_key, split
from trainc.changes.compare.renamed import job_of
from trainc.changes.compare.rendered import file_of
from trainc.compiler import pipeline
from trainc.model.report import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.changes.compare.base import Base
    from trainc.changes.compare.facts import JobFacts
    from trainc.changes.compare.objects import Key
    from trainc.model.bundle import Bundle
    from trainc.model.settings import Project, Selection


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
        earlier = self._earlier(committed, compiled)
        present = self._present(new, kept, earlier, selection)
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
        """The jobs and the objects beside jobs of one state."""
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
        """The earlier runs that stay beside present ones."""
        if self.project.old_run != "keep":
            return []
        jobs = {job_of(self._fact(one)) for one in compiled.values()}
        return [one for key, one in committed.items() if key not in compiled and job_of(self._fact(one)) in jobs]

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
