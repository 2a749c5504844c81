"""The findings of one project while its files are edited, and their quick fixes.

A change is answered in two steps. At once the edited file alone is judged, with the runtimes, the clusters and the
settings of its project. After a pause the whole project is judged again: what only shows across files is found then,
and nothing that was said of other files can be out of date.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import process_time
from typing import NamedTuple

from lsprotocol import types
from pygls.uris import from_fs_path

from trainc.apiserver.expressions.budget import begin_run
from trainc.changes.compare.applications import report_applications
from trainc.changes.fix import fix
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
from trainc.model.finding import SAFE, Finding
from trainc.model.report import Report
from trainc.model.settings import FILE, Project, Selection
from trainc.model.sourced import Span
from trainc.report.details import details
from trainc.report.lines import visible
from trainc.text.files import is_inside, ordinary_contents
from trainc.text.line_diff import differing_parts
from trainc.text.trouble import Trouble
from trainc.yaml.comments import allows
from trainc.yaml.reader import read

Unsaved = Mapping[str, bytes]

SLOW = 0.5  # seconds; a project that takes longer is judged whole when its files change on the disk, not while typing
Publish = Callable[[types.PublishDiagnosticsParams], None]
SOON, PAUSE = 0.02, 0.4  # seconds after a change: several that arrive together are judged once
SOURCE = "trainc"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.trainc"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


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
        self.known: tuple[Project, Selection, Documents, Report] | None = None  # once it has been judged whole

    def judge(self, unsaved: Unsaved) -> None:
        """Judge the whole project, as `trainc validate` does; Trouble for one that cannot be read."""
        started = process_time()
        begin_run()
        self.known = None
        known = project, selection, documents, report = self.loaded(unsaved)
        report_applications(project, selection.paths, report, os.path.join(self.root, project.output))
        together, spool = SharedNames(), Tally()
        catalogs = pipeline.fill(project, selection, spool, report, together, documents)
        pipeline.check_unreached(catalogs, report)
        pipeline.finish(project, selection, spool, report, together)
        self.by_file = {}
        for finding in report.findings:
            self.by_file.setdefault(finding.span.file, []).append(finding)
        self.known = known
        self.seconds = process_time() - started

    def judge_file(self, file: str, unsaved: Unsaved) -> None:
        """Judge one file beside what is known of all others, and keep what was found in those; Trouble as for `judge`."""
        begin_run()
        text = unsaved[file]
        if self.known is None or not self._holds_jobs_alone(file, text):
            # Of a runtime, a component or trainc.yaml itself; the jobs are judged with the whole project.
            project, selection, documents, report = self.loaded(unsaved)
            _run(project, selection, report, _only(file, documents))
        else:
            project, selection, documents, whole = self.known
            report = Report(compiles=False, level_of=project.level_of)
            report.allow([one for one in whole.comments if one.span.file != file], borrowed=True)
            report.allow(allows(text, file))
            own = list(expand(read(text, file, report), report))
            _run(project, selection, report, documents._replace(selected=lambda _, __=None: iter([(file, own)])))
            report.close()
        self.by_file[file] = [finding for finding in report.findings if finding.span.file == file]

    def loaded(self, unsaved: Unsaved) -> tuple[Project, Selection, Documents, Report]:
        """The project as it is now, the files that are judged, their documents, and what is wrong with any of these."""
        opening = Report()
        project = open_project((self.root,), opening, cache=self._cache, unsaved=unsaved)
        report = Report(compiles=False, level_of=project.level_of)
        report.add_all(opening.findings)
        selection = Selection((".",) if self.is_whole else tuple([file for file in unsaved if ours(unsaved[file])]))
        return project, selection, load(project, selection, report), report

    def bundles(self, file: str, unsaved: Unsaved) -> tuple[list[Bundle], list[Finding]]:
        """What the jobs of a file become, and the findings met; all jobs of the project for a file without any."""
        project, selection, documents, report = self.loaded(unsaved)
        compiled = list(pipeline.bundles(project, selection, report, documents=_only(file, documents)))
        if not compiled and not report.failed and self.seconds < SLOW:
            compiled = list(pipeline.bundles(project, selection, report, documents=documents))
        return compiled, report.findings

    def _holds_jobs_alone(self, file: str, text: bytes) -> bool:
        """Whether nothing but jobs can come from a file, before its last change and after it."""
        assert self.known is not None
        project, _, documents, _ = self.known
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
        self.judgements: dict[str, Judgement] = {}

    def root(self, path: str) -> str:
        """The folder in which the project of a file starts."""
        return find_root(path)[0] if os.path.isdir(os.path.dirname(path)) else os.path.dirname(path)

    def judgement(self, path: str) -> Judgement:
        """The judgement of the project of a file."""
        root = self.root(path)
        if root not in self.judgements:
            self.judgements[root] = Judgement(root, self._cache)
        return self.judgements[root]

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


class Publisher:
    """Judges what was edited, and publishes it; what was published and does not hold any more is taken back."""

    def __init__(self, workspace: Workspace, publish: Publish, log: Callable[[str], None]) -> None:
        self._workspace = workspace
        self._publish = publish
        self._log = log
        self._edited: set[str] = set()
        self._due: set[str] = set()  # projects to be judged whole, however long it takes
        self._shown: dict[str, set[str]] = {}  # by root, the paths with diagnostics
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """Judge nothing that is not judged yet: nobody is there any more to be told."""
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()

    def opened(self, path: str) -> None:
        """A file was opened: tell what is known of it, or else judge its project."""
        judgement = self._workspace.judgement(path)
        if not (judgement.is_whole and judgement.known):
            self.judge(judgement.root)
        elif self._workspace.is_saved(path):
            self._tell(path, judgement.root)
        else:
            self.edited(path)

    def edited(self, path: str) -> None:
        """A text has changed: judge it soon, and its project after a pause."""
        self._edited.add(path)
        if self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(SOON, self.settle)
        self._wait()

    def changed(self, roots: Iterable[str]) -> None:
        """Files of projects have changed on the disk: judge them whole after a pause, in which more may change."""
        self._due.update(roots)
        self._wait()

    def closed(self, root: str) -> None:
        """A file of a project was closed: what was not saved is gone, and with the last file all that was shown."""
        if root in self._workspace.roots():
            self.changed([root])
        else:
            self.judge(root)

    def settle(self) -> None:
        """Judge the files that have changed since they were judged, each by itself."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        edited, self._edited = self._edited, set()
        for path in sorted(edited & self._workspace.buffers.keys()):
            self._judge_file(path)

    def judge(self, root: str) -> None:
        """Judge a whole project, and publish all that is known of it."""
        workspace = self._workspace
        open_files = sorted(path for path in workspace.buffers if workspace.root(path) == root)
        if not open_files:
            workspace.judgements.pop(root, None)
            self._show(root, [])
            return
        judgement = workspace.judgement(open_files[0])
        if (wrong := self._tried(lambda: judgement.judge(workspace.unsaved(root)))) is not None:
            judgement.by_file = {}
            self._show(root, open_files, {open_files[0]: wrong})
            return
        paths = {workspace.path(findings[0].span, root) for findings in judgement.by_file.values() if findings}
        self._show(root, [*open_files, *(paths - {"", *open_files})])

    def _judge_file(self, path: str) -> None:
        workspace = self._workspace
        root = workspace.root(path)
        judgement, unsaved = workspace.judgement(path), workspace.unsaved(root)
        if relative(path, root) not in unsaved:
            return
        if (wrong := self._tried(lambda: judgement.judge_file(relative(path, root), unsaved))) is not None:
            judgement.by_file[relative(path, root)] = []
        self._tell(path, root, wrong)

    def _wait(self) -> None:
        if self._later is not None:
            self._later.cancel()
        self._later = asyncio.get_running_loop().call_later(PAUSE, self._pause)

    def _pause(self) -> None:
        self.settle()
        due, self._due = self._due, set()
        workspace = self._workspace
        for root in sorted(workspace.roots()):
            path = next(path for path in workspace.buffers if workspace.root(path) == root)
            if root in due or workspace.judgement(path).seconds < SLOW:
                self.judge(root)

    def _tried(self, judge: Callable[[], None]) -> list[types.Diagnostic] | None:
        """What kept a judgement from being made, at the start of the file: the editor lives on, whatever is in its files."""
        try:
            judge()
        except Trouble as error:
            text = str(error)
        except Exception as error:  # noqa: BLE001 (a bug in trainc must not take the editor's other answers away)
            text = f"a bug in trainc, not in your files: {type(error).__name__}: {error}"
            self._log(text)
        else:
            return None
        place = types.Range(types.Position(0, 0), types.Position(0, 0))
        return [types.Diagnostic(place, visible(text), severity=types.DiagnosticSeverity.Error, source=SOURCE)]

    def _show(self, root: str, paths: list[str], instead: dict[str, list[types.Diagnostic]] | None = None) -> None:
        """Publish these files, and take back what was shown of all others of the project."""
        former = self._shown.pop(root, set())
        for path in paths:
            self._tell(path, root, (instead or {}).get(path))
        for path in sorted(former - set(paths)):
            self._publish(types.PublishDiagnosticsParams(self._workspace.uri(path), []))

    def _tell(self, path: str, root: str, published: list[types.Diagnostic] | None = None) -> None:
        buffer = self._workspace.buffers.get(path)
        shown = diagnostics(path, self._workspace) if published is None else published
        version = buffer.version if buffer is not None else None
        self._shown.setdefault(root, set()).add(path)
        self._publish(types.PublishDiagnosticsParams(self._workspace.uri(path), shown, version))


