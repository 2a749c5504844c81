"""Findings and their quick fixes for an editor: of the edited file at once, of its whole project after a pause."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from lsprotocol import types

from trainc.changes.fix import fix
from trainc.integrations.lsp.cursor import Positions
from trainc.integrations.lsp.judgement import SLOW, Workspace, relative
from trainc.model.finding import SAFE, Finding
from trainc.model.sourced import Span
from trainc.report.details import details
from trainc.report.lines import visible
from trainc.text.files import is_inside
from trainc.text.line_diff import differing_parts
from trainc.text.trouble import Trouble

Publish = Callable[[types.PublishDiagnosticsParams], None]

SOON, PAUSE = 0.02, 0.4  # seconds after a change: several that arrive together are judged once


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
        if not (judgement.is_whole and judgement.is_known):
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
            workspace.forget(root)
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


SOURCE = "trainc"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


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


FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.trainc"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


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
