"""Documents -> Catalog: only what the API server and the webhooks would let in goes further."""

from __future__ import annotations

from trainc.admit.binding import bound
from trainc.admit.desk import Desk
from trainc.admit.objects import admit_object
from trainc.admit.runtimes import check_runtime
from trainc.admit.server import server_of
from trainc.admit.shelves import Shelves
from trainc.model.account import LEFT
from trainc.model.bundle import Bundle
from trainc.model.catalog import Catalog, entry_of
from trainc.model.finding import ERROR, Refusal, Rule
from trainc.model.spelling import meant
from trainc.model.tree import value
from trainc.schema.verdict import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainc.model.catalog import Entry
    from trainc.model.document import Document
    from trainc.model.documents import Documents
    from trainc.model.finding import Finding
    from trainc.model.report import Report
    from trainc.model.settings import Project, Selection

    Counted = tuple[int, Document]  # which document of its file it is

UNKNOWN_KIND = Rule(
    "unknown-kind",
    ERROR,
    "a kind or version that none of these APIs has",
    "A cluster with Trainer v2.3 and JobSet serves no such kind; the object could not be created.",
    verdict=True,
)
GENERATED_NAME = Rule(
    "generated-name",
    ERROR,
    "a job whose name only the server will know",
    "Everything that is derived from the name has to be written down before the server makes one up.",
    admission=True,
)
GROUPS = ("trainer.kubeflow.org", "jobset.x-k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh", "trainc.dev")
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime", "Runtime", "RuntimeComponent")
JOBS = ("TrainJob", "JobSet")
TRAINER_KINDS = ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
# Kinds of these groups that no job is made of: administrators keep them beside jobs.
BESIDE = frozenset({("scheduling.volcano.sh", "Queue"), ("scheduling.x-k8s.io", "ElasticQuota")})
UNMISTAKABLE = (*TRAINER_KINDS, "JobSet")  # ours even where the API is not named
_TRAINJOB = "trainer.kubeflow.org/v1alpha1/TrainJob"  # what most documents are
LOCAL = "config.kubernetes.io/local-config"
OLDER_GROUPS = ("kubeflow.org", "mlkube.io", "tensorflow.org")


def admit(documents: Documents, project: Project, selection: Selection, report: Report) -> Catalog:
    """The catalog of a run: entries to compile, each admitted when its turn comes, and runtimes when one is reached."""
    desk = Desk(server_of(project.cluster, selection.field_validation, report), project, selection, report)
    shelves = Shelves(documents, desk)
    catalog = Catalog(lambda: _entries(documents, shelves, desk, catalog), shelves)
    return catalog


def _entries(documents: Documents, shelves: Shelves, desk: Desk, catalog: Catalog) -> Iterator[Entry]:
    for _, parts in documents.selected(desk.project.cluster):
        desk.report.end()  # what is said of a file's objects is not said of the job before
        jobs: list[Counted] = []
        others: list[Document] = []
        for index, document in enumerate(parts):
            full = kind_of(document.tree)
            if full == _TRAINJOB and desk.server.table.root(full) is not None:
                jobs.append((index, document))
                continue
            group, kind = full.partition("/")[0], full.rpartition("/")[2]
            if group in OLDER_GROUPS and _older(document):
                jobs.append((index, document))
            elif not document.api_version and kind in UNMISTAKABLE:
                _unknown_kind(index, document, desk)
            elif group not in GROUPS and not (group in OLDER_GROUPS and kind in TRAINER_KINDS):
                others.append(document)
            elif desk.server.table.root(full) is None:
                if (group, kind) in BESIDE:
                    others.append(document)
                else:
                    _unknown_kind(index, document, desk)
            elif kind in RUNTIMES:
                stored = shelves.admitted(document)
                catalog.blueprints += [stored] if stored is not None else []
            elif kind in JOBS:
                jobs.append((index, document))
            else:
                others.append(document)
        yield from _admitted([job for job in jobs if _is_here(*job, desk)], others, desk)
        if not jobs and desk.selection.include_other:
            _pass_on(others, catalog.passing)


