"""The whole compiler: a training job enters as text with positions and leaves as plain manifests."""

from collections.abc import Callable, Iterable, Iterator

from trainc.compiler.admit import RUNTIMES, admit
from trainc.compiler.load import load
from trainc.compiler.lower import lower
from trainc.compiler.resolve import resolve
from trainc.lint import check_text, verify
from trainc.lint.across_jobs import SharedNames, produced_too
from trainc.model.account import COMPILED
from trainc.model.bundle import Bundle
from trainc.model.catalog import Catalog, Documents, Objects
from trainc.model.document import Document
from trainc.model.file_results import CachedResults
from trainc.model.internal_error import Seam
from trainc.model.plan import Plan
from trainc.model.references import Reference, References, references_of, skip_unlisted
from trainc.model.report import Report
from trainc.model.settings import Project, Selection
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.compiler.emit.spool import Spool
    from trainc.compiler.emit.spool.questions import RenderedState

Catalogs = list[tuple[Project, Catalog]]

_CHECKS, _RENDERING = "the checks of the job", "the rendering of its objects"


def build(
    project: Project,
    selection: Selection,
    spool: "Spool",
    report: Report,
    known: CachedResults | None = None,
) -> None:
    """Compile everything selected into the spool, which writes all of it or, with one error, nothing.

    What is `known` of files is taken for compiled.

    Raises:
        CacheMissError: where something known may not hold any more; nothing is written then.
    """
    together = SharedNames(known)
    catalogs = fill(project, selection, spool, report, together)
    if known is not None:
        known.check(spool.outcomes, report, has_met_cached=together.has_met_cached)
        known.repeat(report)
        spool.know(known)
        report.account.known += known.sources
        report.reached_runtimes |= known.runtimes
    check_unreached(catalogs, report)
    finish(project, selection, spool, report, together)


def fill(
    project: Project,
    selection: Selection,
    spool: "Spool",
    report: Report,
    together: SharedNames,
    documents: Documents | None = None,
) -> Catalogs:
    """Compile all that is selected, or its `documents`, into the spool; nothing is written yet. Gives the catalogs."""
    catalogs: Catalogs = []
    for bundle in bundles(project, selection, report, catalogs, documents):
        with Seam(report, bundle.document, _RENDERING):
            together.add(bundle, report)
            remarks = len(report.remarks)
            _keep(bundle, spool, report)
            if spool.outcomes is not None:
                spool.outcomes.add(bundle, is_compared=len(report.remarks) > remarks)
    return catalogs


def finish(project: Project, selection: Selection, spool: "Spool", report: Report, together: SharedNames) -> None:
    """The end of a run, however many workers had a part in it: what its jobs name goes out once, behind them."""
    for bundle in referenced_objects(project, selection, spool.references, report, together):
        with Seam(report, bundle.document, _RENDERING):
            _keep(bundle, spool, report)
    if together.has_met_cached:
        from trainc.model.file_results import CacheMissError  # noqa: PLC0415 (most runs end)

        raise CacheMissError
    _close(project, report)
    if not report.failed:
        spool.inspect(report)
    spool.commit(unless=report.failed)
    if spool.outcomes is not None:
        spool.outcomes.names = together.names()


def _keep(bundle: Bundle, spool: "Spool", report: Report) -> None:
    if spool.counts:
        spool.count(bundle, report)
        return
    from trainc.compiler.emit import emit  # noqa: PLC0415 (a run that only checks writes nothing)

    for part in spool.parts(bundle):
        spool.add(emit(part, json=spool.json), part, report)


def check(project: Project, selection: Selection, report: Report, rendered: "RenderedState | None" = None) -> int:
    """Compile everything selected for its findings alone, each job beside its rendered file; the number of jobs."""
    together, references = SharedNames(), References()
    count = 0
    catalogs: Catalogs = []
    for count, bundle in enumerate(bundles(project, selection, report, catalogs), 1):  # noqa: B007 (the last counts)
        with Seam(report, bundle.document, "the comparison with its rendered file"):
            together.add(bundle, report)
            if not bundle.passing:
                references.add(bundle, bundle.objects)
            if rendered is not None and bundle.jobset is not None:
                rendered.judge(bundle, report)
    check_unreached(catalogs, report)
    for _ in referenced_objects(project, selection, references, report, together):
        pass
    _close(project, report)
    return count


