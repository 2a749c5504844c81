"""Findings as an editor underlines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types
from pygls.uris import from_fs_path

from trainc.report.details import details
from trainc.report.lines import visible

if TYPE_CHECKING:
    from trainc.integrations.lsp.positions import Positions
    from trainc.integrations.lsp.workspace import Workspace
    from trainc.model.finding import Finding, Label
    from trainc.model.sourced import Span

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
    related = [one for label in finding.labels[1:] if (one := _related(label, root, workspace)) is not None]
    return types.Diagnostic(
        positions.range(finding.span),
        "\n".join(visible(text) for text in (finding.message, *details(finding), *finding.notes)),
        severity=_SEVERITIES[finding.level],
        code=finding.rule.name,
        source=SOURCE,
        related_information=related,
    )


def trouble(error: Exception) -> types.Diagnostic:
    """What keeps a project from being judged, at the start of the file."""
    start = types.Position(0, 0)
    return types.Diagnostic(
        types.Range(start, start),
        visible(str(error)),
        severity=types.DiagnosticSeverity.Error,
        source=SOURCE,
    )


def location(span: Span, root: str, workspace: Workspace) -> types.Location | None:
    """A span as a place that the editor can open, None where it is in no file."""
    path = workspace.path(span, root)
    uri = workspace.buffers[path].uri if path in workspace.buffers else from_fs_path(path) if path else None
    return types.Location(uri, workspace.positions(path).range(span)) if uri else None


def _related(label: Label, root: str, workspace: Workspace) -> types.DiagnosticRelatedInformation | None:
    place = location(label.span, root, workspace)
    return types.DiagnosticRelatedInformation(place, visible(label.text)) if place is not None else None
