"""What a field is, and who set it or where it lands: `trainc explain` and `trainc why` at the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from trainc.authoring.explain.annotations import ANNOTATIONS
from trainc.changes.why.landing import landings, rendered_line
from trainc.compiler.emit import path_of
from trainc.compiler.header import is_rendered
from trainc.integrations.lsp.cursor import documents_of, find
from trainc.integrations.lsp.fields import field_at
from trainc.model.paths import keyed, shown
from trainc.report.lines import visible
from trainc.report.why import clusters, landing_lines, why_lines
from trainc.text.trouble import Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.authoring.explain.fields import Field
    from trainc.integrations.lsp.cursor import Cursor
    from trainc.integrations.lsp.workspace import Workspace

MOST = 12  # lines of an answer


def hover(path: str, position: types.Position, workspace: Workspace) -> types.Hover | None:
    """The field at a position and what becomes of its value; None where nothing stands there."""
    positions = workspace.positions(path)
    line, column = positions.place(position)
    documents = documents_of(positions.text, workspace.file(path))
    cursor = find(documents, line, column)
    if cursor is None:
        return None
    parts = list(_field(cursor))
    why = _why(cursor, path, workspace)
    if why:
        parts.append("\n".join(("```text", *map(visible, why), "```")))
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(parts))
    return types.Hover(text, positions.range(cursor.span)) if parts else None


def _field(cursor: Cursor) -> Iterator[str]:
    name = str(cursor.path[-1])
    if name in ANNOTATIONS:
        yield f"`{name}`"
        yield ANNOTATIONS[name][1]
        return
    field = field_at(cursor.document.kind, cursor.document.api_version, cursor.path)
    if field is not None:
        yield f"`{field.name}` {field.type}"
        yield from about(field)


def about(field: Field) -> Iterator[str]:
    """What is said of a field: its description, what holds for it, and its default."""
    if field.about:
        yield field.about
    bounds = [bound for bound in field.bounds() if bound]
    if bounds:
        yield "\n".join(f"- {bound}" for bound in bounds)
    if field.default is not None:
        yield f"default: `{field.default}`"


def _why(cursor: Cursor, path: str, workspace: Workspace) -> list[str]:
    """Who set what stands at the cursor, or where it lands, in lines."""
    root, file = workspace.root(path), workspace.file(path)
    unsaved = workspace.unsaved(root)
    try:
        bundles, findings = workspace.judgement(path).bundles(file, unsaved)
        if is_rendered(workspace.text(path).encode("utf-8", "surrogatepass")):
            own = [one for one in bundles if not one.passing and path.endswith(f"/{path_of(one)}")]
            answers, _ = rendered_line([cursor.document], cursor.span.line, own or bundles)
            several = clusters(answers)
            lines = [text for one in answers for text in why_lines(one, str, several=several)]
        else:
            wanted = shown(keyed(cursor.document.tree, cursor.path))
            landed = landings([cursor.document], cursor.span.line, bundles, findings)
            lines = [text for one in landed if one.path == wanted for text in landing_lines(one, str, most=MOST)[1:]]
    except Trouble:
        return []  # the diagnostics say what is wrong with the project
    return [*lines[:MOST], f"and {len(lines) - MOST} more lines"] if len(lines) > MOST else lines
