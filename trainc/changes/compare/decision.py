"""What stays of the rendering that a run has in the base: one answer for building, checking, comparing and the plugin."""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainc.apiserver.served import Served
from trainc.changes.compare.adopted import AdoptedRuns
from trainc.changes.compare.rendered import files_of
from trainc.changes.compare.updates import Update, differences, key_of, pairs, update
from trainc.changes.git.base import Base
from trainc.compiler import pipeline
from trainc.compiler.emit import emit, manifests
from trainc.compiler.emit.digest import job_digest
from trainc.compiler.emit.spool.changes import runs_of
from trainc.compiler.emit.spool.disk import OnDisk, read_file
from trainc.compiler.emit.spool.objects import parts_of
from trainc.compiler.header import Header
from trainc.compiler.load import load
from trainc.compiler.load.lists import expand
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.catalog import Documents
from trainc.model.document import Document
from trainc.model.paths import item_step
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import Tree, plain
from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read


class Decision(NamedTuple):
    """What stays of a rendering (empty where the present one takes its place), and what the present one changes.

    `shared` is what shared files and trainc change besides the job, None where the former job is not known.
    """

    text: str
    objects: tuple[Tree, ...]
    updates: list[Update]
    shared: list[Update] | None = None
    changes: tuple[Update, ...] = ()  # what the edit of the job changes in the rendering that stays

    @property
    def refused(self) -> list[Update]:
        """The updates by the present rendering that a server refuses."""
        return [one for one in self.updates if one.refused]


class Decisions:
    """Decides for each run what stays of the rendering that it has in the base.

    A rendering stays where a server would refuse the present one, and the job's own edit changes nothing that a server
    refuses: the former and the present job are compiled with the same shared files. What the edit changes in place is
    laid on the rendering of the base. Of several bases, the first that has a file counts.
    """

    def __init__(self, project: Project, selection: Selection, *bases: Base) -> None:
        self.project = project
        self.bases = bases or (Base(project.root),)
        self._selection = selection
        self._adopted = AdoptedRuns(project)
        self._clusters = {cluster.name: cluster for cluster in project.clusters}
        self._servers: dict[str, Served] = {}
        self._former = [FormerJobs(project, selection, base) for base in self.bases]

    def decide(
        self, bundle: Bundle, header: Header, text: str, path: str, former: "FormerJobs | None" = None
    ) -> Decision:
        """What stays of a rendering of the base with that header and text, which stands at a path from the root."""
        trees = _trees(text, path)
        new = Decision("", (), self._updates(bundle, trees, bundle.objects))
        if not new.refused:
            return new
        if header.job == job_digest(bundle):
            return new._replace(text=text, objects=trees)
        if (made := (former or self._former[0]).find(bundle, header, path)) is None:
            return new
        before = made.objects
        new = new._replace(shared=self._updates(bundle, trees, before))
        edits = {key_of(bundle, now): (was, now) for was, now in pairs(bundle, before, bundle.objects)}
        every = {key_of(bundle, tree) for tree in (*before, *bundle.objects)}
        if every != edits.keys() or any(one.refused for one in self._updates(bundle, before, bundle.objects)):
            return new
        if not any(differences(was, now) for was, now in edits.values()):
            return new._replace(text=text, objects=trees)
        # The objects of the base with what the edit of the job changes in place, where a server takes that.
        objects = [transferred(*edits[key], tree) if (key := key_of(bundle, tree)) in edits else tree for tree in trees]
        if any(tree is None for tree in objects):
            return new
        changes = self._updates(bundle, trees, objects)
        if any(one.refused for one in changes):
            return new
        return new._replace(text=manifests(objects), objects=tuple(objects), changes=tuple(changes))

    def of_run(self, bundle: Bundle, file: str = "") -> Decision | None:
        """What stays of the rendering that a run has in the base; None for a run that is new since the base.

        None as well where the work tree has what the job compiles to: whoever rendered it anew wants that. Where there is
        no base, the rendering in the work tree is asked for what would be refused, and never stays. `file` is the rendered
        file where it is not in the project's own folder.
        """
        files = (file,) if file else files_of(bundle, self.project)
        present = read_file(os.path.join(self.project.root, files[0]))
        if present is not None and is_compiled(present, bundle):
            return None
        for place in files:
            for base, former in zip(self.bases, self._former, strict=True):
                existing = read_file(os.path.join(self.project.root, place)) if base.missing else base.find(place)
                if existing is not None and existing.header is not None and bundle.name in runs_of(existing):
                    text = existing.body.decode("utf-8", "replace")
                    decision = self.decide(bundle, existing.header, text, place, former)
                    return decision._replace(text="", objects=()) if base.missing else decision
        return None

    def unproven(self, bundle: Bundle) -> tuple[str, str, str] | None:
        """A job's rendered file with its text and the one that it should have; None for one that is proven.

        Proven is what the job compiles to, what stays of the base, and what the base itself has or the dump of an adopted run.
        """
        file = files_of(bundle, self.project)[0]
        existing = read_file(os.path.join(self.project.root, file))
        if existing is None or existing.header is None or is_compiled(existing, bundle):
            return None
        inherited = [base.find(file) for base in self.bases if not base.missing]
        if any(one is not None and one.body == existing.body for one in inherited):
            return None
        decision = self.of_run(bundle)
        wanted = (decision.text if decision is not None else "") or emit(bundle).text
        if existing.body == wanted.encode() or self._adopted.is_proven(bundle, existing):
            return None
        return file, existing.body.decode("utf-8", "replace"), wanted

    def standing(self, bundle: Bundle, file: str) -> Bundle | None:
        """What a run keeps of its rendering in the base; None where the present one takes its place.

        A file in another folder than the project's is that of `-o`.
        """
        is_apart = not file.startswith(f"{self.project.output}/")
        decision = self.of_run(bundle, file if is_apart else "")
        jobset = next((tree for tree in decision.objects if runs_pods(tree)), None) if decision is not None else None
        if decision is None or jobset is None:
            return None
        return Bundle(Document(bundle.document.file, jobset, {}, 1), decision.objects, cluster=bundle.cluster)

    def _updates(self, bundle: Bundle, old: Iterable[Tree], new: Iterable[Tree]) -> list[Update]:
        if bundle.cluster not in self._servers:
            self._servers[bundle.cluster] = Served(self._clusters[bundle.cluster])
        return [update(was, now, self._servers[bundle.cluster]) for was, now in pairs(bundle, old, new)]


