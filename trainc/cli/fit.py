"""`trainc fit`: the answers of every job on every cluster, as a table, JSON or Markdown."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trainc.apiserver.inventory_kinds import DECISIVE, INVENTORY, RUNNING
from trainc.cli.options import Options
from trainc.cli.output import answer, data, tell
from trainc.cli.session import Session, dump_contents
from trainc.cluster.capacity.advice import headroom, trainer_pods, with_pods
from trainc.cluster.capacity.answers import answer_data
from trainc.cluster.capacity.facts import ClusterFacts
from trainc.cluster.capacity.fit import GOOD, NEVER, UNKNOWN, WAITS, Fit, FitAnswer, class_of, without_claims
from trainc.cluster.capacity.groups import groups_of
from trainc.compiler import pipeline
from trainc.compiler.load import load
from trainc.compiler.project.dumps import read_dump
from trainc.model.bundle import Bundle
from trainc.model.document import Document
from trainc.model.finding import ERROR
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, value
from trainc.report.dumps import dumps as as_json
from trainc.report.fit import markdown, table
from trainc.report.text import finding_lines
from trainc.text.numbers import whole_number
from trainc.text.trouble import Trouble

Objects = dict[str, dict[str, "Tree"]]
Shown = dict[str, "str | list[str]"]  # of a cluster's dump: its date, and what answers take for absent
_FINE = (*GOOD, WAITS, UNKNOWN)
_OF_CLUSTERS = frozenset({*DECISIVE, *RUNNING, INVENTORY, "PersistentVolumeClaim"})


def run(options: Options) -> int:
    """Print the answers; exit with 1 where a job never starts, needs nodes or cannot be compiled.

    Where nothing is known of any job the exit code is 2: no answer is not a good one.
    """
    wish = options.one("what_if")
    key, _, text = wish.partition("=")
    nodes = whole_number(text, least=1)
    if wish and (key != "numNodes" or nodes is None):
        raise Trouble(f"--what-if must be numNodes=N with N a whole number of 1 or more, not `{wish}`")
    session = Session(options)
    session.project = session.project.checked(session.project.checks._replace(capacity=False))
    inventories = (read_dump(dump_contents(path), path, session.report) for path in options.all("inventory"))
    beside = joined(*inventories)
    bundles = list(pipeline.bundles(session.project, session.selection, session.report))
    objects = objects_beside(bundles)
    claims = claims_named(session, bundles)
    rows: list[dict[str, Any]] = []
    dumps: dict[str, Shown] = {}
    for cluster in session.project.clusters:
        if jobs := [one for one in bundles if one.jobset is not None and one.cluster == cluster.name]:
            placements = _Answers(
                session, joined(cluster.objects, beside, objects, claims.get(cluster.name, {})), nodes or 0
            )
            known = placements.alone.facts
            dumps[cluster.name] = {"date": known.date, "assumedEmpty": known.assumed_empty()}
            for bundle, fit in placements.answers(jobs):
                span = bundle.document.span(("metadata", "name"))
                row = {
                    "job": _name(bundle).removeprefix("/"),
                    "kind": bundle.document.kind,
                    "file": session.shown(span.file),
                    "line": span.line,
                }
                rows.append({**row, **({"cluster": cluster.name} if cluster.name else {}), **answer_data(fit)})
    if not rows and not session.report.failed:
        raise Trouble("no job under the paths given")
    form = options.one("report", "text")
    if form == "json":
        data(as_json({"dumps": dumps, "jobs": rows}, sort_keys=False))
    elif rows:
        answer(*(markdown if form == "markdown" else table)(rows, dumps))
    # What keeps jobs from being compiled; what keeps them from starting stands in the answers.
    for finding in session.report.only(lambda one: one.level == ERROR).findings:
        tell(*finding_lines(finding, session.lines, session.shown), "")
    if rows and all(row["status"] == UNKNOWN for row in rows):
        tell(f"trainc: no result: {_undecided(rows)}")
        return 2 if not session.report.failed else 1
    return int(session.report.failed or any(row["status"] not in _FINE for row in rows))


def _undecided(rows: list[dict[str, Any]]) -> str:
    """Why there is no answer for any job."""
    if all("dump" in row.get("reason", "") for row in rows):
        return "no dump of the cluster has the required objects; see trainc inventory --help"
    return "trainc cannot decide for any job; the reasons are above"


def objects_beside(bundles: Iterable[Bundle]) -> Objects:
    """The objects of a cluster that stand in files beside jobs."""
    objects: Objects = {}
    for bundle in bundles:
        for tree in bundle.around:
            document = Document(bundle.document.file, tree, {})
            if document.kind in _OF_CLUSTERS:
                key = f"{document.namespace}/{document.name}" if document.namespace else document.name
                objects.setdefault(document.kind, {})[key or document.file] = tree
    return objects


def claims_named(session: Session, bundles: list[Bundle]) -> dict[str, Objects]:
    """The PVCs of the project's other files that jobs name, by cluster."""
    claims: dict[str, Objects] = {}
    for made in pipeline.objects_named(bundles, session.project, session.selection, Report()):
        for tree in made.objects:
            document = Document(made.document.file, tree, {})
            if document.kind == "PersistentVolumeClaim":
                key = f"{document.namespace or 'default'}/{document.name}"
                claims.setdefault(made.cluster, {}).setdefault(document.kind, {})[key] = tree
    return claims


