"""All that the page shows of one project, as plain data: the same input gives the same data, with names of files alone."""

import base64
import hashlib
import html
import json
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from trainc.changes.why import Layers, LayerValue, Why, label, of_leaf
from trainc.model.account import Account
from trainc.model.bundle import Bundle
from trainc.model.finding import LEVELS, Finding
from trainc.model.paths import keyed, shown
from trainc.model.report import Report
from trainc.model.settings import Project
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree, value
from trainc.report.page.inheritance import Inheritance
from trainc.report.page.texts import SourceLines
from trainc.text.masking import MASK, named_secret, variable_of
from trainc.yaml.writer import order

Job = tuple[Bundle, dict[str, Any]]  # and its row of the listing
MAX_FINDINGS = 2000
_AROUND = 2  # lines before and behind that of a finding
MAX_CELLS = 3_000_000  # numbers and texts in all tables: about 24 MiB of the page
_SECRET_DATA = ("data", "stringData")
_SCRIPTS = ("elements.js", "pictures.js", "manifests.js", "views.js", "page.js")
_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\x7f": "\\u007f"})


def project_data(
    project: Project,
    jobs: Iterable[Job],
    runtimes: Inheritance,
    report: Report,
    lines: SourceLines,
    capacity: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is there when the page opens, and what is read when somebody opens a job or a finding.

    `capacity` holds what is known of clusters, by name.
    """
    fields = _Fields(lines)
    words = ("cluster", "namespace", "name", "file")
    ordered = sorted(jobs, key=lambda job: [job[1][word] or "" for word in words])
    objects = [fields.objects(bundle) for bundle, _ in ordered]
    findings = sorted(report.findings, key=lambda finding: -LEVELS.index(finding.level))
    without = sum(each is None for each in objects)
    left = [
        f"{words[0]} {count} {noun}{'s' * (count > 1)}; {words[1]}"
        for count, noun, words in (
            (without, "job", ("the manifest fields of", "use a page of one folder")),
            (max(0, len(findings) - MAX_FINDINGS), "finding", ("the details of", "`trainc validate` prints them")),
        )
        if count
    ]
    index = {
        "name": project.name,
        "clusters": [
            {
                "name": cluster.name,
                "folder": cluster.folder,
                "scheduler": cluster.scheduler.value if cluster.scheduler is not None else "",
                "kubernetes": str(cluster.kubernetes),
            }
            for cluster in project.clusters
        ],
        "jobs": [
            {
                **row,
                "kind": bundle.document.kind,
                "line": bundle.document.span(("metadata", "name")).line,
                "start": bundle.document.start,
                "runtime": runtimes.count(bundle),
                "framework": bundle.plan.framework if bundle.plan is not None else "",
            }
            for bundle, row in ordered
        ],
        "refused": [entry for cluster in project.clusters for entry in _refused(report.account, cluster.name)],
        "runtimes": {"nodes": runtimes.nodes, "edges": runtimes.edges},
        "findings": [_finding(one, report.jobs_reached(one), lines) for one in findings[:MAX_FINDINGS]],
        "unknown": report.unknown,
        "capacity": capacity,
        "left": left,
    }
    return index, {"objects": objects, "tables": fields.tables(), "lines": lines.shown()}


def _refused(account: Account, cluster: str) -> Iterable[dict[str, Any]]:
    for entry in account.refused(cluster):
        cause = entry.cause
        mistake = entry.place if cause is None else cause.span
        yield {
            "name": entry.name,
            "namespace": entry.namespace or None,
            "kind": entry.kind,
            "cluster": cluster or None,
            "file": entry.place.file,
            "mistake": {"file": mistake.file, "line": mistake.line},
            "cause": cause.message if cause is not None else "",
        }


def _finding(finding: Finding, jobs: int, lines: SourceLines) -> dict[str, Any]:
    file = finding.span.file
    labels = []
    for index, one in enumerate(finding.labels):
        span = one.span
        lines.want(span.file, span.line, 0 if index else _AROUND)
        end = span.end_column if span.end_line == span.line else 0
        text = lines.sentence(one.text, span.file)
        labels.append({"file": span.file, "line": span.line, "column": span.column, "end": end, "text": text})
    words = {"message": finding.message, "effect": finding.effect, "help": finding.help}
    return {
        "rule": finding.rule.name,
        "level": finding.level,
        "why": finding.rule.why,
        **{name: lines.sentence(text, file) for name, text in words.items()},
        "notes": [lines.sentence(note, file) for note in finding.notes],
        "labels": labels,
        "jobs": jobs,
    }


class _Fields:
    """Tables of values, origins and fields, filled job by job until they hold MAX_CELLS.

    `paths` holds `[shown path, steps...]`; `setters` `[layer, who, by, file, line, column, file, ...]` with indices of
    `texts`; `beaten` `[setter, value, ...]`; `fields` `[path, value, setter, beaten]` with indices, -1 for none. An
    object of a job is `[label, shape, position, field, ...]`: the fields of a shape, but for some that are others.
    """

    def __init__(self, lines: SourceLines) -> None:
        self._lines = lines
        self.cells = 0
        self._tables: dict[str, dict[Hashable, int]] = {
            name: {} for name in ("texts", "values", "paths", "setters", "beaten", "fields")
        }
        self._shapes: dict[tuple[int, ...], int] = {}
        self._members: list[list[int]] = []

    def objects(self, bundle: Bundle) -> list[list[int]] | None:
        """The objects of a job; None where the tables are full."""
        if self.cells > MAX_CELLS:
            return None
        layers = Layers(bundle)
        return [self._object(layers, tree) for tree in bundle.objects]

    def tables(self) -> dict[str, list[Any]]:
        """All tables as plain lists."""
        out: dict[str, list[Any]] = {name: list(table) for name, table in self._tables.items()}
        out["values"] = [content for _, content in out["values"]]
        return {**out, "shapes": self._members}

    def _object(self, layers: Layers, tree: Tree) -> list[int]:
        name = label(tree)
        members, paths = [], []
        for path, leaf in _as_written(tree):
            if type(leaf) is Sourced:
                steps = keyed(tree, path)
                where = self._index("paths", (shown(steps), *path))
                paths.append(where)
                in_secret = value(tree, "kind") == "Secret" and path[0] in _SECRET_DATA
                hidden = in_secret or named_secret(variable_of(shown(steps)))
                members.append(self._field(where, of_leaf(layers, name, steps, leaf), hidden=hidden))
        return [self._text(name), *self._changes(tuple(paths), members)]

    def _changes(self, paths: tuple[int, ...], members: list[int]) -> list[int]:
        """The shape of an object, and where its fields are others than those of the first one of that shape."""
        shape = self._shapes.get(paths)
        if shape is None:
            shape = self._shapes[paths] = len(self._members)
            self._members.append(members)
            self.cells += len(members)
        out = [shape]
        for position, (own, first) in enumerate(zip(members, self._members[shape], strict=True)):
            if own != first:
                out += [position, own]
        self.cells += len(out)
        return out

    def _field(self, path: int, why: Why, *, hidden: bool) -> int:
        parts = [(self._setter(one), self._value(one.value, hidden=hidden)) for one in why.beaten]
        lost = self._index("beaten", tuple(number for pair in parts for number in pair)) if parts else -1
        held = self._value(why.value, hidden=hidden)
        return self._index("fields", (path, held, self._setter(why.winner), lost), size=4)

    def _setter(self, setter: LayerValue) -> int:
        parts = [self._text(setter.layer), self._text(setter.who), self._text(setter.origin.by)]
        for span in setter.origin.spans():
            self._lines.want(span.file, span.line)
            parts += [self._text(span.file), span.line, span.column]
        return self._index("setters", tuple(parts), size=len(parts))

    def _value(self, content: Any, *, hidden: bool) -> int:
        masked = MASK if hidden and content else content
        return self._index("values", (type(masked).__name__, masked), size=1 + len(str(masked)) // 8)

    def _text(self, text: str) -> int:
        return self._index("texts", text, size=1 + len(text) // 8)

    def _index(self, name: str, entry: Hashable, *, size: int = 6) -> int:
        table = self._tables[name]
        if entry not in table:
            table[entry] = len(table)
            self.cells += size
        return table[entry]


def _as_written(tree: Tree, path: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Every leaf with its path, in the order of the rendered file."""
    if type(tree) is dict:
        for key in order(tree):
            yield from _as_written(tree[key], (*path, key))
    elif type(tree) is list:
        for index, item in enumerate(tree):
            yield from _as_written(item, (*path, index))
    else:
        yield path, tree


def page_html(title: str, index: Any, details: Any) -> Iterator[str]:
    """The document, part by part."""
    style, script = _source("page.css"), "".join(map(_source, _SCRIPTS))
    parts = {
        "title": html.escape(title).replace("##", "#&#35;"),
        "policy": f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'",
        "style": style,
        "index": embedded(index),
        "details": embedded(details),
        "script": script,
    }
    for number, piece in enumerate(_source("page.html").split("@@")):
        yield parts[piece] if number % 2 else piece


def embedded(content: Any) -> str:
    """`content` as JSON in which nothing ends a script element, and `##[` starts no command where the page is printed."""
    return json.dumps(content, separators=(",", ":")).translate(_ESCAPED).replace("##", "#\\u0023")


def _source(name: str) -> str:
    with open(os.path.join(os.path.dirname(__file__), "web", name), encoding="utf-8") as stream:
        return stream.read()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
