"""A folder of rendered files, one for each job: what is to change in it, and the change itself."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from trainc.compiler.emit import run_path
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.emit.spool import Spool
from trainc.compiler.emit.spool.changes import (
    EDITED,
    OTHERS,
    REFUSED,
    STALE,
    UNSURE,
    FileChange,
    NewRun,
    is_whole,
    moves,
    new_run,
    runs_in,
    state_of,
    stem_of,
)
from trainc.compiler.emit.spool.disk import Folder, OnDisk, Staged, clear_leftovers, parse_file, remove, written
from trainc.compiler.emit.spool.objects import (
    is_named_nearby,
    is_object_file,
    services_of,
    trees_of,
    without_objects,
)
from trainc.compiler.emit.spool.questions import Gone, Holds, IndexedFolder, Moved, Settle, StillOwned
from trainc.compiler.header import Header
from trainc.lint.across_jobs import shared_service
from trainc.model.bundle import Bundle
from trainc.model.finding import place as place_of
from trainc.model.report import Report
from trainc.model.sourced import Span
from trainc.text.files import digest_of
from trainc.text.trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.emit import Rendered


class FolderSpool(Spool):
    """Compares each rendering with the file in its place; `commit` makes the folder what it should be.

    `reaches` says whether a rendered file (its path and its source) belongs to the selection, so that it goes when
    its source is gone. With `check` nothing is written. With `keep_old` each run has a file of its own, and those of
    earlier runs stay. `settle` decides whether a run keeps its committed rendering, `still_owned` whether the file in its
    place belongs to a job somewhere else. Of a file that a merge left in conflict count both sides, of one that a
    sparse checkout leaves out what `git` knows. `gone` says whether the job of a
    file that nothing was compiled for is gone; an object stays while its source `holds` it and a file that stays names
    it. `project` is the name that files carry in a folder outside of their project: those of others are left alone.
    `guess` is a name that files of this project carry and those of another may: none of them is removed. `moved` makes
    the finding for a run that goes to another place.
    """

    def __init__(
        self,
        folder: str,
        *,
        reaches: Callable[[str, str], bool],
        settle: Settle,
        still_owned: StillOwned,
        git: IndexedFolder,
        gone: Gone,
        holds: Holds,
        moved: Moved,
        project: str = "",
        guess: str = "",
        check: bool = False,
        keep_old: bool = False,
    ) -> None:
        super().__init__()
        self.folder = folder
        self._files = Folder(folder)
        self.changes: list[FileChange] = []
        self._reaches = reaches
        self._settle = settle
        self._still_owned = still_owned
        self._git = git
        self._gone, self._holds = gone, holds
        self._moved = moved
        self._new_runs: dict[str, NewRun] = {}  # by the path that each is to have
        self._replaced: dict[str, str] = {}  # files of present runs from before `oldRun` changed, with their sources
        self._services: dict[str, Span] = {}  # of present runs, where what names them is written
        self._project = project
        self._guess = guess
        self._own = frozenset((project, guess)) if guess else frozenset((project,))
        self.left: dict[str, int] = {}  # by project, how many files of others stand in the folder
        self._leftover: list[FileChange] = []
        self._check = check
        self.keeps_old = keep_old
        self.names: set[str] = set()
        self.alone = False  # whether no other build writes to the folder meanwhile
        self.done = False  # whether the folder was brought up to date
        self._stems: dict[str, str] = {}  # path of a job without its suffix -> source

    is_settled = False

    @property
    def refused(self) -> bool:
        """Whether a file in the way was not written by trainc, or was changed since."""
        return any(change.state in REFUSED for change in self.changes)

    def add(self, rendered: "Rendered", bundle: Bundle, report: Report) -> None:
        """Compare one rendering with the file in its place, and keep it where they differ."""
        if not rendered.source.isascii() and any("\ud800" <= char <= "\udfff" for char in rendered.source):
            raise Trouble(f"{rendered.source}: rendered files name their source, and this name is not UTF-8; rename it")
        path = rendered.path if bundle.jobset is None else self._path(rendered)
        if bundle.jobset is None and path in self.paths:
            return  # what is passed on for one cluster is there for the others as well
        kept = self._compare(rendered, path, bundle, report)
        if self.keeps_old and bundle.jobset is not None:
            for key, name in services_of(bundle.objects, path.rpartition("/")[0]).items():
                self._services[key] = place_of(name.origin) or bundle.document.span(("metadata", "name"))
        self.jobs += bundle.jobset is not None
        self.objects += rendered.objects
        self.references.add(bundle, bundle.objects if kept is None else trees_of(kept))

    def _header(self, rendered: "Rendered", job: str, body: bytes, path: str) -> Header:
        """The first line of a rendering; the next run is to know its digest."""
        header = Header(rendered.source, job, body_digest(body), self._project)
        if self.outcomes is not None:
            self.digests[path] = digest_of(f"{header}".encode() + body)
        return header

    def _compare(self, rendered: "Rendered", path: str, bundle: Bundle, report: Report) -> bytes | None:
        """Keep a rendering where it differs from its file; the committed text where the run stays with that."""
        self.paths[path] = rendered.source
        target, existing = self._files.find(path)
        if existing is None and (absent := self._git.absent(path)) is not None:
            existing = parse_file(absent)
        body = rendered.text.encode()
        header = self._header(rendered, job_digest(bundle), body, path)
        if existing is not None and existing.header == header and existing.body == body:
            return None
        sides = [parse_file(data) for data in self._git.sides(path, marked=existing is not None and existing.marked)]
        committed = sides or ([existing] if existing is not None else [])
        sources = [side.header.source if side.header is not None else "" for side in committed]
        if any(one not in ("", rendered.source) and self._still_owned(bundle, one, report) for one in sources):
            return None
        same = [side for side in committed if side.header is not None and side.header.job == header.job]
        former = self._former(rendered, path) if bundle.jobset is not None else ""
        if former:
            target, earlier = self._files.find(former)
            committed = [earlier] if earlier is not None else []
            same = [side for side in committed if side.header is not None and side.header.job == header.job]
            if earlier is not None and not is_whole(earlier):
                self._change(former, EDITED, earlier, header, body, same_job=bool(same))
        elif existing is None and not sides and (deleted := self._git.deleted(path)) is not None:
            committed = [parse_file(deleted)]  # to delete a rendering does not end its run
            same = [side for side in committed if side.header is not None and side.header.job == header.job]
        kept = self._kept(bundle, body, committed, same, target, report)
        if kept:
            body = without_objects(kept.encode(), path, self.paths) if self.keeps_old else kept.encode()
            header = header._replace(body=body_digest(body))
            if existing is not None and existing.header == header and existing.body == body:
                return body
        others = existing is not None and self._is_of_others(existing, rendered.source)
        state = OTHERS if others else state_of(existing, body, merging=bool(sides))
        if bundle.jobset is not None and not committed:
            self._new_runs[path] = new_run(bundle)
        self._change(path, state, existing, header, body, same_job=bool(same))
        return body if kept else None

    def _former(self, rendered: "Rendered", path: str) -> str:
        """The file in which a run was rendered before `oldRun` changed, "" where the run's own file has it."""
        other = rendered.path if self.keeps_old else run_path(rendered.path, rendered.name)
        if other == path or other in self.paths or rendered.name not in runs_in(self._files, other):
            return ""
        existing = self._files.find(other)[1]
        source = existing.header.source if existing is not None and existing.header is not None else ""
        if source != rendered.source or rendered.name in runs_in(self._files, path):
            return ""
        self._replaced[other] = path
        return other

    def _change(
        self, path: str, state: str, existing: OnDisk | None, header: Header, body: bytes, *, same_job: bool
    ) -> None:
        before, after = existing.body.decode("utf-8", "replace") if existing is not None else "", body.decode()
        texts = (before, after) if self._check or state in REFUSED else ("", "")
        self.changes.append(FileChange(path, state, header.source, *texts, same_job=same_job))
        self.hold(f"{header}{after}")

    def _kept(
        self, bundle: Bundle, body: bytes, committed: list[OnDisk], same: list[OnDisk], target: str, report: Report
    ) -> str:
        """The text that the run keeps, empty for the present one; those made of the `same` job count before the others."""
        if any(side.body == body for side in same):
            return ""
        for side in same or committed:
            if side.body == body or side.header is None or not is_whole(side):
                continue
            if kept := self._settle(bundle, side.header, side.body.decode("utf-8", "replace"), target, report):
                return kept
        return ""

    def _is_of_others(self, existing: OnDisk, source: str) -> bool:
        """Whether another project wrote a file; one without a name is taken for ours where the source is the same."""
        if existing.header is None or existing.header.project in self._own:
            return False
        return bool(existing.header.project) or existing.header.source not in ("", source)

    def _path(self, rendered: "Rendered") -> str:
        self.names |= {rendered.name, rendered.path.rpartition("/")[2].removesuffix(".yaml")}
        self._stems[rendered.path.removesuffix(".yaml")] = rendered.source
        return run_path(rendered.path, rendered.name) if self.keeps_old else rendered.path

    def state(self) -> dict[str, Any]:
        own = {"changes": self.changes, "names": self.names, "stems": self._stems, "services": self._services}
        own["replaced"] = self._replaced
        return {**super().state(), **own, "new_runs": self._new_runs}

    def absorb(self, state: dict[str, Any], texts: Iterable[str]) -> None:
        super().absorb(state, texts)
        self.changes += state["changes"]
        self.names |= state["names"]
        self._stems |= state["stems"]
        self._services |= state["services"]
        self._replaced |= state["replaced"]
        self._new_runs |= state["new_runs"]

    def inspect(self, report: Report) -> None:
        """Find the files of jobs that are gone, or seem to be; those of earlier runs lose what has a file of its own now."""
        stale: list[tuple[str, str]] = []
        unsure: set[str] = set()
        others: list[str] = []
        for path, header in list(written(self._files, {*self.paths, *self._replaced})):
            ours = header.project in self._own
            if not ours:
                self.left[header.project] = self.left.get(header.project, 0) + 1
            earlier = ours and self._earlier(path, header.source)
            if earlier:
                self._look_at_earlier(path, report)
            if earlier or not ours or not self._reaches(path, header.source):
                others.append(path)
            else:
                stale.append((path, header.source))
                unsure |= {path} if self._guess and header.project == self._guess else set()
        self.is_settled = not (stale or self.changes)
        names = [
            path
            for path, source in stale
            if is_object_file(path) and self._holds(path, source) and is_named_nearby(self._files, path, others)
        ]
        gone = [one for one in stale if one[0] not in names and self._gone(*one, report)]
        changes = [FileChange(path, UNSURE if path in unsure else STALE, source) for path, source in gone]
        self._leftover = [change for change in changes if change.state == STALE]
        self.changes += [change for change in changes if change.state == UNSURE]
        for run, *objects in moves(self._leftover, self._new_runs, self.paths, self._files):
            report.add(self._moved(run.place, run.job, run.number, *objects))
        self._leftover += [FileChange(path, STALE, self.paths[now], after=now) for path, now in self._replaced.items()]

    def _look_at_earlier(self, path: str, report: Report) -> None:
        """Take out of an earlier run's file what has a file of its own; a Service that a present run has is a finding."""
        _, existing = self._files.find(path)
        if existing is None or existing.header is None:
            return
        for key in services_of(trees_of(existing.body), path.rpartition("/")[0]):
            if key in self._services:
                report.add(shared_service(self._services[key], key.rpartition("/")[2], stem_of(path)))
        body = without_objects(existing.body, path, self.paths)
        if body != existing.body:
            header = existing.header._replace(body=body_digest(body))
            self.paths[path] = header.source
            self._change(path, state_of(existing, body, merging=False), existing, header, body, same_job=True)

    def write(self) -> None:
        """Unless only checking, or something is in the way, replace files, and remove those of jobs that are gone."""
        if not self._check and not self.refused:
            self.above = self._files.above()
            if self.alone:
                clear_leftovers(self._files)
            with Staged() as staged:
                for change, text in zip(self.changes, self.texts(), strict=True):
                    staged.put(os.path.join(self.folder, change.path), text.encode())
                staged.move()
            for change in self._leftover:
                remove(self.folder, change.path)
            self.done = True
        self.changes += self._leftover

    def _earlier(self, path: str, source: str) -> bool:
        """Whether a file holds an earlier run of a job that is still there."""
        stem = path.removesuffix(".yaml")
        job, mark, run = stem.rpartition("-r")
        names = (stem, job) if mark and run.isdigit() else (stem,)
        return self.keeps_old and any(self._stems.get(name) == source for name in names)
