"""What stays of the committed rendering of a run: one answer for building, checking, comparing and the plugin."""

from __future__ import annotations

import os

from trainc.apiserver.served import Served
from trainc.changes.compare.former import FormerJobs
from trainc.changes.compare.transfer import transferred
from trainc.changes.compare.updates import differences, key_of, update
from trainc.changes.git.unmerged import CommittedTexts
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.emit.spool.disk import parse_file, read_file
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.yaml.reader import read
from trainc.yaml.writer import dump_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import NamedTuple

    from trainc.changes.compare.updates import Key, Update
    from trainc.compiler.header import Header
    from trainc.model.settings import Project, Selection
    from trainc.model.tree import Tree
else:
    from trainc.text.record import NamedTuple


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

    def decide(self, bundle: Bundle, header: Header, text: str, path: str) -> Decision:
        """What stays of a rendering with that header and text, which stands at a path."""
        trees = _trees(text, path)
        new = Decision("", (), self._updates(bundle, trees, bundle.objects))
        if not new.refused:
            return new
        if header.job == job_digest(bundle):
            return new._replace(text=text, objects=trees)
        former = self._former.find(bundle, header, text, path)
        if former is None:
            return new
        trees = _trees(former.text, path)
        before = former.bundle.objects
        new = new._replace(shared=self._updates(bundle, trees, before))
        if _keys(bundle, before) != _keys(bundle, bundle.objects) or self._is_refused(bundle, before, bundle.objects):
            return new
        if not any(differences(was, now) for was, now in _pairs(bundle, before, bundle.objects)):
            return new._replace(text=former.text, objects=trees)
        return self._with_edit(bundle, before, trees, new)

    def standing(self, bundle: Bundle, file: str) -> Bundle | None:
        """What a run keeps of its rendering in a file of the project; None where the present one takes its place."""
        path = os.path.join(self._root, file)
        existing = read_file(path)
        if existing is None and (absent := CommittedTexts(self._root).absent(file)) is not None:
            existing = parse_file(absent)
        if existing is None or existing.header is None or existing.header.body != body_digest(existing.body):
            return None
        decision = self.decide(bundle, existing.header, existing.body.decode("utf-8", "replace"), path)
        jobset = next((tree for tree in decision.objects if runs_pods(tree)), None)
        if jobset is None:
            return None
        return Bundle(Document(bundle.document.file, jobset, {}, 1), decision.objects, cluster=bundle.cluster)

    def _with_edit(self, bundle: Bundle, before: Iterable[Tree], trees: tuple[Tree, ...], new: Decision) -> Decision:
        """The committed objects with what the edit of the job changes in place, where a server takes that."""
        edits = {key_of(bundle, now): (was, now) for was, now in _pairs(bundle, before, bundle.objects)}
        objects = []
        for tree in trees:
            edit = edits.get(key_of(bundle, tree))
            objects.append(tree if edit is None else transferred(*edit, tree))
        if any(tree is None for tree in objects):
            return new
        changes = self._updates(bundle, trees, objects)
        if any(one.refused for one in changes):
            return new
        return new._replace(text=dump_all(objects), objects=tuple(objects), changes=tuple(changes))

    def _is_refused(self, bundle: Bundle, old: Iterable[Tree], new: Iterable[Tree]) -> bool:
        return any(one.refused for one in self._updates(bundle, old, new))

    def _updates(self, bundle: Bundle, old: Iterable[Tree], new: Iterable[Tree]) -> list[Update]:
        """What becomes of each object that both forms of a run have."""
        if bundle.cluster not in self._servers:
            self._servers[bundle.cluster] = Served(self._clusters[bundle.cluster])
        return [update(was, now, self._servers[bundle.cluster]) for was, now in _pairs(bundle, old, new)]


def _trees(text: str, path: str) -> tuple[Tree, ...]:
    return tuple(d.tree for d in read(text.encode(), path, Report()) if type(d.tree) is dict)


def _pairs(bundle: Bundle, old: Iterable[Tree], new: Iterable[Tree]) -> list[tuple[Tree, Tree]]:
    """The objects that both forms of a run have."""
    before = {key_of(bundle, tree): tree for tree in old}
    return [(before[key], tree) for tree in new if (key := key_of(bundle, tree)) in before]


def _keys(bundle: Bundle, trees: Iterable[Tree]) -> set[Key]:
    return {key_of(bundle, tree) for tree in trees}
