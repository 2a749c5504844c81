"""What fits at the cursor: fields of the kind, values that a field takes, and names that the project defines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

from trainc.apiserver import shipped
from trainc.authoring.explain.annotations import ANNOTATIONS
from trainc.integrations.lsp.cursor import outline
from trainc.integrations.lsp.fields import field_at
from trainc.integrations.lsp.hover import about
from trainc.integrations.lsp.names import CONTAINER, ROLE, NameIndex, meaning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.authoring.explain.fields import Field
    from trainc.integrations.lsp.cursor import Outline
    from trainc.integrations.lsp.workspace import Workspace

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
    what = meaning(at.kind, at.path)
    if not what or not (at.is_value or type(at.path[-1]) is int):
        return
    names = NameIndex(workspace.file(path), workspace.judgement(path), workspace.unsaved(workspace.root(path)))
    runtime = _runtime(lines) if what in (CONTAINER, ROLE) else ""
    known = {one.name: one for one in reversed(list(names.of(what, runtime)))}
    for name in sorted(known):
        yield types.CompletionItem(name, kind=Kind.Reference, detail=known[name].about)


def _runtime(lines: list[str]) -> str:
    """The runtime that a text names, wherever else it may be broken."""
    match = _REFERENCE.search("\n".join(lines))
    return match["name"] if match else ""


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
    for name, below in field.children() if field is not None and not _is_chosen(field) else ():
        if name not in at.siblings:
            yield _field(name, below)


def _is_chosen(field: Field) -> bool:
    """Whether people choose the keys that stand here, as those of labels and clusters."""
    return field.type.startswith("map of ")


def _field(name: str, field: Field) -> types.CompletionItem:
    is_scalar = not field.type.startswith(("object", "list of", "map of"))
    return types.CompletionItem(
        name,
        kind=Kind.Field,
        detail=f"{field.type}, required" if field.required else field.type,
        documentation=types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(about(field))),
        insert_text=f"{name}: " if is_scalar else f"{name}:",
    )