def is_compiled(existing: OnDisk, bundle: Bundle) -> bool:
    """Whether a rendered file has what a job compiles to, with the objects that outlive its run or without them."""
    return existing.body in {emit(one).text.encode() for one in (bundle, parts_of(bundle)[-1])}


def _trees(text: str, path: str) -> tuple[Tree, ...]:
    return tuple(d.tree for d in read(text.encode(), path, Report()) if type(d.tree) is dict)


def transferred(old: Tree, new: Tree, other: Tree, field: str = "") -> Tree:
    """`other` with what differs between `old` and `new`; None where a list differs and has other items in `other`."""
    if plain(old) == plain(new):
        return other
    if type(old) is dict and type(new) is dict and type(other) is dict:
        out = dict(other)
        for key in {**old, **new}:
            was, now, here = old.get(key), new.get(key), other.get(key)
            if plain(was) == plain(now):
                continue
            if type(here) is dict:
                was, now = was or {}, now or {}  # what others have written in it stays
            node = transferred(was, now, here, key) if now is not None else {}
            if node is None:
                return None
            if node == {} and key not in new:
                out.pop(key, None)
            else:
                out[key] = node
        return out
    if type(new) is list:
        # The items one by one where all three forms have the same, the new list where the others are the same.
        if plain(old) == plain(other):
            return new
        if type(old) is not list or type(other) is not list:
            return None
        steps = [[item_step(field, index, item) for index, item in enumerate(items)] for items in (old, new, other)]
        if not (steps[0] == steps[1] == steps[2]) or any(type(step) is int for step in steps[0]):
            return None
        items = [transferred(*three) for three in zip(old, new, other, strict=True)]
        return None if any(item is None for item in items) else items
    return new


class FormerJobs:
    """Finds the job that a rendering of the base was made from, in the base or in the commit that last changed the rendering."""

    def __init__(self, project: Project, selection: Selection, base: Base) -> None:
        self._project = project
        self._selection = selection
        self._base = base
        self._documents: Documents | None = None

    def find(self, bundle: Bundle, header: Header, path: str) -> Bundle | None:
        """What the job that the rendering at a path was made from compiles to with today's shared files."""
        for source in self._sources(header, path):
            if (made := self._compiled(source, header.job, bundle)) is not None:
                return made
        return None

    def _sources(self, header: Header, path: str) -> Iterator[bytes]:
        if (source := self._base.text(header.source)) is not None:
            yield source
        repository, commit = self._base.repository, self._base.commit
        if repository is None or not commit:
            return
        with Suppress(Trouble):
            prefix = repository.prefix(self._project.root)
            last = repository.last_change(commit, prefix + path) if not path.startswith("../") else ""
            if last and last != commit and (source := repository.text(last, prefix + header.source)) is not None:
                yield source

    def _compiled(self, data: bytes, digest: str, bundle: Bundle) -> Bundle | None:
        """What the job of a digest compiles to in the place of the present one; runtimes in its file are today's."""
        report = Report(compiles=False)
        if self._documents is None:
            self._documents = load(self._project, self._selection, Report(compiles=False))
        file = bundle.document.file
        jobs = list(expand(read(data, file, report), report))
        cluster = next(one for one in self._project.clusters if one.name == bundle.cluster)
        project = self._project.at(cluster)
        for made in pipeline.instead(jobs, file, self._documents, project, self._selection, report):
            if made.name == bundle.name and job_digest(made) == digest:
                return made
        return None
