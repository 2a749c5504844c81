"""What an editor asks for at the cursor: hover, definition and completion."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from trainc.apiserver import shipped
from trainc.authoring.explain import ANNOTATIONS, Field
from trainc.changes.why.landing import landings, rendered_line
from trainc.compiler.emit import path_of
from trainc.compiler.header import is_rendered
from trainc.integrations.lsp.cursor import Cursor, Outline, documents_of, field_at, find, outline
from trainc.integrations.lsp.judgement import Workspace
from trainc.integrations.lsp.names import CONTAINER, ROLE, NameIndex, meaning
from trainc.integrations.lsp.publishing import location
from trainc.model.paths import keyed, shown
from trainc.model.tree import value
from trainc.report.lines import visible
from trainc.report.why import clusters, landing_lines, why_lines
from trainc.text.trouble import Trouble

MOST = 12  # lines of an answer


def hover(path: str, position: types.Position, workspace: Workspace) -> types.Hover | None:
    """The field at a position and what becomes of its value; None where nothing stands there."""
    positions = workspace.positions(path)
    line, column = positions.place(position)
    documents = documents_of(positions.text, workspace.file(path))
    if (cursor := find(documents, line, column)) is None:
        return None
    parts = list(_field(cursor))
    if why := _why(cursor, path, workspace):
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
    if bounds := [bound for bound in field.bounds() if bound]:
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


Kind = types.CompletionItemKind
_REFERENCE = re.compile(r"""runtimeRef:[ ]*\n(?:[ ]+(?:apiGroup|kind):.*\n){0,2}[ ]+name:[ ]*["']?(?P<name>[\w.-]+)""")


def completion(path: str, position: types.Position, workspace: Workspace) -> list[types.CompletionItem]:
    """The candidates at a position, whatever is broken elsewhere in the text."""
    positions = workspace.positions(path)
    line = positions.line(position.line)
    before = line[: positions.offset(position) - positions.offset(types.Position(position.line, 0))]
    if before.lstrip().startswith("#"):
        return []
    at = outline(positions.lines(), position.line, before)
    start = positions.position(positions.offset(position) - len(at.typed))
    written = types.Range(start, position)
    items = [*_names(at, path, positions.lines(), workspace), *_values(at), *_fields(at)]
    for item in items:
        item.text_edit = types.TextEdit(written, item.insert_text or item.label)
        item.insert_text = None
    return items


def _names(at: Outline, path: str, lines: list[str], workspace: Workspace) -> Iterator[types.CompletionItem]:
    """The names of what a field refers to."""
    if not (what := meaning(at.kind, at.path)) or not (at.is_value or type(at.path[-1]) is int):
        return
    names = NameIndex(workspace.file(path), workspace.judgement(path), workspace.unsaved(workspace.root(path)))
    match = _REFERENCE.search("\n".join(lines)) if what in (CONTAINER, ROLE) else None
    known = {one.name: one for one in reversed(list(names.of(what, match["name"] if match else "")))}
    for name in sorted(known):
        yield types.CompletionItem(name, kind=Kind.Reference, detail=known[name].about)


def _values(at: Outline) -> Iterator[types.CompletionItem]:
    """The values that a field takes, where these are few."""
    if not at.is_value:
        return
    if at.path == ("kind",):
        yield from (types.CompletionItem(one, kind=Kind.Class) for one in sorted({k.kind for k in shipped.listed()}))
    elif at.path == ("apiVersion",):
        groups = {f"{one.group}/{one.version}" for one in shipped.listed() if at.kind in ("", one.kind)}
        yield from (types.CompletionItem(one, kind=Kind.Value) for one in sorted(groups))
    else:
        field = field_at(at.kind, "", at.path)
        choices = field.schema.get("enum", ()) if field is not None else ()
        if field is not None and field.type == "boolean":
            choices = ("true", "false")
        yield from (types.CompletionItem(str(one), kind=Kind.EnumMember) for one in choices if one not in (None, ""))


def _fields(at: Outline) -> Iterator[types.CompletionItem]:
    """The fields of the map that is written, but for those that it has."""
    if at.is_value:
        return
    if at.path[-1:] == ("annotations",):
        for name, (value, text) in ANNOTATIONS.items():
            if name not in at.siblings:
                yield types.CompletionItem(name, kind=Kind.Property, documentation=text, insert_text=f"{name}: {value}")
        return
    field = field_at(at.kind, "", at.path)
    for name, below in field.children() if field is not None and not field.type.startswith("map of ") else ():
        if name not in at.siblings:
            yield _field_words(name, below)


def _field_words(name: str, field: Field) -> types.CompletionItem:
    is_scalar = not field.type.startswith(("object", "list of", "map of"))
    return types.CompletionItem(
        name,
        kind=Kind.Field,
        detail=f"{field.type}, required" if field.required else field.type,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(about(field))),
        insert_text=f"{name}: " if is_scalar else f"{name}:",
    )