def _close(project: Project, report: Report) -> None:
    """The last findings of a run: jobs whose files were emptied, and what silences nothing."""
    if report.account.blank:
        from trainc.compiler.emit.spool.sources import report_blank_sources  # noqa: PLC0415 (few files are empty)

        report_blank_sources(project, report)
    report.close()


def referenced_objects(
    project: Project, selection: Selection, references: References, report: Report, together: SharedNames
) -> Iterator[Bundle]:
    """A bundle for each object of the project that jobs name, but for those that go out with a job."""
    report.end()
    documents = load(project, selection, report)
    for cluster in project.clusters:
        present = project.at(cluster)
        named = sorted(key for key in references.files if key.cluster == cluster.name)
        wanted = [key for key in named if not together.has(key)]
        objects = admit(documents, present, selection, report).objects if named else None
        if objects is None:
            continue
        by_reference: dict[Reference, list[Document]] = {}
        if not objects.are_missing():
            if len(wanted) < len(named):
                _compare_produced(objects, [key for key in named if together.has(key)], references, report, together)
            by_reference = objects.find({key: references.folders(key) for key in wanted})
        if not (project.checks.admission_only or project.checks.closed_world):
            skip_unlisted([key for key in wanted if key not in by_reference], cluster, report)
        if not by_reference:
            continue
        from trainc.compiler.lower.tool_marks import object_bundle  # noqa: PLC0415 (one file of a job alone has none)

        unique = {id(document): document for chosen in by_reference.values() for document in chosen}
        made = [object_bundle(document, present) for document in unique.values()]
        for bundle in [bundle for bundle in made if not together.has_all(bundle)]:
            together.add(bundle, report)
            with Seam(report, bundle.document, _CHECKS):
                verify(bundle, present, report)
            _ask_policies(bundle, present, report)
            yield bundle


def _compare_produced(
    objects: Objects, taken: list[Reference], references: References, report: Report, together: SharedNames
) -> None:
    """Find objects of files without jobs that have the name of one that trainc makes for a job."""
    found = objects.find({key: references.folders(key) for key in taken})
    for reference, documents in found.items():
        producer = together.producer(reference) if reference in references.files else None
        if producer is None or not producer[0]:  # an object that is passed through is no job's
            continue
        file = producer[1].file
        for document in documents:
            is_near = document.file.rpartition("/")[0] == file.rpartition("/")[0]
            # One without a namespace is for that of its folder's jobs.
            is_same = document.namespace == reference.namespace or (is_near and not document.namespace)
            is_dump = value(document.written, "metadata", "uid") is not None  # of what was applied before
            if is_same and not is_dump and not objects.is_beside_job(file, reference):
                place = document.span(("metadata", "name"))
                report.add(produced_too(reference.kind, reference.name, place, producer))


def objects_named(jobs: Iterable[Bundle], project: Project, selection: Selection, report: Report) -> list[Bundle]:
    """A bundle for each object of the project that these jobs name, but for those that go out with one of them."""
    together, references = SharedNames(), References()
    for bundle in jobs:
        together.add(bundle, report)
        references.add(bundle, () if bundle.passing else bundle.objects)
    return list(referenced_objects(project, selection, references, report, together))


def bundles(
    project: Project,
    selection: Selection,
    report: Report,
    catalogs: Catalogs | None = None,
    documents: Documents | None = None,
) -> Iterator[Bundle]:
    """Every bundle of the selection that can be made, one at a time; findings go to the report.

    `catalogs` receives what each cluster's bundles are made from.
    """
    if documents is None:
        documents = load(project, selection, report)
    for cluster in project.clusters:
        if not selection.clusters or cluster.name in selection.clusters:
            there = project.at(cluster)
            catalog = admit(documents, there, selection, report)
            if catalogs is not None:
                catalogs.append((there, catalog))
            yield from _on(there, catalog, report)


def check_unreached(catalogs: Catalogs, report: Report) -> None:
    """Look at each selected runtime that no job reached as the smallest job gets it; a run that compiles does not."""
    if report.compiles or not any(catalog.runtimes.given for _, catalog in catalogs):
        return
    from trainc.compiler.resolve.alone import tell, unreached  # noqa: PLC0415 (a run that compiles asks for none)

    for project, catalog in catalogs:
        for plan in unreached(catalog, project, report):
            own_report = Report(admission_only=project.checks.admission_only, compiles=False)
            with Seam(report, plan.runtime or plan.document, "the look at a runtime that no job uses"):
                if not own_report.admission_only and (bundle := lower(plan, project, own_report)) is not None:
                    verify(bundle, project, own_report, catalog.objects)
                tell(own_report, plan, report)


