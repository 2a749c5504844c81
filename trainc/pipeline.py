"""The whole compiler: a training job enters as text with positions and leaves as plain manifests."""

from __future__ import annotations

from trainc.admit import admit
from trainc.load import load
from trainc.lower import lower
from trainc.model.account import COMPILED
from trainc.model.report import Report
from trainc.resolve import resolve
from trainc.verify import verify
from trainc.verify.together import Together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.emit.spool import Spool
    from trainc.model.bundle import Bundle
    from trainc.model.catalog import Catalog
    from trainc.model.document import Document
    from trainc.model.settings import Project, Selection

    Catalogs = list[tuple[Project, Catalog]]


def build(project: Project, selection: Selection, spool: Spool, report: Report) -> None:
    """Compile everything selected into the spool, which writes all of it or, with one error, nothing."""
    catalogs = fill(project, selection, spool, report, Together())
    check_unreached(catalogs, selection, report)
    finish(spool, report)


def fill(project: Project, selection: Selection, spool: Spool, report: Report, together: Together) -> Catalogs:
    """Compile everything selected into the spool; nothing is written yet. Gives the catalogs that it compiled from."""
    from trainc.emit import emit  # noqa: PLC0415 (a run that only checks writes nothing)

    catalogs: Catalogs = []
    for bundle in bundles(project, selection, report, catalogs):
        together.add(bundle, report)
        if spool.counts:
            spool.jobs += 1
        else:
            spool.add(emit(bundle, json=spool.json), bundle, report)
    return catalogs


def finish(spool: Spool, report: Report) -> None:
    """The end of a run, however many workers had a part in it."""
    report.close()
    if not report.failed:
        spool.inspect(report)
    spool.commit(unless=report.failed)


def check(project: Project, selection: Selection, report: Report) -> int:
    """Compile everything selected for its findings alone; the number of bundles."""
    together = Together()
    count = 0
    catalogs: Catalogs = []
    for count, bundle in enumerate(bundles(project, selection, report, catalogs), 1):  # noqa: B007 (the last counts)
        together.add(bundle, report)
    check_unreached(catalogs, selection, report)
    report.close()
    return count


def bundles(
    project: Project, selection: Selection, report: Report, catalogs: Catalogs | None = None
) -> Iterator[Bundle]:
    """Every bundle of the selection that can be made, one at a time; findings go to the report.

    `catalogs` receives what each cluster's bundles are made from.
    """
    documents = load(project, selection, report)
    for cluster in project.clusters:
        if not selection.clusters or cluster.name in selection.clusters:
            there = project.at(cluster)
            catalog = admit(documents, there, selection, report)
            if catalogs is not None:
                catalogs.append((there, catalog))
            yield from _on(there, catalog, selection, report)


def check_unreached(catalogs: Catalogs, selection: Selection, report: Report) -> None:
    """Look at each selected runtime that no job reached as the smallest job gets it; a run that compiles does not."""
    if report.compiles:
        return
    from trainc.resolve.alone import tell, unreached  # noqa: PLC0415 (a run that compiles asks for none)

    for project, catalog in catalogs:
        for plan in unreached(catalog, project, report):
            heard = Report(admission_only=selection.admission_only, compiles=False)
            bundle = None if selection.admission_only else lower(plan, project, selection, heard)
            if bundle is not None:
                verify(bundle, project, selection, heard)
            tell(heard, plan, report)


def flattened(name: str, project: Project, selection: Selection, report: Report) -> Document | None:
    """The plain ClusterTrainingRuntime that a runtime amounts to; None where there is none, or with findings."""
    from trainc.resolve.compose import flattened as flatten  # noqa: PLC0415 (one command alone asks)

    documents = load(project, selection, report)
    return flatten(name, admit(documents, project, selection, report), project, report)


def _on(project: Project, catalog: Catalog, selection: Selection, report: Report) -> Iterator[Bundle]:
    """The bundles of one cluster."""
    for plan in resolve(catalog, project, report):
        report.account.advance()
        bundle = lower(plan, project, selection, report)
        if bundle is None:
            continue
        verify(bundle, project, selection, report)
        report.reach(plan.runtime)
        report.account.end(COMPILED)
        yield bundle
    report.end()
    yield from catalog.passing
