"""Where the runtime, component, cluster or queue that a text names is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.integrations.lsp.cursor import documents_of, find
from trainc.integrations.lsp.diagnostics import location
from trainc.integrations.lsp.names import NameIndex, meaning
from trainc.model.tree import value

if TYPE_CHECKING:
    from lsprotocol import types

    from trainc.integrations.lsp.cursor import Cursor
    from trainc.integrations.lsp.workspace import Workspace


def definition(path: str, position: types.Position, workspace: Workspace) -> list[types.Location]:
    """Every place at which what is named at a position is defined; several clusters may each have one."""
    root, file = workspace.root(path), workspace.file(path)
    positions = workspace.positions(path)
    line, column = positions.place(position)
    cursor = find(documents_of(positions.text, file), line, column)
    what = meaning(cursor.document.kind, cursor.path) if cursor is not None else ""
    if cursor is None or not what:
        return []
    word = _word(cursor, line, column)
    runtime = value(cursor.document.tree, "spec", "runtimeRef", "name")
    places = NameIndex(file, workspace.judgement(path), workspace.unsaved(root)).of(what, str(runtime or ""))
    spans = dict.fromkeys(one.at for one in places if one.name == word and one.at is not None)
    return [place for span in spans if (place := location(span, root, workspace)) is not None]


def _word(cursor: Cursor, line: int, column: int) -> str:
    """The name at the cursor, or behind the key at it: of several in one text the one that the cursor is in."""
    if cursor.is_key:
        return str(value(cursor.document.tree, *cursor.path))
    if line != cursor.span.line or cursor.span.line != cursor.span.end_line:
        return cursor.text
    at = column - cursor.span.column
    before, after = cursor.text[:at], cursor.text[at:]
    return before.replace(",", " ").rpartition(" ")[2] + after.replace(",", " ").partition(" ")[0]