def _is_here(index: int, job: Document, desk: Desk) -> bool:
    """Whether a job is for the cluster that is compiled for just now."""
    _count(index, job, desk)
    found = bound(job, desk.project, desk.report)
    here = desk.project.cluster in found
    if not here and found:
        desk.report.account.end(LEFT)
    return here


def _count(index: int, document: Document, desk: Desk) -> None:
    """Open the account of a job: findings are about it from now on."""
    desk.report.end()
    desk.report.account.open(document, index, desk.project.cluster.name)


def _pass_on(others: list[Document], passing: list[Bundle]) -> None:
    """Keep what is an object for a cluster."""
    objects = [other for other in others if other.api_version and other.kind and not _is_local(other)]
    if objects:
        passing.append(Bundle(objects[0], tuple(other.tree for other in objects)))


def _is_local(document: Document) -> bool:
    """Whether a document is there for a tool that reads it from the repository, as kustomize and kpt mark it."""
    group = document.api_version.partition("/")[0]
    return group == "kustomize.config.k8s.io" or value(document.tree, "metadata", "annotations", LOCAL) == "true"


def _admitted(jobs: list[Counted], others: list[Document], desk: Desk) -> Iterator[Entry]:
    desk.report.end()
    companions = tuple([other for other in others if admit_object(other, desk.server, desk.report)])
    beside: tuple[Document, ...] = ()
    for index, job in jobs:
        _count(index, job, desk)
        admitted = _admitted_job(job, desk)
        if admitted is not None and not job.name:
            desk.report.add(_generated(job))
        elif admitted is not None:
            yield entry_of(admitted, companions, beside)
        # What stands beside several jobs goes out once, with the first.
        companions, beside = (), beside or companions


def _older(document: Document) -> bool:
    """Whether a document is one of the job kinds before TrainJob, or one that nobody reads any more."""
    from trainc.model.older import foreign, kind_of  # noqa: PLC0415 (most runs meet none)

    known = kind_of(document.api_version, document.kind) is not None
    return known or foreign(document.api_version, document.kind)


def _admitted_job(job: Document, desk: Desk) -> Document | None:
    if job.kind in JOBS:
        return admit_object(job, desk.server, desk.report)
    from trainc.admit.older import admit_older  # noqa: PLC0415 (most runs meet none)

    return admit_older(job, desk.server, desk.report)


def _generated(document: Document) -> Finding:
    return GENERATED_NAME.at(
        document.span(("metadata", "generateName"), key=True),
        f"this {document.kind} leaves its name to the server",
        effect="host names, Service and hostfile hold the job's name, which is not known before it is created",
        help="write `metadata.name`",
    )


def _unknown_kind(index: int, document: Document, desk: Desk) -> None:
    _count(index, document, desk)
    group = document.api_version.partition("/")[0]
    served = [kind.rsplit("/", 1) for kind in desk.server.table.served()]
    versions = [version for version, kind in served if kind == document.kind]
    names = [kind for version, kind in served if version.partition("/")[0] == group]
    if versions:
        hint = f"write `apiVersion: {versions[0]}`"
    elif document.kind:
        hint = meant(document.kind, names, f"kinds of this API: {', '.join(names)}")
    else:
        hint = f"write `kind: {names[0]}`" if len(names) == 1 else f"write `kind:` and one of {', '.join(names)}"
    if group == "trainc.dev" and document.kind == "Project":
        said, hint = "a Project is read from a file called trainc.yaml alone", "rename this file"
    elif not document.api_version:
        said = f"this {document.kind} has no `apiVersion`"
    elif not document.kind:
        said = f"this object of `{document.api_version}` has no `kind`"
    else:
        said = f"there is no kind `{document.kind}` in `{document.api_version}`"
    desk.report.looking_at(document)
    refusal = Refusal("decode", f'no matches for kind "{document.kind}" in version "{document.api_version}"')
    desk.report.add(UNKNOWN_KIND.at(document.span(("kind",)), said, help=hint, refusal=refusal))


__all__ = ["RUNTIMES", "admit", "admit_object", "check_runtime"]