def check_refused(project: Project, catalog: Catalog, report: Report) -> None:
    """Look at what can still be read of each job that is refused: one mistake hides no other."""
    for entry, taken, stand_in in catalog.refused:
        own_report = Report(compiles=False)
        alone = Catalog((entry,).__iter__, catalog.runtimes, catalog.objects)
        from trainc.apiserver.rest import tell_rest  # noqa: PLC0415 (most jobs are taken)

        with Seam(report, entry.document, "the look at the rest of a refused job"):
            for plan in resolve(alone, project, own_report):
                if (bundle := lower(plan, project, own_report)) is not None:
                    verify(bundle, project, own_report, catalog.objects)
            tell_rest(own_report, taken, report, stand_in)


def flattening(project: Project, selection: Selection, report: Report) -> Callable[[str, Report], Document | None]:
    """What gives the plain ClusterTrainingRuntime that a runtime amounts to by its name, or None, with findings."""
    from trainc.compiler.resolve.compose import flattened  # noqa: PLC0415 (few commands ask)

    catalog = admit(load(project, selection, report), project, selection, report)
    return lambda name, findings: flattened(name, catalog, project, findings)


def instead(
    parts: list[Document], file: str, documents: Documents, project: Project, selection: Selection, report: Report
) -> Iterator[Bundle]:
    """What the jobs among the parts become in the place of a file's own, on the cluster of just now.

    Runtimes are those of the documents, also where the parts have another form of one.
    """
    jobs = [part for part in parts if part.kind not in RUNTIMES]
    catalog = admit(documents._replace(selected=lambda _: iter([(file, jobs)])), project, selection, report)
    for plan in resolve(catalog, project, report):
        if plan.barred:
            continue
        report.account.advance()
        if (bundle := _lowered(plan, project, report)) is not None:
            yield bundle


def _on(project: Project, catalog: Catalog, report: Report) -> Iterator[Bundle]:
    """The bundles of one cluster."""
    for plan in resolve(catalog, project, report):
        if not plan.barred:
            report.account.advance()
        bundle = _lowered(plan, project, report)
        if plan.barred:
            report.account.current = None  # what is found in the rest of it decides nothing
        if bundle is None:
            continue
        with Seam(report, bundle.document, _CHECKS):
            verify(bundle, _with_objects(bundle, project, catalog), report, catalog.objects)
        _ask_policies(bundle, project, report)
        report.reach(plan.runtime)
        if not plan.barred:
            report.account.end(COMPILED)
            yield bundle
    report.end()
    if not project.checks.admission_only:
        for document in catalog.unread:
            with Seam(report, document, "the look at its text"):
                check_text(document, report)
        check_refused(project, catalog, report)
    for bundle in catalog.passing:
        _ask_policies(bundle, project, report)
        yield bundle


def _lowered(plan: Plan, project: Project, report: Report) -> Bundle | None:
    with Seam(report, plan.document, f"the compilation of this {plan.document.kind}"):
        return lower(plan, project, report)
    return None


def _ask_policies(bundle: Bundle, project: Project, report: Report) -> None:
    """What the admission policies of the cluster say of what a job becomes."""
    if project.policies or project.cluster.policies:
        from trainc.apiserver.policy.judge import judge_bundle  # noqa: PLC0415 (few projects have policies)

        with Seam(report, bundle.document, "the admission policies"):
            judge_bundle(bundle, project, report)


def _with_objects(bundle: Bundle, project: Project, catalog: Catalog) -> Project:
    """The project, with what a job names among its files where all that exists has been listed."""
    cluster = project.cluster.with_objects(bundle.around, closed=project.checks.closed_world)
    if not (cluster.objects or cluster.closed):
        return project
    missing = {
        one: (bundle.document.file.rpartition("/")[0],)
        for one in references_of(bundle, bundle.objects)
        if cluster.has(one.kind, one.name, one.namespace) is False
    }
    return project.with_objects([one.tree() for one in catalog.objects.find(missing)] if missing else [])
