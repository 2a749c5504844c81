"""What changes between two states of a project as they are applied, job by job, and which edits caused it."""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from typing import Any, NamedTuple

from trainc.apiserver.served import Served
from trainc.changes.compare.base import Base, held
from trainc.changes.compare.changes import (
    Change,
    JobFacts,
    Key,
    Pairs,
    applied,
    as_called,
    changed_paths,
    changes_of,
    differ,
    facts,
    job_identity,
    job_key,
    names_apart,
    naming,
    next_runs,
    object_key,
    renamed,
    split,
    with_common_places,
)
from trainc.changes.compare.decision import Decisions
from trainc.changes.compare.rendered import file_of
from trainc.changes.compare.updates import differences, key_of, update
from trainc.changes.git.repository import GitRepository
from trainc.changes.git.scratch import Scratch, drop, make_folders, unpack
from trainc.compiler import pipeline
from trainc.compiler.header import is_rendered
from trainc.compiler.load.walk import contents, files, is_candidate
from trainc.compiler.project import open_project
from trainc.kinds.other_operators import INPUT_KINDS
from trainc.kinds.table import NAMES
from trainc.lint.tables.created_once import is_created_once
from trainc.model.bundle import KEEP, Bundle, job_of
from trainc.model.report import Report
from trainc.model.settings import Checks, Project, Selection
from trainc.model.tree import Tree, plain, value
from trainc.text.trouble import Trouble

Form = Any  # the plain objects of a job, or what differs between two of its forms; None where there is no such job
World = Mapping[Key, Form]
Worlds = tuple[World, World]  # what is applied, and what the files say otherwise and no run takes


