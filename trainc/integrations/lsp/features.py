"""What an editor asks for at the cursor: hover, definition and completion; and what names in files stand for."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lsprotocol import types

from trainc.apiserver import shipped
from trainc.authoring.explain import ANNOTATIONS, Field
from trainc.changes.why import landings, rendered_line
from trainc.compiler.emit import path_of
from trainc.compiler.header import is_rendered
from trainc.compiler.load.shipped import COMPONENTS, shipped_names
from trainc.compiler.load.walk import known_contents
from trainc.integrations.lsp.cursor import Cursor, Outline, documents_of, field_at, find, outline
from trainc.integrations.lsp.findings import Workspace, location
from trainc.model.document import Document
from trainc.model.paths import keyed, shown
from trainc.model.settings import FILE
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, get, value
from trainc.report.lines import visible
from trainc.report.why import clusters, landing_lines, why_lines
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE
from trainc.text.trouble import Trouble

RUNTIME, COMPONENT, CLUSTER, QUEUE = "runtime", "component", "cluster", "queue"
CLUSTER_QUEUE, CONTAINER, ROLE = "cluster queue", "container", "replicated job"
_RUNTIMES = ("Runtime", "ClusterTrainingRuntime", "TrainingRuntime")
_ANNOTATIONS = {
    "trainc.dev/components": COMPONENT,
    "trainc.dev/cluster": CLUSTER,
    KUEUE_QUEUE: QUEUE,
    VOLCANO_QUEUE: QUEUE,
}
# By kind, the fields that hold a name; `*` stands for any key or item, and the items of a list of names count as well.
_FIELDS: dict[str, dict[str, str]] = {
    "TrainJob": {"spec.runtimeRef.name": RUNTIME},
    "TrainJobPatch": {"spec.runtimeRef.name": RUNTIME},
    "Runtime": {"spec.extends": RUNTIME, "spec.components": COMPONENT, "spec.components.name": COMPONENT},
    "RuntimeComponent": {"spec.requires": COMPONENT, "spec.conflictsWith": COMPONENT, "spec.after": COMPONENT},
    "Project": {
        "spec.clusters.*.queue": QUEUE,
        "spec.clusters.*.components": COMPONENT,
        "spec.clusters.*.components.name": COMPONENT,
    },
    "LocalQueue": {"spec.clusterQueue": CLUSTER_QUEUE},
}
_QUEUES = ("LocalQueue", "Queue")
MOST = 12  # lines of an answer
Kind = types.CompletionItemKind
_REFERENCE = re.compile(r"""runtimeRef:[ ]*\n(?:[ ]+(?:apiGroup|kind):.*\n){0,2}[ ]+name:[ ]*["']?(?P<name>[\w.-]+)""")


class NamedPlace(NamedTuple):
    """Something that has a name: the name, where it is defined, and its kind in words."""

    name: str
    at: Span | None
    about: str


def meaning(kind: str, path: Path) -> str:
    """What the text at a path of a document is the name of, empty for every other text."""
    steps = tuple([step for step in path if type(step) is str])
    if steps and steps[-1] in _ANNOTATIONS and len(steps) > 1 and steps[-2] in ("annotations", "labels"):
        return _ANNOTATIONS[steps[-1]]
    if kind == "TrainJob" and len(steps) > 1 and steps[-1] == "name":
        if steps[-2] in ("containers", "initContainers"):
            return CONTAINER
        if steps[-2] == "replicatedJobs":
            return ROLE
    for pattern, what in _FIELDS.get(kind, {}).items():
        fields = pattern.split(".")
        if len(fields) == len(steps) and all(one in ("*", step) for one, step in zip(fields, steps, strict=True)):
            return what
    return ""