def diagnostics(path: str, workspace: Workspace) -> list[types.Diagnostic]:
    """What is known to be wrong in a file."""
    findings = workspace.judgement(path).by_file.get(workspace.file(path), ())
    positions, root = workspace.positions(path), workspace.root(path)
    return [diagnostic(finding, positions, root, workspace) for finding in findings]


def diagnostic(finding: Finding, positions: Positions, root: str, workspace: Workspace) -> types.Diagnostic:
    """One finding of a file, whose `positions` these are; its effect and its help are lines of the message."""
    places = [(location(label.span, root, workspace), visible(label.text)) for label in finding.labels[1:]]
    related = [types.DiagnosticRelatedInformation(place, text) for place, text in places if place is not None]
    return types.Diagnostic(
        positions.range(finding.span),
        "\n".join(visible(text) for text in (finding.message, *details(finding), *finding.notes)),
        severity=_SEVERITIES[finding.level],
        code=finding.rule.name,
        source=SOURCE,
        related_information=related,
    )


def location(span: Span, root: str, workspace: Workspace) -> types.Location | None:
    """A span as a place that the editor can open, None where it is in no file."""
    path = workspace.path(span, root)
    uri = workspace.uri(path)
    return types.Location(uri, workspace.positions(path).range(span)) if uri else None