_MOST_TOGETHER = 2  # edits that are looked for in all combinations
_MOST_PAIRED = 12  # edits of which all pairs are tried
_DOCUMENT = re.compile(rb"^---.*$", re.MULTILINE)
_KIND = re.compile(rb"^kind:[ \t]*(\w+)[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_JOBS = frozenset(name.encode() for name in ("TrainJob", "JobSet", *NAMES, *(kind for _, kind in INPUT_KINDS)))
Causes = Mapping[Key, tuple[str, ...]]


class Target(NamedTuple):
    """A job, or an object beside jobs, whose change is to be explained.

    `own` are the files that may hold it, `sources` those to compile: for an object also those of the jobs that name it.
    """

    key: Key
    own: frozenset[str]
    sources: frozenset[str]
    rendering: str  # "" where the job has none that counts
    likely: frozenset[str]  # files that what changes rests on


class Edits:
    """A project that can be compiled with some of its edits undone; all of it lies in a folder of its own."""

    def __init__(self, root: str, states: "Sides", former: Mapping[str, bytes | None]) -> None:
        self._root = root
        self._project = states.project
        self._bases = states.old.decisions.bases if states.old.decisions is not None else ()
        self._apart = states.apart
        self._selection = states.selection
        self._former = former
        self.names = frozenset(former)
        self.alone = frozenset(name for name in former if all(map(_holds_jobs_alone, (held(root, name), former[name]))))
        self._worlds: dict[tuple[frozenset[str], frozenset[str]], Worlds] = {}

    def world(self, undone: frozenset[str], wanted: frozenset[Target]) -> Worlds:
        """What is applied of jobs, and what is held back, where some files are as they were."""
        sources = frozenset().union(*(one.sources for one in wanted))
        known = self._worlds.get((undone, sources))
        if known is None:
            present = {name: held(self._root, name) for name in undone}
            _write(self._root, {name: self._former.get(name) for name in undone})
            try:
                known = self._worlds[undone, sources] = self._compiled(sources, wanted)
            finally:
                _write(self._root, present)
        return known

    def _compiled(self, sources: frozenset[str], wanted: frozenset[Target]) -> Worlds:
        paths = tuple(sorted(path for path in sources if os.path.isfile(os.path.join(self._root, path))))
        if not paths:
            return {}, {}
        report = Report(compiles=False)
        try:
            present = self._project
            project = open_project((self._root,), report, present.assigned, present.cache)
            project = project.checked(Checks(present.checks.field_validation, admission_only=True))
            chosen = self._selection.elsewhere(paths)
            decisions = Decisions(project, chosen, *self._bases)
            renderings = {one.key: one.rendering for one in wanted if one.rendering}
            compiled = list(pipeline.bundles(project, chosen, report))
            jobs = {job_key(one): one for one in compiled if one.jobset is not None}
            if len(jobs) < sum(one.jobset is not None for one in compiled):
                return {}, {}  # two jobs of one name: nothing can be built like that
            standing = {key: decisions.standing(jobs[key], renderings[key]) for key in jobs.keys() & renderings.keys()}
            kept = {key: one for key, one in standing.items() if one is not None}
            worlds = split(applied(compiled, kept, project, chosen), self._apart)
        except Trouble:
            return {}, {}
        of_all = {job_key(one): one for one in worlds.jobs} | worlds.objects
        forms = {key: [plain(tree) for tree in one.objects] for key, one in of_all.items()}
        held_back: dict[Key, Form] = {key: [] for key in jobs}
        for key, one in kept.items():  # what the files say otherwise than a rendering that stays
            now = {key_of(one, tree): tree for tree in jobs[key].objects}
            changes = [differences(tree, now.get(key_of(one, tree), {})) for tree in one.objects]
            held_back[key] = [(change.steps, change.old, change.new) for of_one in changes for change in of_one]
        return forms, held_back


def _holds_jobs_alone(text: bytes | None) -> bool:
    """Whether a file holds nothing but jobs, so that no other file's job depends on it; also where there is none."""
    for part in _DOCUMENT.split(text or b""):
        if any(line.strip() and not line.lstrip().startswith(b"#") for line in part.splitlines()):
            kinds = _KIND.findall(part)
            if len(kinds) != 1 or kinds[0] not in _JOBS:
                return False
    return True


def _write(root: str, texts: Mapping[str, bytes | None]) -> None:
    unpack(root, ((name, data) for name, data in texts.items() if data is not None))
    drop(root, (name for name, data in texts.items() if data is None))


@contextmanager
def edits(states: "Sides", edited: Iterable[str], former: Callable[[str], bytes | None]) -> Iterator[Edits]:
    """The present project in a folder of its own, its rendered files as they were; gone afterwards."""
    project = states.project
    with Scratch() as top:
        root = top
        try:
            repository = GitRepository(project.root)
            unpack(top, [(".git", f"gitdir: {repository.git_folder}\n".encode())])
            root = os.path.join(top, repository.prefix(project.root))
            make_folders(top, [repository.prefix(project.root)])
        except Trouble:
            pass
        unpack(root, ((name, contents(project.root, name)) for name in files(project.root, (".",))))
        texts = {name: former(name) for name in edited if is_candidate(name)}
        rendered = [name for name in texts if is_rendered(held(root, name) or texts[name] or b"")]
        _write(root, {name: texts.pop(name) for name in rendered})
        yield Edits(root, states, texts)


class Search:
    """Finds for each job a smallest set of edits whose undoing gives the job's former form; none where no edit does.

    The form is what is applied, or with `held` what of the files a run does not take.
    """

    def __init__(self, edits_: Edits, wanted: frozenset[Target], *, held: bool) -> None:
        self._edits = edits_
        self._names = edits_.names
        self._wanted = wanted
        self._which = int(held)
        self._target = self._forms(self._names)
        if held:
            # The target of each new run that would take all of its file, were it not for edits of other files.
            new = [one for one in self._wanted if one.key not in self._target]
            own = frozenset().union(*(one.own for one in new))
            forms = self._forms(self._names - own) if own else {}
            self._target = {**self._target, **{one.key: [] for one in new if forms.get(one.key) == []}}
        self._present = self._forms(frozenset())

    def causes(self) -> dict[Key, tuple[str, ...]]:
        """The edits of each job that has any.

        What a job's own file says concerns that job first: such files are undone together, and stand for the one of
        the job in question; first those of jobs alone, which change no other file's job. The rest is tried in all
        combinations, by their number.
        """
        causes_of: dict[Key, tuple[str, ...]] = {}
        left = {one for one in self._wanted if self._target.get(one.key) != self._present.get(one.key)}
        own = self._names & frozenset().union(*(one.own for one in left))
        for size in range(1, _MOST_TOGETHER + 1):
            for together, number in ((own & self._edits.alone, size - 1), (own, size - 1), (frozenset[str](), size)):
                for chosen in self._candidates(number, left):
                    tried = chosen | together
                    forms = self._edits.world(tried, frozenset(left))[self._which]
                    settled = {one: chosen | (together & one.own) for one in left if self._is_target(forms, one)}
                    # Whether these edits alone, of those that gave a job's former form, explain it.
                    settled = {
                        one: undone
                        for one, undone in settled.items()
                        if tried - undone <= self._edits.alone - one.sources
                        or self._is_target(self._edits.world(undone, frozenset((one,)))[self._which], one)
                    }
                    causes_of |= {one.key: tuple(sorted(undone)) for one, undone in settled.items()}
                    left -= settled.keys()
                    if not left:
                        return causes_of
        return causes_of | self._irreducible(left)

    def _candidates(self, size: int, left: set[Target]) -> Iterator[frozenset[str]]:
        naming = frozenset().union(*(one.sources - one.own for one in left))
        shared = self._names - (self._edits.alone - naming)
        likely = frozenset().union(*(one.likely for one in left)) & shared
        names = [*sorted(likely), *sorted(shared - likely)]
        if size <= 1 or len(names) <= _MOST_PAIRED:
            yield from map(frozenset, combinations(names, size))

    def _irreducible(self, left: Iterable[Target]) -> dict[Key, tuple[str, ...]]:
        """All edits, without those that are not needed, dropped one after the other until none can be.

        Jobs whose edits differ in files of jobs alone are asked about together, as long as they give the same answers.
        """
        alike: dict[tuple[str, ...], list[tuple[Target, list[str]]]] = {}
        for one in left:
            needed = self._names - (self._edits.alone - one.sources)
            names = [*sorted(needed - one.likely), *sorted(needed & one.likely)]
            group = tuple("" if name in self._edits.alone else name for name in names)
            alike.setdefault(group, []).append((one, names))
        causes_of: dict[Key, tuple[str, ...]] = {}
        groups = [(members, frozenset(range(len(names))), 0) for names, members in alike.items()]
        while groups:
            members, kept, at = groups.pop()
            if at == len(members[0][1]):
                causes_of |= {one.key: tuple(sorted(names[index] for index in kept)) for one, names in members}
                continue
            undone = frozenset(names[index] for _, names in members for index in kept - {at})
            forms = self._edits.world(undone, frozenset(one for one, _ in members))[self._which]
            without = [member for member in members if self._is_target(forms, member[0])]
            others = [member for member in members if member not in without]
            groups += [(same, left, at + 1) for same, left in ((without, kept - {at}), (others, kept)) if same]
        return causes_of

    def _is_target(self, forms: World, one: Target) -> bool:
        return bool(forms.get(one.key) == self._target.get(one.key))

    def _forms(self, undone: frozenset[str]) -> World:
        return self._edits.world(undone, self._wanted)[self._which]


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
    before, after, compiled = states.before, states.after, states.compiled
    runs = next_runs(before, after)
    added = [after[key] for key in sorted(after.keys() - before.keys())]
    removed = [before[key] for key in sorted(before.keys() - after.keys())]
    pairs = renamed(removed, [one for one in added if one.key not in runs])
    in_pairs = {one.key for pair in pairs for one in pair} | runs.keys() | set(runs.values())
    changed = {key for key in before.keys() & after.keys() if differ(before[key], after[key])}
    held = {key for key in states.renderings.keys() & compiled.keys() if differ(after[key], compiled[key])}
    elsewhere = {one.key for one in (*added, *removed)}
    # The objects beside jobs that differ, or are on one side alone.
    was_objects, now_objects = states.objects
    both = was_objects.keys() & now_objects.keys()
    beside = was_objects.keys() ^ now_objects.keys() | {k for k in both if differ(was_objects[k], now_objects[k])}
    causes, behind = _explained(states, changed | elsewhere | beside, held)
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
        objects=tuple(
            OtherObject(
                was, now, changes_of(was, now) if was is not None and now is not None else (), causes.get(key, ())
            )
            for key in sorted(beside)
            for was, now in [(was_objects.get(key), now_objects.get(key))]
        ),
    )


