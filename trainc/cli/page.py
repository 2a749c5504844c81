"""`trainc show --report html`: all projects under the paths given, on one page."""

import os
from typing import Any

from trainc.changes.compare.rendering_state import RenderingStates
from trainc.cli.fit import claims_named, cluster_facts, joined, objects_beside
from trainc.cli.job_rows import has_output, inheritance, job_row
from trainc.cli.options import PROJECT, Options
from trainc.cli.output import data, tell
from trainc.cli.projects import across_projects
from trainc.cli.session import Session
from trainc.cluster.capacity.answers import answer_data
from trainc.cluster.capacity.fit import Fit, FitAnswer, without_claims
from trainc.cluster.capacity.groups import groups_of
from trainc.compiler import pipeline
from trainc.compiler.emit.spool import Tally
from trainc.compiler.emit.spool.disk import replace
from trainc.model.account import REFUSED
from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.report.fit import placing
from trainc.report.page.data import page_html, project_data
from trainc.report.page.inheritance import capacity_data
from trainc.report.page.texts import SourceLines
from trainc.text.trouble import Inapplicable, Trouble

Row = dict[str, Any]


def show_page(options: Options) -> int:
    """Write the page; 1 where it lists a job that is not compiled."""
    if not (target := options.one("output", "-")):
        raise Trouble("--output takes the name of a file, or - for standard output")
    parts: list[tuple[dict[str, Any], dict[str, Any]]] = []
    code = across_projects(options, lambda one: _collect(one, parts))
    title = (parts[0][0]["name"] if len(parts) == 1 else "") or "training jobs"
    text = page_html(f"{title} - trainc", [index for index, _ in parts], [details for _, details in parts])
    if target == "-":
        for part in text:
            data(part)
    else:
        replace(target, "".join(text).encode())
    return code


class _Bundles(Tally):
    """Keeps every bundle of a run, which is judged as `trainc validate` judges it."""

    def __init__(self) -> None:
        super().__init__()
        self.bundles: list[Bundle] = []

    def count(self, bundle: Bundle, report: Report) -> None:
        super().count(bundle, report)
        self.bundles.append(bundle)


def _collect(options: Options, parts: list[tuple[dict[str, Any], dict[str, Any]]]) -> int:
    session = Session(options, compiles=False)
    project, report = session.project, session.report
    spool = _Bundles()
    session.applied_twice(os.path.join(project.root, project.output))
    pipeline.build(project, session.selection, spool, report)
    states = RenderingStates(project, session.selection) if has_output(project) else None
    jobs = [(bundle, row) for bundle in spool.bundles if (row := job_row(bundle, states, str)) is not None]
    if not jobs and not report.findings:
        raise Inapplicable("nothing to show: no job under the paths given")
    capacity = _capacity(session, jobs, spool.bundles)
    runtimes = inheritance(project, session.selection.paths, spool.bundles)
    index, details = project_data(project, jobs, runtimes, report, SourceLines(session.lines), capacity)
    index["folder"] = options.one(PROJECT)
    parts.append((index, details))
    refused = report.account.totals()[REFUSED]
    if refused:
        tell(f"trainc: {refused} job{'s are' if refused > 1 else ' is'} not compiled; the page shows why")
    return int(refused > 0)


def _capacity(session: Session, jobs: list[tuple[Bundle, Row]], bundles: list[Bundle]) -> dict[str, Any]:
    """What is known of each cluster; each job's row gets the answer of its cluster."""
    beside, claims = objects_beside(bundles), claims_named(session, bundles)
    out = {}
    for cluster in session.project.clusters:
        if session.selection.clusters and cluster.name not in session.selection.clusters:
            continue
        own = [(bundle, row) for bundle, row in jobs if bundle.cluster == cluster.name]
        try:
            content = _of_cluster(session, cluster, own, joined(beside, claims.get(cluster.name, {})))
        except Trouble as trouble:
            content = {"trouble": str(trouble)}
        if content is not None:
            out[cluster.name] = content
    return out


def _of_cluster(session: Session, cluster: Cluster, jobs: list[tuple[Bundle, Row]], beside: Any) -> Row | None:
    fit = Fit(cluster_facts(session, joined(cluster.objects, beside)))
    answers: list[FitAnswer] = []
    for bundle, row in jobs:
        answer = without_claims(fit.answer(bundle.jobset, groups_of(bundle.around)), fit.facts, bundle.jobset)
        answers.append(answer)
        where = placing({**answer_data(answer), "status": answer.status})
        row["fit"] = {"status": answer.status, "reason": answer.reason, "change": answer.change, "where": where}
    devices = sorted({name for _, row in jobs for name in row["accelerators"]})
    known = capacity_data(fit.facts, answers, devices)
    if known is None:
        for _, row in jobs:
            row.pop("fit", None)
    return known