def joined(*parts: Mapping[str, Mapping[str, Tree]]) -> Objects:
    """The objects of several dumps as those of one."""
    objects: Objects = {}
    for part in parts:
        for kind, by_name in part.items():
            objects.setdefault(kind, {}).update(by_name)
    return objects


def cluster_facts(session: Session, objects: Objects) -> ClusterFacts:
    """What the objects of a cluster say; Trouble where an amount in them is not a quantity."""
    facts = ClusterFacts(objects, closed=session.project.checks.closed_world)
    if facts.malformed:
        raise Trouble("; ".join(f"{leaf.origin}: `{leaf.value}` is not a valid quantity" for leaf in facts.malformed))
    return facts


class _Scaled(NamedTuple):
    """A JobSet with its PodGroups, or why there is none of that size."""

    jobset: Tree
    groups: list[Tree]
    refusal: str = ""


class _Answers:
    """What one cluster answers about jobs, as the options want it: idle, now, or with all jobs together."""

    def __init__(self, session: Session, objects: Objects, nodes: int) -> None:
        self._session, self._nodes = session, nodes
        self.alone = Fit(cluster_facts(session, objects))
        self._is_together = session.options.has("together")
        is_idle = not session.options.has("now")
        self._fit = self.alone
        if self._is_together or not is_idle:
            self._fit = Fit(cluster_facts(session, objects), is_idle=is_idle, alone=self.alone)
        self._documents = load(session.project, session.selection, Report())
        self._headrooms: dict[str, int] = {}

    def answers(self, jobs: list[Bundle]) -> Iterator[tuple[Bundle, FitAnswer]]:
        """Each job with its answer; together they come by priority, then by name, and hold what they get.

        Of a cluster as it is now, jobs that are admitted come first.
        """
        order = list(jobs)
        if self._is_together:
            fit, self._fit = self._fit, self._fit.without_jobs(bundle.jobset for bundle in jobs)
            is_now = not fit.options.is_idle
            waiting = {id(bundle): is_now and not fit.holds_quota(bundle.jobset) for bundle in jobs}
            order.sort(key=lambda bundle: (waiting[id(bundle)], -fit.priority(bundle.jobset), _name(bundle)))
        for bundle in order:
            scaled = self._scaled(bundle, self._nodes)
            if scaled.refusal:
                yield bundle, FitAnswer(None, NEVER, scaled.refusal)
                continue
            answer = self._fit.answer(scaled.jobset, scaled.groups)
            answer = without_claims(answer, self.alone.facts, scaled.jobset)
            if self._session.options.has("headroom") and answer.status in GOOD:
                answer.headroom = self._headroom(bundle, scaled)
            yield bundle, answer
            if self._is_together:
                self._fit.reserve(answer, scaled.groups)

    def _headroom(self, bundle: Bundle, scaled: _Scaled) -> int:
        """How many more nodes the job could ask for; the same for jobs that differ in nothing that decides."""
        key = class_of(scaled.jobset)
        if self._is_together or key not in self._headrooms:
            nodes = self._nodes or value(bundle.document.tree, "spec", "trainer", "numNodes")
            limit = nodes if type(nodes) is int else trainer_pods(scaled.jobset)
            self._headrooms[key] = headroom(lambda count: self._fits(bundle, count), limit)
        return self._headrooms[key]

    def _fits(self, bundle: Bundle, nodes: int) -> bool:
        scaled = self._scaled(bundle, nodes)
        return not scaled.refusal and self._fit.answer(scaled.jobset, scaled.groups).status in GOOD

    def _scaled(self, bundle: Bundle, nodes: int) -> _Scaled:
        """The job with so many nodes, as it is with 0; only a TrainJob says what else changes, of others pods are counted."""
        if not nodes:
            return _Scaled(bundle.jobset, groups_of(bundle.around))
        document = bundle.document
        if document.kind != "TrainJob":
            return _Scaled(with_pods(bundle.jobset, nodes), [])
        tree = document.written
        spec = tree["spec"]
        written = get(spec, "trainer")
        trainer = {**(written if type(written) is dict else {}), "numNodes": Sourced(nodes, Origin(None, "what if"))}
        tree = {**tree, "spec": {**spec, "trainer": trainer}}
        resized = Document(document.file, tree, document.marks, document.start)
        project, report = self._session.project, Report(compiles=False)
        project = project.at(next(one for one in project.clusters if one.name == bundle.cluster))
        selection = self._session.selection
        for made in pipeline.instead([resized], document.file, self._documents, project, selection, report):
            if made.jobset is not None:
                return _Scaled(made.jobset, groups_of(made.around))
        message = report.findings[0].message if report.findings else "it does not compile"
        return _Scaled(None, [], f"with {nodes} nodes: {message}")


def _name(bundle: Bundle) -> str:
    return f"{bundle.document.namespace}/{bundle.document.name}"