def _explained(states: "Sides", changed: set[Key], held: set[Key]) -> tuple[Causes, Causes]:
    """The causes of what changes, and of what runs do not take of edits since the base."""
    old = states.old
    if not (changed or held):
        return {}, {}
    if old.former is None or not old.edited:
        return {key: _rests_on(states, key) for key in changed}, {}
    with edits(states, old.edited, old.former) as known:
        causes = _searched(known, states, changed, held=False)
        behind = _searched(known, states, held & states.before.keys(), held=True)
    new = held - states.before.keys()  # runs since the base, whose renderings the base does not have
    if new:
        edited = old.edited - {states.renderings[key] for key in new}
        with edits(states, edited, old.former) as known:
            behind = {**behind, **_searched(known, states, new, held=True)}
    return {key: causes.get(key) or _rests_on(states, key) for key in changed}, behind


def _searched(known: Edits, states: "Sides", keys: set[Key], *, held: bool) -> Causes:
    wanted = []
    for key in keys:
        forms = [one[key] for one in (states.before, states.compiled, *states.objects) if key in one]
        own = frozenset(one.source for one in forms)
        sources = own | states.naming(key)
        files = sources.union(*(names for one in forms for names in one.files.values()))
        wanted.append(Target(key, own, sources, states.renderings.get(key, ""), files))
    return Search(known, frozenset(wanted), held=held).causes() if wanted else {}


