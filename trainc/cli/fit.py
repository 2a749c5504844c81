"""`trainc fit`: the answers of every job on every cluster, as a table, JSON or Markdown."""

from __future__ import annotations

from trainc import pipeline
from trainc.capacity.edits import with_pods
from trainc.capacity.facts import Facts
from trainc.capacity.fit import FITS, UNKNOWN, WAITS, Fit, answer_data
from trainc.capacity.rules import ANSWERED
from trainc.capacity.volcano import groups_of
from trainc.cli.dumps import contents
from trainc.cli.output import answer, data, tell
from trainc.cli.session import Session
from trainc.model.document import Document
from trainc.model.dumped import DECISIVE, INVENTORY, RUNNING
from trainc.model.finding import ERROR
from trainc.model.numbers import whole_number
from trainc.model.trouble import Trouble
from trainc.project.dumps import read_dump
from trainc.report.dumps import dumps
from trainc.report.fit import markdown, table
from trainc.report.text import finding_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from trainc.capacity.fit import Answer
    from trainc.cli.options import Options
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.tree import Tree

Objects = dict[str, dict[str, "Tree"]]


def fit(options: Options) -> int:
    """Print the answers; exit with 1 where a job never starts, needs nodes or cannot be compiled.

    Where nothing is known of any job the exit code is 2: no answer is not a good one.
    """
    nodes = _what_if(options.one("what_if"))
    session = Session(options)
    beside = _inventories(session, options.all("inventory"))
    jobs, objects = _jobs(session)
    rows: list[dict[str, Any]] = []
    dates: dict[str, str] = {}
    for cluster in session.project.clusters:
        if jobs.get(cluster.name):
            facts = Facts(_joined(cluster.objects, beside, objects), closed=session.selection.closed_world)
            if facts.malformed:
                raise Trouble("; ".join(f"{leaf.origin}: `{leaf.value}` is not an amount" for leaf in facts.malformed))
            dates[cluster.name] = facts.date
            rows += _rows(session, cluster, jobs[cluster.name], facts, nodes)
    if not rows and not session.report.failed:
        raise Trouble("no job under the paths given")
    if rows or options.one("report") == "json":
        _print(rows, dates, options)
    _tell(session)
    if rows and all(row["status"] == UNKNOWN for row in rows):
        tell("trainc: no answer: no dump of the cluster says what decides; see trainc inventory --help")
        return 2 if not session.report.failed else 1
    return int(session.report.failed or any(row["status"] not in _FINE for row in rows))


_FINE = (FITS, WAITS, UNKNOWN)
_OF_CLUSTERS = frozenset({*DECISIVE, *RUNNING, INVENTORY})


def _tell(session: Session) -> None:
    """Say what keeps jobs from being compiled; what keeps them from starting stands in the answers."""
    report = session.report.only(lambda one: one.level == ERROR and one.rule.name not in ANSWERED)
    for finding in report.findings:
        tell(*finding_lines(finding, session.lines, session.shown), "")


def _what_if(word: str) -> int:
    key, _, text = word.partition("=")
    if not word:
        return 0
    number = whole_number(text, least=1)
    if key != "numNodes" or number is None:
        raise Trouble(f"--what-if takes numNodes=N, N a whole number from 1, not `{word}`")
    return number


def _inventories(session: Session, paths: Sequence[str]) -> Objects:
    """The objects of dumps that the command line names."""
    objects: Objects = {}
    for path in paths:
        for kind, named in read_dump(contents(path), path, session.report).items():
            objects.setdefault(kind, {}).update(named)
    return objects


def _jobs(session: Session) -> tuple[dict[str, list[Bundle]], Objects]:
    """The jobs by cluster, and objects of a cluster that stand in files beside them."""
    jobs: dict[str, list[Bundle]] = {}
    objects: Objects = {}
    for bundle in pipeline.bundles(session.project, session.selection, session.report):
        if bundle.jobset is not None:
            jobs.setdefault(bundle.cluster, []).append(bundle)
        for tree in bundle.around:
            document = Document(bundle.document.file, tree, {})
            if document.kind in _OF_CLUSTERS:
                key = f"{document.namespace}/{document.name}" if document.namespace else document.name
                objects.setdefault(document.kind, {})[key or document.file] = tree
    return jobs, objects


def _joined(*parts: Mapping[str, Mapping[str, Tree]]) -> Objects:
    objects: Objects = {}
    for part in parts:
        for kind, named in part.items():
            objects.setdefault(kind, {}).update(named)
    return objects


def _rows(session: Session, cluster: Cluster, jobs: list[Bundle], facts: Facts, nodes: int) -> list[dict[str, Any]]:
    options = session.options
    asked = Fit(facts, is_idle=not options.has("now"))
    trees = [(bundle, with_pods(bundle.jobset, nodes) if nodes else bundle.jobset) for bundle in jobs]
    if options.has("together"):
        first = [asked.answer(tree) for _, tree in trees]
        order = sorted(range(len(trees)), key=lambda at: (-_priority(first[at]), _name(trees[at][0])))
    else:
        order = list(range(len(trees)))
    rows = []
    for at in order:
        bundle, tree = trees[at]
        groups = [] if nodes else groups_of(bundle.around)
        found = asked.answer(tree, groups, with_headroom=options.has("headroom"))
        rows.append(_row(session, cluster, bundle, found))
        if options.has("together"):
            asked.reserve(found)
    return rows


def _priority(found: Answer) -> int:
    return (found.verdict.priority or 0) if found.verdict else 0


def _name(bundle: Bundle) -> str:
    return f"{bundle.document.namespace}/{bundle.document.name}"


def _row(session: Session, cluster: Cluster, bundle: Bundle, found: Answer) -> dict[str, Any]:
    document = bundle.document
    span = document.span(("metadata", "name"))
    row: dict[str, Any] = {
        "job": _name(bundle).removeprefix("/"),
        "kind": document.kind,
        "file": session.shown(span.file),
        "line": span.line,
    }
    if cluster.name:
        row["cluster"] = cluster.name
    return {**row, **answer_data(found)}


def _print(rows: list[dict[str, Any]], dates: Mapping[str, str], options: Options) -> None:
    form = options.one("report", "text")
    if form == "json":
        data(dumps({"dumps": dates, "jobs": rows}, sort_keys=False))
    elif form == "markdown":
        answer(*markdown(rows, dates))
    else:
        answer(*table(rows, dates))
