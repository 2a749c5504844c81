"""All that the page shows of one project, as plain data: the same input gives the same data, with names of files alone."""

from __future__ import annotations

from trainc.report.page.fields import Fields
from trainc.report.page.findings import findings_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from trainc.model.account import Account
    from trainc.model.bundle import Bundle
    from trainc.model.report import Report
    from trainc.model.settings import Project
    from trainc.report.page.inheritance import Inheritance
    from trainc.report.page.texts import SourceLines

    Job = tuple[Bundle, dict[str, Any]]  # and its row of the listing


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
    fields = Fields(lines)
    ordered = sorted(jobs, key=lambda job: _order(job[1]))
    objects = [fields.objects(bundle) for bundle, _ in ordered]
    rows = [_row(bundle, row, runtimes) for bundle, row in ordered]
    findings, more = findings_data(report, lines)
    without = sum(each is None for each in objects)
    left = [
        f"{words[0]} {count} {noun}{'s' * (count > 1)}; {words[1]}"
        for count, noun, words in (
            (without, "job", ("the manifest fields of", "a page of a folder has them")),
            (more, "finding", ("the details of", "`trainc validate` prints them")),
        )
        if count
    ]
    index = {
        "name": project.name,
        "clusters": [_cluster(cluster) for cluster in project.clusters],
        "jobs": rows,
        "refused": [entry for cluster in project.clusters for entry in _refused(report.account, cluster.name)],
        "runtimes": {"nodes": runtimes.nodes, "edges": runtimes.edges},
        "findings": findings,
        "unknown": report.unknown,
        "capacity": capacity,
        "left": left,
    }
    return index, {"objects": objects, "tables": fields.tables(), "lines": lines.shown()}


def _order(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["cluster"] or "", row["namespace"] or "", row["name"], row["file"])


def _row(bundle: Bundle, row: dict[str, Any], runtimes: Inheritance) -> dict[str, Any]:
    document, plan = bundle.document, bundle.plan
    span = document.span(("metadata", "name"))
    return {
        **row,
        "kind": document.kind,
        "line": span.line,
        "start": document.start,
        "runtime": runtimes.count(bundle),
        "framework": plan.framework if plan is not None else "",
    }


def _cluster(cluster: Any) -> dict[str, Any]:
    scheduler = cluster.scheduler.value if cluster.scheduler is not None else ""
    return {
        "name": cluster.name,
        "folder": cluster.folder,
        "scheduler": scheduler,
        "kubernetes": str(cluster.kubernetes),
    }


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