def _rests_on(states: "Sides", key: Key) -> tuple[str, ...]:
    """The files that the changed leaves rest on, the edited ones if any; for states without known edits."""
    sides = [(states.before, states.after), states.objects]
    was, now = next((old.get(key), new.get(key)) for old, new in sides if key in old or key in new)
    if was is None or now is None:
        return tuple(one.source for one in (was, now) if one is not None)
    files: frozenset[str] = frozenset()
    for path in changed_paths(was, now):
        files |= now.files.get(path) or was.files.get(path) or frozenset()
    rendering = states.renderings.get(key, "")
    return tuple(sorted(files & (states.old.edited or frozenset()) or ({rendering} if rendering else files)))


def _replaced(pairs: Pairs) -> tuple[Replaced, ...]:
    return tuple(Replaced(was, now, changes_of(as_called(was, now), now)) for was, now in pairs)


def _edited(states: "Sides", changed: Iterable[Key], causes: Causes, behind: Causes) -> list[Edited]:
    servers = {cluster.name: Served(cluster) for cluster in states.project.clusters}
    groups: dict[tuple[object, ...], list[tuple[str, tuple[Change, ...]]]] = {}
    edits_of = [(key, states.before[key], states.after[key], causes.get(key, ()), False) for key in sorted(changed)]
    edits_of += [(key, states.after[key], states.compiled[key], behind[key], True) for key in sorted(behind)]
    for key, was, now, cause, kept in edits_of:
        stay = [value(one.jobset, "metadata", "annotations", KEEP) == "job" for one in (was, now)]
        refused: tuple[str, ...] = ("kind",)
        if stay[0] == stay[1]:
            old, new = (job_of(one.jobset) if all(stay) else one.jobset for one in (was, now))
            refused = tuple(dict.fromkeys(change.shown for change in update(old, new, servers[key[0]]).refused))
        ignored = not kept and not refused and is_created_once(now.jobset)
        changes = changes_of(was, now)
        # The changes alone, without their places, which several jobs may share.
        alone = tuple(change._replace(was_at="", is_at="") for change in changes)
        group = (cause, alone, refused, kept, ignored)
        groups.setdefault(group, []).append((shown(key), changes))
    edited = []
    for (whence, _, *rest), members in groups.items():
        names = tuple(name for name, _ in members)
        changes = with_common_places([changes for _, changes in members])
        edited.append(Edited(names, whence, changes, *rest))  # type: ignore[arg-type] # the rest of five
    return sorted(edited, key=lambda one: one.names)


def shown(key: Key) -> str:
    """A job's name as people write it: `eu/llm/bert`, without a cluster `llm/bert`."""
    return "/".join(part for part in key if part)


def _total(jobs: Iterable[JobFacts]) -> dict[str, int]:
    total = Counter[str]()
    for job in jobs:
        total.update(job.accelerators)
    return dict(sorted(total.items()))


def _groups(
    before: Iterable[JobFacts], after: Iterable[JobFacts]
) -> dict[tuple[str, str], tuple[dict[str, int], dict[str, int]]]:
    both: list[dict[tuple[str, str], list[JobFacts]]] = []
    for jobs in (before, after):
        both.append({})
        for job in jobs:
            both[-1].setdefault((job.key[0], job.queue), []).append(job)
    return {key: (_total(both[0].get(key, ())), _total(both[1].get(key, ()))) for key in sorted({*both[0], *both[1]})}


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
        self.selection = selection
        self._known: dict[int, tuple[Bundle, JobFacts]] = {}
        new = list(new)
        compiled = {job_key(one): one for one in new if one.jobset is not None}
        committed = {job_key(one): one for one in old.bundles if one.jobset is not None}
        self.renderings = self._renderings(committed, compiled)
        kept = {key: one for key in compiled if (one := self._kept(key, committed.get(key), compiled[key])) is not None}
        present = self._present(new, kept, self._earlier(committed, compiled))
        self._bundles = (*old.bundles, *new, *present)
        self.apart = names_apart([*old.bundles, *present])
        self.before, objects = self._facts(old.bundles)
        self.compiled, _ = self._facts(new)
        self.after, now = self._facts(present)
        self.objects = (objects, now)
        for key in kept:
            self.after[key] = _placed(self.after[key], self.compiled[key], self.renderings[key])

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

    def _present(self, new: Iterable[Bundle], kept: Mapping[Key, Bundle], earlier: list[Bundle]) -> list[Bundle]:
        """What is applied now: what earlier runs alone name stays as it is, as long as the project has it."""
        present = [*applied(new, kept, self.project, self.selection), *earlier]
        report = Report(compiles=False)
        selected = pipeline.objects_named(earlier, self.project, self.selection, report) if earlier else ()
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
