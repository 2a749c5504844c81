"""The edits that findings carry, as quick fixes of an editor."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from trainc.changes.fix import differing_parts, fix
from trainc.integrations.lsp.diagnostics import diagnostic
from trainc.model.finding import SAFE
from trainc.model.sourced import Span
from trainc.text.files import within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trainc.integrations.lsp.positions import Positions
    from trainc.integrations.lsp.workspace import Workspace
    from trainc.model.finding import Finding

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.trainc"
KINDS = (types.CodeActionKind.QuickFix, FIX_ALL)


def code_actions(
    path: str, where: types.Range, only: Sequence[types.CodeActionKind | str], workspace: Workspace
) -> list[types.CodeAction]:
    """An action for each finding in a range that carries an edit, and one for all safe edits of the file."""
    actions: list[types.CodeAction] = []
    if _is_wanted(types.CodeActionKind.QuickFix.value, only):
        actions += _quick_fixes(path, where, workspace)
    if _is_wanted(FIX_ALL, only):
        actions += _all_safe(path, workspace)
    return actions


def _quick_fixes(path: str, where: types.Range, workspace: Workspace) -> Iterator[types.CodeAction]:
    root, positions = workspace.root(path), workspace.positions(path)
    for finding in workspace.judgement(path).by_file.get(workspace.file(path), ()):
        place = positions.range(finding.span)
        if not finding.fix or _before(place.end, where.start) or _before(where.end, place.start):
            continue
        is_safe = all(edit.safety == SAFE for edit in finding.fix)
        edits = _edits([finding], root, workspace, unsafe=True)
        if edits:
            yield types.CodeAction(
                _title(finding) + ("" if is_safe else " (may change the meaning)"),
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic(finding, positions, root, workspace)],
                is_preferred=is_safe or None,
                edit=types.WorkspaceEdit(edits),
            )


def _all_safe(path: str, workspace: Workspace) -> Iterator[types.CodeAction]:
    root, file = workspace.root(path), workspace.file(path)
    findings = [
        finding
        for finding in workspace.judgement(path).by_file.get(file, ())
        if finding.fix and all(edit.file == file for edit in finding.fix)
    ]
    edits = _edits(findings, root, workspace, unsafe=False)
    if edits:
        yield types.CodeAction("make every safe edit of trainc", kind=FIX_ALL, edit=types.WorkspaceEdit(edits))


def _title(finding: Finding) -> str:
    return f"{finding.help or finding.message} [{finding.rule.name}]"


def _edits(
    findings: Sequence[Finding], root: str, workspace: Workspace, *, unsafe: bool
) -> dict[str, list[types.TextEdit]]:
    """The edits of findings in each file, none where one finding alone cannot be applied whole."""
    made: dict[str, list[types.TextEdit]] = {}
    for file in sorted({edit.file for finding in findings for edit in finding.fix}):
        path = os.path.join(root, file)
        positions = workspace.positions(path)
        done = fix(positions.text, findings, file, unsafe=unsafe) if within(root, path) else None
        if done is None or (len(findings) == 1 and not done.applied):
            return {}
        buffer = workspace.buffers.get(path)
        uri = buffer.uri if buffer is not None else from_fs_path(path)
        if uri and done.text != positions.text:
            made[uri] = list(_text_edits(positions, done.text, file))
    return made


def _text_edits(before: Positions, after: str, file: str) -> Iterator[types.TextEdit]:
    """What differs, so that a cursor elsewhere stays where it is."""
    for part in differing_parts(before.text, after):
        span = Span(file, part.line, part.column, part.end_line, part.end_column)
        yield types.TextEdit(before.range(span), part.text)


def _before(one: types.Position, other: types.Position) -> bool:
    return (one.line, one.character) < (other.line, other.character)


def _is_wanted(kind: str, only: Sequence[types.CodeActionKind | str]) -> bool:
    """Whether an editor asks for a kind of action, by its name or that of a wider kind."""
    kinds = [one.value if isinstance(one, types.CodeActionKind) else one for one in only]
    return not kinds or any(not one or kind == one or kind.startswith(f"{one}.") for one in kinds)
