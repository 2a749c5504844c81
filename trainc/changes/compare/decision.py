"""What stays of the committed rendering of a run: one answer for building, checking, comparing and the plugin."""

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from trainc.apiserver.served import Served
from trainc.changes.compare.updates import Update, differences, key_of, pairs, update
from trainc.changes.git.work_tree import CommittedTexts, repository_of
from trainc.compiler import pipeline
from trainc.compiler.emit import manifests
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.emit.spool.changes import is_whole
from trainc.compiler.emit.spool.disk import OnDisk, parse_file, read_file
from trainc.compiler.header import Header, read_header
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.changes.git.repository import GitRepository


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
    """Decides for each run what stays of its committed rendering.

    A rendering stays where a server would refuse the present one, and the job's own edit changes nothing that a server
    refuses: the former and the present job are compiled with the same shared files. What the edit changes in place is
    laid on the committed rendering.
    """

    def __init__(self, project: Project, selection: Selection) -> None:
        self._root = project.root
        self._clusters = {cluster.name: cluster for cluster in project.clusters}
        self._servers: dict[str, Served] = {}
        self._former = FormerJobs(project, selection)
        self._committed: CommittedTexts | None = None

    def decide(self, bundle: Bundle, header: Header, text: str, path: str) -> Decision:
        """What stays of a rendering with that header and text, which stands at a path."""
        trees = _trees(text, path)
        new = Decision("", (), self._updates(bundle, trees, bundle.objects))
        if not new.refused:
            return new
        if header.job == job_digest(bundle):
            return new._replace(text=text, objects=trees)
        if (former := self._former.find(bundle, header, text, path)) is None:
            return new
        made, committed = former
        trees = _trees(committed, path)
        before = made.objects
        new = new._replace(shared=self._updates(bundle, trees, before))
        edits = {key_of(bundle, now): (was, now) for was, now in pairs(bundle, before, bundle.objects)}
        every = {key_of(bundle, tree) for tree in (*before, *bundle.objects)}
        if every != edits.keys() or any(one.refused for one in self._updates(bundle, before, bundle.objects)):
            return new
        if not any(differences(was, now) for was, now in edits.values()):
            return new._replace(text=committed, objects=trees)
        # The committed objects with what the edit of the job changes in place, where a server takes that.
        objects = [transferred(*edits[key], tree) if (key := key_of(bundle, tree)) in edits else tree for tree in trees]
        if any(tree is None for tree in objects):
            return new
        changes = self._updates(bundle, trees, objects)
        if any(one.refused for one in changes):
            return new
        return new._replace(text=manifests(objects), objects=tuple(objects), changes=tuple(changes))

    def on_disk(self, bundle: Bundle, existing: OnDisk | None, path: str) -> Decision | None:
        """What stays of the rendered file at a path; None where there is none as trainc wrote it."""
        if existing is None or existing.header is None or not is_whole(existing):
            return None
        return self.decide(bundle, existing.header, existing.body.decode("utf-8", "replace"), path)

    def standing(self, bundle: Bundle, file: str) -> Bundle | None:
        """What a run keeps of its rendering in a file of the project; None where the present one takes its place."""
        path = os.path.join(self._root, file)
        existing = read_file(path)
        if existing is None:
            self._committed = self._committed or CommittedTexts(self._root)  # Git is asked once, not for each job
            if (absent := self._committed.absent(file)) is not None:
                existing = parse_file(absent)
        decision = self.on_disk(bundle, existing, path)
        jobset = next((tree for tree in decision.objects if runs_pods(tree)), None) if decision is not None else None
        if decision is None or jobset is None:
            return None
        return Bundle(Document(bundle.document.file, jobset, {}, 1), decision.objects, cluster=bundle.cluster)

    def _updates(self, bundle: Bundle, old: Iterable[Tree], new: Iterable[Tree]) -> list[Update]:
        if bundle.cluster not in self._servers:
            self._servers[bundle.cluster] = Served(self._clusters[bundle.cluster])
        return [update(was, now, self._servers[bundle.cluster]) for was, now in pairs(bundle, old, new)]


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
    """Finds former forms of jobs; none outside of Git, and none that the digest of a rendering does not name."""

    def __init__(self, project: Project, selection: Selection) -> None:
        self._project = project
        self._selection = selection
        self._documents: Documents | None = None

    def find(self, bundle: Bundle, header: Header, text: str, path: str) -> tuple[Bundle, str] | None:
        """What the form that the rendering at `path` was made from compiles to today, and that rendering.

        Else the form that the commit has with its rendering, for a rendering that nobody has committed: its job was
        edited several times since the commit.
        """
        known = []
        for there, body, source in self._committed(header, path):
            if (made := self._compiled(source, header.job, bundle)) is not None:
                return made, text
            known.append((there, body, source))
        for there, body, source in known:
            made = self._compiled(source, there.job, bundle)
            if made is not None and body_digest(body.encode()) == there.body:
                return made, body
        return None

    @cached_property
    def _repository(self) -> "GitRepository | None":
        return repository_of(self._project.root)

    @cached_property
    def _latest(self) -> tuple[str, str, dict[str, str]]:
        """The latest commit, what stands before the paths of the project, and the objects of its files."""
        assert self._repository
        commit, prefix = self._repository.commit("HEAD"), self._repository.prefix(self._project.root)
        return commit, prefix, dict(self._repository.files(commit, prefix))

    def _committed(self, header: Header, path: str) -> Iterator[tuple[Header, str, bytes]]:
        """What the commit has of a rendering, then the commit that last changed it: header, text, and what it was made from."""
        if self._repository is None:
            return
        with Suppress(Trouble):
            inner = os.path.relpath(os.path.realpath(path), self._repository.top).replace(os.sep, "/")
            latest, prefix, _ = self._latest
            commit = latest
            while commit:
                first, _, body = (self._text(commit, inner) or b"").decode("utf-8", "replace").partition("\n")
                there = read_header(first) or header
                if (source := self._text(commit, f"{prefix}{there.source}")) is not None:
                    yield there, body, source
                if commit != latest or inner.startswith("../"):
                    return
                last = self._repository.last_change(latest, inner)
                commit = last if last != latest else ""

    def _text(self, commit: str, path: str) -> bytes | None:
        """A file of a commit; the latest one is listed once, not for each job."""
        assert self._repository
        latest, prefix, objects = self._latest
        if path.startswith("../"):
            return None
        if commit == latest and path.startswith(prefix):
            return next(self._repository.contents([objects[path]])) if path in objects else None
        return self._repository.text(commit, path)

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