def code_actions(
    path: str, where: types.Range, only: Sequence[types.CodeActionKind | str], workspace: Workspace
) -> Iterator[types.CodeAction]:
    """An action for each finding in a range that carries an edit, and one for all safe edits of the file."""
    root, file, positions = workspace.root(path), workspace.file(path), workspace.positions(path)
    fixable = [finding for finding in workspace.judgement(path).by_file.get(file, ()) if finding.fix]
    for finding in fixable if _is_wanted(types.CodeActionKind.QuickFix.value, only) else ():
        place = positions.range(finding.span)
        if _before(place.end, where.start) or _before(where.end, place.start):
            continue
        is_safe = all(edit.safety == SAFE for edit in finding.fix)
        if edits := _edits([finding], root, workspace, unsafe=True):
            yield types.CodeAction(
                f"{finding.help or finding.message} [{finding.rule.name}]"
                + ("" if is_safe else " (may change the meaning)"),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(finding, positions, root, workspace)],
                is_preferred=is_safe or None,
                edit=types.WorkspaceEdit(edits),
            )
    own = [finding for finding in fixable if all(edit.file == file for edit in finding.fix)]
    if _is_wanted(FIX_ALL, only) and (edits := _edits(own, root, workspace, unsafe=False)):
        yield types.CodeAction("apply all safe trainc fixes", kind=FIX_ALL, edit=types.WorkspaceEdit(edits))


def _edits(
    findings: Sequence[Finding], root: str, workspace: Workspace, *, unsafe: bool
) -> dict[str, list[types.TextEdit]]:
    """The edits of findings in each file, none where one finding alone cannot be applied whole."""
    made: dict[str, list[types.TextEdit]] = {}
    for file in sorted({edit.file for finding in findings for edit in finding.fix}):
        path = os.path.join(root, file)
        positions = workspace.positions(path)
        done = fix(positions.text, findings, file, unsafe=unsafe) if is_inside(root, path) else None
        if done is None or (len(findings) == 1 and not done.applied):
            return {}
        if (uri := workspace.uri(path)) and done.text != positions.text:
            # What differs alone, so that a cursor elsewhere stays where it is.
            parts = [(Span(file, *part[:4]), part.text) for part in differing_parts(positions.text, done.text)]
            made[uri] = [types.TextEdit(positions.range(span), text) for span, text in parts]
    return made


def _before(one: types.Position, other: types.Position) -> bool:
    return (one.line, one.character) < (other.line, other.character)


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str]) -> bool:
    """Whether an editor asks for a kind of action, by its name or that of a wider kind."""
    kinds = [one.value if isinstance(one, types.CodeActionKind) else one for one in only]
    return not kinds or any(not one or kind == one or kind.startswith(f"{one}.") for one in kinds)
