"""The findings of one project while its files are edited.

A change is answered in two steps. At once the edited file alone is judged, with the runtimes, the clusters and the
settings of its project. After a pause the whole project is judged again: what only shows across files is found then,
and nothing that was said of other files can be out of date.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from time import process_time
from typing import NamedTuple

from pygls.uris import from_fs_path

from trainc.apiserver.schema.engine import begin_run
from trainc.changes.compare.applications import report_applications
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Tally
from trainc.compiler.load import load
from trainc.compiler.load.lists import expand
from trainc.compiler.load.runtimes import may_hold_runtimes
from trainc.compiler.load.shipped import SHIPPED, catalogue
from trainc.compiler.load.walk import is_candidate, ours
from trainc.compiler.project import find_root, open_project
from trainc.integrations.lsp.cursor import UTF16, Positions
from trainc.lint.across_jobs import SharedNames
from trainc.model.bundle import Bundle
from trainc.model.catalog import Documents
from trainc.model.cluster import Opening
from trainc.model.document import Document
from trainc.model.finding import Finding
from trainc.model.report import Report
from trainc.model.settings import FILE, Project, Selection
from trainc.model.sourced import Span
from trainc.text.files import is_inside, ordinary_contents
from trainc.yaml.comments import allows
from trainc.yaml.reader import read

Unsaved = Mapping[str, bytes]

SLOW = 0.5  # seconds; a project that takes longer is judged whole when its files change on the disk, not while typing


class Judgement:
    """What is wrong in one project: `by_file` holds the findings of each file, relative to the `root`.

    A folder that neither trainc.yaml nor Git marks is not looked through: the files that are open are judged alone.
    """

    def __init__(self, root: str, cache: Opening | None) -> None:
        self.root = root
        self.by_file: dict[str, list[Finding]] = {}
        self.seconds = 0.0  # of the processor, that the whole project took
        self._cache = cache
        self.is_whole = find_root(root)[1] or os.path.exists(os.path.join(root, ".git"))
        self._known: tuple[Project, Selection, Documents, Report] | None = None

    @property
    def is_known(self) -> bool:
        """Whether the project has been judged whole."""
        return self._known is not None

    def judge(self, unsaved: Unsaved) -> None:
        """Judge the whole project, as `trainc validate` does; Trouble for one that cannot be read."""
        started = process_time()
        begin_run()
        self._known = None
        project, report = self.opened(unsaved)
        selection = self.selection(unsaved)
        report_applications(project, selection.paths, report, os.path.join(self.root, project.output))
        documents = load(project, selection, report)
        together, spool = SharedNames(), Tally()
        catalogs = pipeline.fill(project, selection, spool, report, together, documents, forms=True)
        pipeline.check_unreached(catalogs, report)
        pipeline.finish(project, selection, spool, report, together)
        self.by_file = {}
        for finding in report.findings:
            self.by_file.setdefault(finding.span.file, []).append(finding)
        self._known = project, selection, documents, report
        self.seconds = process_time() - started

    def judge_file(self, file: str, unsaved: Unsaved) -> None:
        """Judge one file beside what is known of all others, and keep what was found in those; Trouble as for `judge`."""
        begin_run()
        text = unsaved[file]
        if self._known is None or not self._holds_jobs_alone(file, text):
            # Of a runtime, a component or trainc.yaml itself; the jobs are judged with the whole project.
            project, report = self.opened(unsaved)
            selection = self.selection(unsaved)
            _run(project, selection, report, _only(file, load(project, selection, report)))
        else:
            project, selection, documents, whole = self._known
            report = Report(compiles=False, level_of=project.level_of)
            report.allow([one for one in whole.comments if one.span.file != file], borrowed=True)
            report.allow(allows(text, file))
            own = list(expand(read(text, file, report), report))
            _run(project, selection, report, documents._replace(selected=lambda _, __=None: iter([(file, own)])))
            report.close()
        self.by_file[file] = [finding for finding in report.findings if finding.span.file == file]

    def opened(self, unsaved: Unsaved) -> tuple[Project, Report]:
        """The project as it is now, and a report with what is wrong in its trainc.yaml."""
        opening = Report()
        project = open_project((self.root,), opening, cache=self._cache, unsaved=unsaved)
        report = Report(compiles=False, level_of=project.level_of)
        report.add_all(opening.findings)
        return project, report

    def selection(self, unsaved: Unsaved) -> Selection:
        """The files that are judged."""
        paths = (".",) if self.is_whole else tuple([file for file in unsaved if ours(unsaved[file])])
        return Selection(paths)

    def bundles(self, file: str, unsaved: Unsaved) -> tuple[list[Bundle], list[Finding]]:
        """What the jobs of a file become, and the findings met; all jobs of the project for a file without any."""
        project, report = self.opened(unsaved)
        selection = self.selection(unsaved)
        documents = load(project, selection, report)
        compiled = list(pipeline.bundles(project, selection, report, documents=_only(file, documents)))
        if not compiled and not report.failed and self.seconds < SLOW:
            compiled = list(pipeline.bundles(project, selection, report, documents=documents))
        return compiled, report.findings

    def _holds_jobs_alone(self, file: str, text: bytes) -> bool:
        """Whether nothing but jobs can come from a file, before its last change and after it."""
        assert self._known is not None
        project, _, documents, _ = self._known
        if not ours(text) or may_hold_runtimes(text) or file.endswith(FILE) or file.startswith(project.apart):
            return False
        runtimes = (*documents.runtime_folder(file).documents, *documents.runtimes())
        return "runtimes" not in file.split("/")[:-1] and all(document.file != file for document in runtimes)


def _run(project: Project, selection: Selection, report: Report, documents: Documents) -> None:
    together = SharedNames()
    for bundle in pipeline.bundles(project, selection, report, documents=documents):
        together.add(bundle, report)


def _only(file: str, documents: Documents) -> Documents:
    """The documents of a run, of which one file alone is selected."""

    def selected(cluster: object, _is_done: object = None) -> Iterator[tuple[str, list[Document]]]:
        chosen = documents.selected(cluster, lambda name, _: name != file)
        return ((name, parts) for name, parts in chosen if name == file)

    return documents._replace(selected=selected)


class Buffer(NamedTuple):
    """An open file: its address in the editor, its text, and which version of the text that is."""

    uri: str
    text: str
    version: int


class Workspace:
    """Open files by their absolute path, and the judgement of each project that one of them belongs to."""

    def __init__(self, cache: Opening | None) -> None:
        self.buffers: dict[str, Buffer] = {}
        self.encoding = UTF16
        self._cache = cache
        self._judgements: dict[str, Judgement] = {}

    def root(self, path: str) -> str:
        """The folder in which the project of a file starts."""
        return find_root(path)[0] if os.path.isdir(os.path.dirname(path)) else os.path.dirname(path)

    def judgement(self, path: str) -> Judgement:
        """The judgement of the project of a file."""
        root = self.root(path)
        if root not in self._judgements:
            self._judgements[root] = Judgement(root, self._cache)
        return self._judgements[root]

    def forget(self, root: str) -> None:
        """Drop a project of which no file is open any more."""
        self._judgements.pop(root, None)

    def roots(self) -> set[str]:
        """The projects of the open files."""
        return {self.root(path) for path in self.buffers}

    def unsaved(self, root: str) -> dict[str, bytes]:
        """The open texts of a project by their file, relative to its root; no link leads out of it."""
        return {
            relative(path, root): buffer.text.encode("utf-8", "surrogatepass")
            for path, buffer in self.buffers.items()
            if self.root(path) == root and is_candidate(path) and is_inside(root, path)
        }

    def file(self, path: str) -> str:
        """What the compiler calls a file."""
        return relative(path, self.root(path))

    def text(self, path: str) -> str:
        """The text of a file as the editor holds it, or else as it is on the disk; empty where it cannot be read."""
        if path in self.buffers:
            return self.buffers[path].text
        try:
            return ordinary_contents(path).decode("utf-8", "replace")
        except OSError:
            return ""

    def uri(self, path: str) -> str:
        """The address of a file in the editor, empty for what is in no file."""
        return self.buffers[path].uri if path in self.buffers else (from_fs_path(path) or "") if path else ""

    def is_saved(self, path: str) -> bool:
        """Whether an open text is that of its file."""
        try:
            return ordinary_contents(path) == self.buffers[path].text.encode("utf-8", "surrogatepass")
        except OSError:
            return False

    def positions(self, path: str) -> Positions:
        """The places of a file."""
        return Positions(self.text(path), self.encoding)

    def path(self, span: Span, root: str) -> str:
        """The absolute path of the file of a span, empty where the span is in no file."""
        if span.file.startswith(SHIPPED):
            return os.path.join(catalogue(), span.file.removeprefix(SHIPPED))
        return "" if span.file.startswith(("trainc:", "<")) else os.path.join(root, span.file)


def relative(path: str, root: str) -> str:
    """A path below a root, as findings name it."""
    return os.path.relpath(path, root).replace(os.sep, "/")
