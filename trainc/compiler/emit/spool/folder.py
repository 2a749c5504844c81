"""A folder of rendered files, one for each job: what is to change in it, and the change itself."""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainc.compiler.emit import run_path
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.emit.spool import Spool
from trainc.compiler.emit.spool.changes import (
    EDITED,
    NEVER_IN_BASE,
    OTHERS,
    REFUSED,
    STALE,
    UNPROVEN,
    UNSURE,
    FileChange,
    NewRun,
    is_whole,
    moves,
    new_run,
    runs_in,
    runs_of,
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
from trainc.compiler.emit.spool.questions import BaseFolder, Gone, Holds, IndexedFolder, Moved, Settle, StillOwned
from trainc.compiler.header import Header
from trainc.lint.across_jobs import shared_service
from trainc.model.bundle import Bundle
from trainc.model.file_results import CacheMissError
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
    earlier runs stay. `settle` decides whether a run keeps the rendering that it has in the `base`, `still_owned` whether the
    file in its place belongs to a job somewhere else. Of a file that a sparse checkout leaves out counts what the `index`
    has. `gone` says whether the job of a
    file that nothing was compiled for is gone; an object stays while its source `holds` it and a file that stays names
    it. `project` is the name that files carry in a folder outside of their project: those of others are left alone.
    `guess` is a name that files of this project carry and those of another may: none of them is removed. `moved` makes
    the finding for a run that goes to another place. `is_adopted` says whether a dump proves a rendered file that no base has.
    """

    def __init__(
        self,
        folder: str,
        *,
        reaches: Callable[[str, str], bool],
        settle: Settle,
        still_owned: StillOwned,
        base: BaseFolder,
        index: IndexedFolder,
        gone: Gone,
        holds: Holds,
        moved: Moved,
        is_adopted: Callable[[Bundle, OnDisk], bool] = lambda _bundle, _file: False,
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
        self._base, self._index = base, index
        self._gone, self._holds = gone, holds
        self._moved, self._is_adopted = moved, is_adopted
        self._runs: dict[str, NewRun] = {}  # by the path that each is to have
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
        if bundle.jobset is not None:
            self._runs[path] = new_run(bundle)
        target, existing = self._files.find(path)
        if existing is None and (absent := self._index.absent(path)) is not None:
            existing = parse_file(absent)
        body = rendered.text.encode()
        header = self._header(rendered, job_digest(bundle), body, path)
        if existing is not None and existing.header == header and existing.body == body:
            return None
        base = self._inherited(rendered, path, existing, bundle)
        files = [file for file in (existing, base) if file is not None and file.header is not None]
        sources = {file.header.source for file in files if file.header is not None} - {"", rendered.source}
        if any(self._still_owned(bundle, source, report) for source in sorted(sources)):
            return None
        if bundle.jobset is not None and (former := self._former(rendered, path)):
            target, earlier = self._files.find(former)
            if earlier is not None and not is_whole(earlier):
                self._change(former, EDITED, earlier, header, body, same_job=False)
        is_same = existing is not None and existing.header is not None and existing.header.job == header.job
        kept = ""
        is_present = existing is not None and existing.body == body  # whoever rendered a run anew wants that
        if base is not None and base.header is not None and base.body != body and not is_present:
            before = base.body.decode("utf-8", "replace")
            missing = "" if base is existing and self._is_adopted(bundle, base) else self._base.missing
            kept = self._settle(bundle, base.header, before, target, report, missing)
        if kept:
            body = without_objects(kept.encode(), path, self.paths) if self.keeps_old else kept.encode()
            header = header._replace(body=body_digest(body))
            if existing is not None and existing.header == header and existing.body == body:
                return body
        others = existing is not None and self._is_of_others(existing, rendered.source)
        state = OTHERS if others else state_of(existing, body, merging=self._index.is_unmerged(path))
        self._change(path, state, existing, header, body, same_job=is_same)
        return body if kept else None

    def _inherited(self, rendered: "Rendered", path: str, existing: OnDisk | None, bundle: Bundle) -> OnDisk | None:
        """The rendering that a run may keep: that of the base; where none is known, the one that is there asks for it."""
        places = [path]
        if bundle.jobset is not None:
            places.append(rendered.path if self.keeps_old else run_path(rendered.path, rendered.name))
        files = []
        for place in places:
            if not self._base.missing:
                file = self._base.find(place)
            else:
                file = existing if place == path else self._files.find(place)[1]
                file = file if file is not None and is_whole(file) else None
            if file is not None and (bundle.jobset is None or rendered.name in runs_of(file)):
                return file
            files.append(file)
        if existing is not None and self._is_adopted(bundle, existing):
            return existing
        return files[0]

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
        return {**super().state(), **own, "runs": self._runs}

    def absorb(self, state: dict[str, Any], texts: Iterable[str]) -> None:
        super().absorb(state, texts)
        self.changes += state["changes"]
        self.names |= state["names"]
        self._stems |= state["stems"]
        self._services |= state["services"]
        self._replaced |= state["replaced"]
        self._runs |= state["runs"]

    def inspect(self, report: Report) -> None:
        """Find the files of jobs that are gone, or seem to be, and runs that moved; earlier runs stay as the base has them."""
        stale: list[tuple[str, str]] = []
        unsure: set[str] = set()
        others: list[str] = []
        is_partial = False  # whether the selection leaves out jobs that may name an object
        for path, header in list(written(self._files, {*self.paths, *self._replaced})):
            ours = header.project in self._own
            if not ours:
                self.left[header.project] = self.left.get(header.project, 0) + 1
            is_earlier = ours and self._earlier(path, header.source)
            if is_earlier:
                self._look_at_earlier(path, report)
            is_reached = self._reaches(path, header.source)
            is_partial |= not is_earlier and not is_reached
            if is_earlier or not ours or not is_reached:
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
        for path in names if not is_partial else ():
            self._inherit(path)
        gone = [one for one in stale if one[0] not in names and self._gone(*one, report)]
        changes = [FileChange(path, UNSURE if path in unsure else STALE, source) for path, source in gone]
        self._leftover += [change for change in changes if change.state == STALE]
        self.changes += [change for change in changes if change.state == UNSURE]
        for run, *objects in self._moves():
            report.add(self._moved(run.place, run.job, run.number, *objects))
        self._leftover += [FileChange(path, STALE, self.paths[now], after=now) for path, now in self._replaced.items()]

    def _moves(self) -> Iterator[tuple[NewRun, str, str]]:
        """Each run that is rendered in the base, or in the folder where there is none, and goes to another file; both names."""
        gone: list[FileChange] = []
        if self._base.missing:
            gone += self._leftover
            find = self._found
            before = set(self._files.every())
        else:
            find = self._base.find
            before = {path for path in self._base.paths() if path.endswith(".yaml")}
        fresh = [path for path in self.paths if path not in before and not is_object_file(path)]
        lost = () if self._base.missing or not fresh else before - self.paths.keys() - self._replaced.keys()
        for path in sorted(lost):
            file = find(path)
            header = file.header if file is not None else None
            if header is None or header.project not in self._own or self._earlier(path, header.source):
                continue
            if self._reaches(path, header.source):
                gone.append(FileChange(path, STALE, header.source))
        if not gone or not fresh:
            return
        if not self._runs.keys() >= set(fresh):
            raise CacheMissError  # where a job is written that was not compiled this time
        yield from moves(gone, {path: self._runs[path] for path in fresh}, self.paths, lambda path: runs_of(find(path)))

    def _found(self, path: str) -> OnDisk | None:
        return self._files.find(path)[1]

    def _look_at_earlier(self, path: str, report: Report) -> None:
        """Keep an earlier run's file as the base has it; a Service that a present run has as well is a finding."""
        _, existing = self._files.find(path)
        if existing is None:
            return
        for key in services_of(trees_of(existing.body), path.rpartition("/")[0]):
            if key in self._services:
                report.add(shared_service(self._services[key], key.rpartition("/")[2], stem_of(path)))
        self._inherit(path)

    def _inherit(self, path: str) -> None:
        """Let a file that no job compiles to any more stay as the base has it, without what has a file of its own now."""
        _, existing = self._files.find(path)
        if existing is None or existing.header is None:
            return
        if self._base.missing:
            self.changes.append(FileChange(path, UNPROVEN, existing.header.source, after=self._base.missing))
            self.hold("")
            return
        base = self._base.find(path)
        if base is None or base.header is None:
            self._leftover.append(FileChange(path, STALE, existing.header.source, after=NEVER_IN_BASE))
            return
        body = without_objects(base.body, path, self.paths)
        header = base.header._replace(body=body_digest(body))
        if body != existing.body:
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