class NameIndex:
    """The names that the files of a project define, as they are seen from one of them."""

    def __init__(self, path: str, workspace: Workspace) -> None:
        self._file = workspace.file(path)
        unsaved = workspace.unsaved(workspace.root(path))
        self._project, _, self._documents, _ = workspace.judgement(path).loaded(unsaved)

    def of(self, what: str, runtime: str = "") -> Iterator[NamedPlace]:
        """Everything of a sort; of containers and replicated jobs those of the `runtime`."""
        if what in (RUNTIME, COMPONENT):
            kinds = _RUNTIMES if what == RUNTIME else ("RuntimeComponent",)
            own = [one for one in self._own() if one.name and one.kind in kinds]
            yield from (NamedPlace(one.name, one.span(("metadata", "name")), one.kind) for one in own)
            folder = COMPONENTS if what == COMPONENT else ""
            known = {one.name for one in own}
            for name in (name for name in shipped_names(folder) if name not in known):
                document = next(iter(self._documents.shipped(folder, name)), None)
                at = document.span(("metadata", "name")) if document is not None else None
                yield NamedPlace(name, at, f"{what} that trainc ships")
        elif what == CLUSTER:
            text = known_contents(self._project, FILE).decode("utf-8", "replace") if self._project.file else ""
            project = next(iter(documents_of(text, FILE)), None)
            for name in filter(None, (cluster.name for cluster in self._project.clusters)):
                at = project.span(("spec", "clusters", name), key=True) if project is not None else None
                yield NamedPlace(name, at, "cluster")
        elif what == QUEUE:
            yield from self._dumped(_QUEUES)
        elif what == CLUSTER_QUEUE:
            yield from self._dumped(("ClusterQueue",))
        elif what in (CONTAINER, ROLE):
            yield from self._inside(what, runtime, set())

    def _own(self) -> list[Document]:
        folders = [*self._documents.runtime_folder(self._file).documents, *self._documents.beside(self._file).documents]
        dumped = [document for cluster in self._project.clusters for document in cluster.runtimes]
        every = [*self._documents.runtimes(), *folders, *dumped]
        return list({(document.file, document.start, document.name): document for document in every}.values())

    def _dumped(self, kinds: Iterable[str]) -> Iterator[NamedPlace]:
        for cluster in self._project.clusters:
            for kind in kinds:
                for tree in cluster.objects.get(kind, {}).values():
                    leaf = get(tree, "metadata", "name")
                    if type(leaf) is Sourced and type(leaf.value) is str:
                        yield NamedPlace(leaf.value, leaf.origin.at, f"{kind} of {cluster.name or 'the cluster'}")

    def _inside(self, what: str, runtime: str, met: set[str]) -> Iterator[NamedPlace]:
        """The containers or the replicated jobs of a runtime and of those that it inherits from."""
        met.add(runtime)
        own = [one for one in self._own() if one.name == runtime and one.kind in _RUNTIMES]
        for document in own or self._documents.shipped("", runtime):
            jobs = get(document.tree, "spec", "template", "spec", "replicatedJobs")
            for job in jobs if type(jobs) is list else []:
                pod = get(job, "template", "spec", "template", "spec")
                lists = [get(pod, "containers"), get(pod, "initContainers")] if what == CONTAINER else [[job]]
                for part in [part for items in lists if type(items) is list for part in items]:
                    leaf = get(part, "name")
                    if type(leaf) is Sourced and type(leaf.value) is str:
                        yield NamedPlace(leaf.value, leaf.origin.at, f"{what} of {document.name}")
            parent = value(document.tree, "spec", "extends")
            if type(parent) is str and parent not in met:
                yield from self._inside(what, parent, met)


def hover(path: str, position: types.Position, workspace: Workspace) -> types.Hover | None:
    """The field at a position and what becomes of its value; None where nothing stands there."""
    positions = workspace.positions(path)
    line, column = positions.place(position)
    documents = documents_of(positions.text, workspace.file(path))
    if (cursor := find(documents, line, column)) is None:
        return None
    name = str(cursor.path[-1])
    parts = [f"`{name}`", ANNOTATIONS[name][1]] if name in ANNOTATIONS else []
    field = field_at(cursor.document.kind, cursor.document.api_version, cursor.path)
    if field is not None and not parts:
        parts = [f"`{field.name}` {field.type}", *about(field)]
    if why := _why(cursor, path, workspace):
        parts.append("\n".join(("```text", *map(visible, why), "```")))
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(parts))
    return types.Hover(text, positions.range(cursor.span)) if parts else None


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
    if cursor.is_key:
        word = str(value(cursor.document.tree, *cursor.path))
    elif line != cursor.span.line or line != cursor.span.end_line:
        word = cursor.text
    else:  # of several names in one text the one that the cursor is in
        before, after = cursor.text[: column - cursor.span.column], cursor.text[column - cursor.span.column :]
        word = before.replace(",", " ").rpartition(" ")[2] + after.replace(",", " ").partition(" ")[0]
    runtime = value(cursor.document.tree, "spec", "runtimeRef", "name")
    places = NameIndex(path, workspace).of(what, str(runtime or ""))
    spans = dict.fromkeys(one.at for one in places if one.name == word and one.at is not None)
    return [place for span in spans if (place := location(span, root, workspace)) is not None]


def completion(path: str, position: types.Position, workspace: Workspace) -> list[types.CompletionItem]:
    """The candidates at a position, whatever is broken elsewhere in the text."""
    positions = workspace.positions(path)
    line = positions.lines[position.line] if position.line < len(positions.lines) else ""
    before = line[: positions.offset(position) - positions.offset(types.Position(position.line, 0))]
    if before.lstrip().startswith("#"):
        return []
    at = outline(positions.lines, position.line, before)
    start = positions.position(positions.offset(position) - len(at.typed))
    written = types.Range(start, position)
    items = [*_names(at, path, positions.lines, workspace), *_values(at), *_fields(at)]
    for item in items:
        item.text_edit = types.TextEdit(written, item.insert_text or item.label)
        item.insert_text = None
    return items


def _names(at: Outline, path: str, lines: list[str], workspace: Workspace) -> Iterator[types.CompletionItem]:
    if not (what := meaning(at.kind, at.path)) or not (at.is_value or type(at.path[-1]) is int):
        return
    match = _REFERENCE.search("\n".join(lines)) if what in (CONTAINER, ROLE) else None
    named = list(NameIndex(path, workspace).of(what, match["name"] if match else ""))
    known = {one.name: one for one in reversed(named)}
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
            is_scalar = not below.type.startswith(("object", "list of", "map of"))
            yield types.CompletionItem(
                name,
                kind=Kind.Field,
                detail=f"{below.type}, required" if below.required else below.type,
                documentation=types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(about(below))),
                insert_text=f"{name}: " if is_scalar else f"{name}:",
            )
