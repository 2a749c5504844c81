"""The job that a committed rendering was made from, as Git has it, compiled with the shared files of today."""

from __future__ import annotations

import os

from trainc.changes.git.work_tree import repository_of
from trainc.compiler import pipeline
from trainc.compiler.emit.digest import body_digest, job_digest
from trainc.compiler.header import read_header
from trainc.compiler.load import load
from trainc.compiler.load.lists import expand
from trainc.model.report import Report
from trainc.text.suppress import Suppress
from trainc.text.trouble import Trouble
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NamedTuple

    from trainc.compiler.header import Header
    from trainc.model.bundle import Bundle
    from trainc.model.catalog import Documents
    from trainc.model.settings import Project, Selection
else:
    from trainc.text.record import NamedTuple


class Former(NamedTuple):
    """What the former form of a job compiles to today, and the rendering that was made from that form."""

    bundle: Bundle
    text: str


class FormerRendering(NamedTuple):
    """A rendered file in a commit, and the file there that it was made from."""

    header: Header
    text: str
    source: bytes


class FormerJobs:
    """Finds former forms of jobs; none outside of Git, and none that the digest of a rendering does not name."""

    def __init__(self, project: Project, selection: Selection) -> None:
        self._project = project
        self._selection = selection
        self._documents: Documents | None = None

    def find(self, bundle: Bundle, header: Header, text: str, path: str) -> Former | None:
        """The form that the rendering at `path` was made from, else the one that the commit has with its rendering.

        The second is for a rendering that nobody has committed: its job was edited several times since the commit.
        """
        known = list(self._committed(header, path))
        for one in known:
            made = self._compiled(one.source, header.job, bundle)
            if made is not None:
                return Former(made, text)
        for one in known:
            made = self._compiled(one.source, one.header.job, bundle)
            if made is not None and body_digest(one.text.encode()) == one.header.body:
                return Former(made, one.text)
        return None

    def _committed(self, header: Header, path: str) -> Iterator[FormerRendering]:
        """What the commit has of a rendering, and the commit that last changed it, as far as they have its source."""
        repository = repository_of(self._project.root)
        if repository is None:
            return
        with Suppress(Trouble):
            prefix = repository.prefix(self._project.root)
            inner = os.path.relpath(os.path.realpath(path), repository.top).replace(os.sep, "/")
            outside = inner.startswith("../")
            head = repository.commit("HEAD")
            commits = [head] if outside else [head, repository.last_change(head, inner)]
            for commit in dict.fromkeys(commits):
                data = None if outside or not commit else repository.text(commit, inner)
                first, _, body = (data or b"").decode("utf-8", "replace").partition("\n")
                there = read_header(first) or header
                source = repository.text(commit, f"{prefix}{there.source}") if commit else None
                if source is not None:
                    yield FormerRendering(there, body, source)

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
