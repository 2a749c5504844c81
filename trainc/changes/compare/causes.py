"""Which edits a change comes from: a smallest set of files without whose edits it would not be."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations
from typing import Any, NamedTuple

from trainc.changes.compare.base import held
from trainc.changes.compare.decision import Decisions
from trainc.changes.compare.facts import Key, applied, job_key, split
from trainc.changes.compare.updates import differences, key_of
from trainc.changes.git.repository import GitRepository
from trainc.changes.git.scratch import Scratch, drop, make_folders, unpack
from trainc.compiler import pipeline
from trainc.compiler.header import is_rendered
from trainc.compiler.load.walk import contents, files, is_candidate
from trainc.compiler.project import open_project
from trainc.kinds.other_operators import INPUT_KINDS
from trainc.kinds.table import NAMES
from trainc.model.bundle import Bundle
from trainc.model.report import Report
from trainc.model.settings import Checks, Project, Selection
from trainc.model.tree import plain
from trainc.text.trouble import Trouble

Form = Any  # the plain objects of a job, or what differs between two of its forms; None where there is no such job
World = Mapping[Key, Form]
Worlds = tuple[World, World]  # what is applied, and what the files say otherwise and no run takes


_MOST_TOGETHER = 2  # edits that are looked for in all combinations
_MOST_PAIRED = 12  # edits of which all pairs are tried
_DOCUMENT = re.compile(rb"^---.*$", re.MULTILINE)
_KIND = re.compile(rb"^kind:[ \t]*(\w+)[ \t]*(?:#.*)?\r?$", re.MULTILINE)
_JOBS = frozenset(name.encode() for name in ("TrainJob", "JobSet", *NAMES, *(kind for _, kind in INPUT_KINDS)))


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

    def __init__(
        self,
        root: str,
        project: Project,
        selection: Selection,
        former: Mapping[str, bytes | None],
        apart: frozenset[Key],
    ) -> None:
        self._root = root
        self._project = project
        self._apart = apart
        self._selection = selection
        self._former = former
        self.names = frozenset(former)
        self.alone = frozenset(name for name in former if all(map(_holds_jobs_alone, (held(root, name), former[name]))))
        self._worlds: dict[tuple[frozenset[str], frozenset[str]], Worlds] = {}

    def world(self, undone: frozenset[str], wanted: frozenset[Target]) -> Worlds:
        """What is applied of jobs, and what is held back, where some files are as they were."""
        sources = frozenset().union(*(one.sources for one in wanted))
        known = self._worlds.get((undone, sources))
        if known is None:
            with self._undone(undone):
                known = self._worlds[undone, sources] = self._compiled(sources, wanted)
        return known

    @contextmanager
    def _undone(self, names: frozenset[str]) -> Iterator[None]:
        present = {name: held(self._root, name) for name in names}
        _write(self._root, {name: self._former.get(name) for name in names})
        try:
            yield
        finally:
            _write(self._root, present)

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
            decisions = Decisions(project, chosen)
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
        forms = {job_key(one): _form(one) for one in worlds.jobs} | {k: _form(one) for k, one in worlds.objects.items()}
        return forms, {key: _held(kept[key], one) if key in kept else [] for key, one in jobs.items()}


def _form(bundle: Bundle) -> Form:
    return [plain(tree) for tree in bundle.objects]


def _held(kept: Bundle, bundle: Bundle) -> Form:
    """What the files say otherwise than a rendering that stays."""
    present = {key_of(bundle, tree): tree for tree in bundle.objects}
    pairs = [(tree, present.get(key_of(bundle, tree), {})) for tree in kept.objects]
    return [(change.steps, change.old, change.new) for was, now in pairs for change in differences(was, now)]


def _holds_jobs_alone(text: bytes | None) -> bool:
    """Whether a file holds nothing but jobs, so that no other file's job depends on it; also where there is none."""
    if text is None:
        return True
    documents = [
        part
        for part in _DOCUMENT.split(text)
        if any(line.strip() and not line.lstrip().startswith(b"#") for line in part.splitlines())
    ]
    kinds = [_KIND.findall(part) for part in documents]
    return all(len(names) == 1 and names[0] in _JOBS for names in kinds)


def _write(root: str, texts: Mapping[str, bytes | None]) -> None:
    unpack(root, ((name, data) for name, data in texts.items() if data is not None))
    drop(root, (name for name, data in texts.items() if data is None))


@contextmanager
def edits(
    project: Project,
    selection: Selection,
    edited: Iterable[str],
    former: Callable[[str], bytes | None],
    apart: frozenset[Key],
) -> Iterator[Edits]:
    """The present project in a folder of its own, its rendered files as they were; gone afterwards.

    The objects `apart` are looked at by themselves, in whose file they may stand.
    """
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
        yield Edits(root, project, selection, texts, apart)


class Search:
    """Finds for each job a smallest set of edits whose undoing gives the job's former form; none where no edit does.

    The form is what is applied, or with `held` what of the files a run does not take.
    """

    def __init__(self, edits_: Edits, names: frozenset[str], wanted: frozenset[Target], *, held: bool) -> None:
        self._edits = edits_
        self._names = names
        self._wanted = wanted
        self._which = int(held)
        self._target = self._forms(names)
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
                    settled = {one: undone for one, undone in settled.items() if self._suffice(undone, tried, one)}
                    causes_of |= {one.key: tuple(sorted(undone)) for one, undone in settled.items()}
                    left -= settled.keys()
                    if not left:
                        return causes_of
        return causes_of | self._irreducible(left)

    def _suffice(self, undone: frozenset[str], tried: frozenset[str], one: Target) -> bool:
        """Whether these edits alone, of those that gave a job's former form, explain it."""
        return tried - undone <= self._edits.alone - one.sources or self._undoes(undone, one)

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
            alike.setdefault(tuple("" if name in self._edits.alone else name for name in names), []).append(
                (one, names)
            )
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

    def _undoes(self, undone: frozenset[str], one: Target) -> bool:
        return self._is_target(self._edits.world(undone, frozenset((one,)))[self._which], one)

    def _is_target(self, forms: World, one: Target) -> bool:
        return bool(forms.get(one.key) == self._target.get(one.key))

    def _forms(self, undone: frozenset[str]) -> World:
        return self._edits.world(undone, self._wanted)[self._which]
