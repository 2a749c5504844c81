"""Documents -> Catalog: only what the API server and the webhooks would let in goes further."""

from collections.abc import Iterator

from trainc.apiserver.admission import admit_object
from trainc.apiserver.served import server_of
from trainc.apiserver.verdict import kind_of, named
from trainc.compiler.admit.binding import bound
from trainc.compiler.admit.context import AdmissionContext, ask_policies
from trainc.compiler.admit.named_objects import NamedObjects, is_local
from trainc.compiler.admit.patches import JobPatches, is_patch
from trainc.compiler.admit.runtime_index import AdmittedRuntimes, check_runtime
from trainc.compiler.patched import PATCH
from trainc.model.account import LEFT
from trainc.model.bundle import Bundle
from trainc.model.catalog import Catalog, Documents, Entry, RefusedEntry, RemovedSpans
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.internal_error import Seam
from trainc.model.report import Report
from trainc.model.settings import FILE, STDIN, Project, Selection
from trainc.model.sourced import Span

Counted = tuple[int, Document]  # which document of its file it is

GENERATED_NAME = Rule("generated-name", ERROR)
GROUPS = ("trainer.kubeflow.org", "jobset.x-k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh", "trainc.dev")
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime", "Runtime", "RuntimeComponent")
JOBS = ("TrainJob", "JobSet")
TRAINER_KINDS = ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime")
# Kinds of these groups that no job is made of: administrators keep them beside jobs.
# Objects of a group of ours that stand beside jobs.
BESIDE = frozenset(
    (
        ("scheduling.volcano.sh", "Queue"),
        ("scheduling.x-k8s.io", "ElasticQuota"),
        ("trainer.kubeflow.org", "OptimizationJob"),
    )
)
PLAIN = ("Job", "Pod")  # what Kubernetes itself runs
SEVERAL = ("LeaderWorkerSet",)  # kinds of which one object holds several jobs
UNMISTAKABLE = (*TRAINER_KINDS, "JobSet")  # ours even where the API is not named
_TRAINJOB = "trainer.kubeflow.org/v1alpha1/TrainJob"  # what most documents are
POLICY_GROUP = "admissionregistration.k8s.io/"
OLDER_GROUPS = ("kubeflow.org", "mlkube.io", "tensorflow.org")
_JOB, _OTHER = "job", "other"  # what a document of a file is to the run
_KUSTOMIZE = "kustomize.config.k8s.io"


def admit(documents: Documents, project: Project, selection: Selection, report: Report) -> Catalog:
    """The catalog of a run: entries to compile, each admitted when its turn comes, and runtimes when one is reached."""
    context = AdmissionContext(
        server_of(project.cluster, project.checks.field_validation, report), project, selection, report
    )
    if project.policies or project.cluster.policies:
        from trainc.apiserver.policy.judge import announce_policies  # noqa: PLC0415 (few projects have policies)

        announce_policies(project, report)
    objects = NamedObjects(documents, context)
    catalog = Catalog(lambda: _entries(documents, context, catalog), AdmittedRuntimes(documents, context), objects)
    return catalog


def _entries(documents: Documents, context: AdmissionContext, catalog: Catalog) -> Iterator[Entry]:
    patches = JobPatches(documents, context)
    for file, parts, counted in _counted(documents, context):
        context.report.end()  # what is said of a file's objects is not said of the job before
        context.report.file = file
        jobs: list[Counted] = []
        others: list[Document] = []
        for index, document in counted:
            with Seam(context.report, document, "the reading of this object"):
                part = _part(index, document, context, catalog, patches)
                if part == _JOB:
                    jobs.append((index, document))
                elif part == _OTHER:
                    others.append(document)
        if not jobs and file.rpartition("/")[2] != FILE:
            kinds = [part.kind or "object without a kind" for part in parts]
            context.report.account.others[file] = kinds or ["empty file"]
        own = [part for part in parts if is_patch(part)]  # found once: a file may hold thousands of jobs
        for _, job in jobs:
            patches.meet(job, own)
        here = [job for job in jobs if _is_here(*job, context)]
        with Seam(context.report, Span(file, 1, 1, 1, 1), "the look at what is beside the jobs"):
            _look_at(others, context, is_output=bool(here) or context.selection.include_other)
        with Seam(context.report, Span(file, 1, 1, 1, 1), "the admission of its objects"):
            yield from _admitted(here, parts, others, context, catalog, patches)
        if not jobs and context.selection.include_other:
            # Without what is there for a tool that reads it from the repository, as kustomize and kpt mark it.
            objects = [one for one in others if one.api_version and one.kind and not is_local(one.tree)]
            if objects := [one for one in objects if one.api_version.partition("/")[0] != _KUSTOMIZE]:
                catalog.passing.append(Bundle(objects[0], tuple(other.tree for other in objects), passing=True))
    with Seam(context.report, Span(FILE, 1, 1, 1, 1), "the look at patches without a job"):
        patches.close()


def _part(
    index: int, document: Document, context: AdmissionContext, catalog: Catalog, patches: JobPatches
) -> str | None:
    """Whether a document is a job or another object of its file; None for one that is judged here for good."""
    table = context.server.table
    full = kind_of(document.tree)
    if full == _TRAINJOB and table.root(full) is not None:
        return _JOB
    group, kind = full.partition("/")[0], full.rpartition("/")[2]
    if group in OLDER_GROUPS and _is_older(document):
        return _JOB
    if not document.api_version and kind in UNMISTAKABLE:
        _refuse(index, document, context)
        return None
    if group not in GROUPS and not (group in OLDER_GROUPS and kind in TRAINER_KINDS):
        from trainc.kinds.other_operators import is_input_kind  # noqa: PLC0415 (few files hold other kinds)

        if is_input_kind(document):
            return _JOB
        from trainc.kinds.unsupported import near_miss  # noqa: PLC0415 (most objects are jobs or known ones)

        if near_miss(document.api_version, document.kind) is None:
            return _OTHER
        _refuse(index, document, context)
        return None
    if table.root(full) is None:
        if (group, kind) in BESIDE:
            return _OTHER
        _refuse(index, document, context)
        return None
    if kind == PATCH:
        patches.judge(document)
        return None
    if kind in RUNTIMES:
        catalog.runtimes.admitted(document)
        return None
    return _JOB if kind in JOBS else _OTHER


def _counted(documents: Documents, context: AdmissionContext) -> Iterator[tuple[str, list[Document], list[Counted]]]:
    """Each file, or the next part of a long one, as it is read, and its jobs and objects with their place in it."""
    latest, start = "", 0
    for file, parts in documents.selected(context.project.cluster):
        each: list[Document] = parts
        if any(not document.kind or document.kind in SEVERAL for document in parts):
            from trainc.kinds.other_operators import holds_several  # noqa: PLC0415 (few files hold several jobs in one)

            each = [part for one in parts for part in (_split(one, context) if holds_several(one) else [one])]
        counted = list(enumerate(each, start if file == latest else documents.first(file)))
        latest, start = file, counted[-1][0] + 1 if counted else 0
        yield file, parts, counted


def _split(document: Document, context: AdmissionContext) -> list[Document]:
    """The jobs that a document holds."""
    from trainc.kinds.registry import split  # noqa: PLC0415 (few files hold several jobs in one)

    with Seam(context.report, document, "the split into its jobs"):
        return list(split(document))
    return []


def _is_here(index: int, job: Document, context: AdmissionContext) -> bool:
    """Whether a job is for the cluster that is compiled for just now."""
    _count(index, job, context)
    clusters: list[Cluster] = []
    with Seam(context.report, job, "the choice of its cluster"):
        clusters = bound(job, context.project, context.report)
    here = context.project.cluster in clusters
    if not here and clusters:
        context.report.account.end(LEFT)
    return here


def _count(index: int, document: Document, context: AdmissionContext) -> None:
    """Open the account of a job: findings are about it from now on."""
    context.report.end()
    context.report.account.open(document, index, context.project.cluster.name)


def _admitted(
    jobs: list[Counted],
    parts: list[Document],
    others: list[Document],
    context: AdmissionContext,
    catalog: Catalog,
    patches: JobPatches,
) -> Iterator[Entry]:
    objects = tuple([other for other in others if _stored(other, context)])
    owned = _owned(objects, jobs) if len(jobs) > 1 else {}
    companions = tuple([other for other in objects if not any(other in of_job for of_job in owned.values())])
    beside: tuple[Document, ...] = ()
    own = [part for part in parts if is_patch(part)]
    for index, written in jobs:
        companions += tuple(owned.get(index, ()))
        _count(index, written, context)
        with Seam(context.report, written, f"the admission of this {written.kind}"):
            patched = patches.applied(written, own)
            job = patched or written
            admitted = _admitted_job(job, context) if patched is not None else None
            if admitted is not None and not job.name:
                span = job.span(("metadata", "generateName"), key=True)
                message = f"the API server generates the name of this {job.kind}"
                effect = (
                    "host names, Service and hostfile contain the job's name, which is unknown before it is created"
                )
                context.report.add(GENERATED_NAME.at(span, message, effect=effect, help="write `metadata.name`"))
                if not context.project.checks.admission_only:
                    stand_in = admitted.admitted(named(admitted.tree))
                    entry = Entry(stand_in, companions, beside)
                    catalog.refused.append(RefusedEntry(entry, RemovedSpans([], job.tree), stand_in.name))
            elif admitted is not None:
                ask_policies(admitted, context)
                yield Entry(admitted, companions, beside)
            if admitted is None or not job.name:
                catalog.unread.append(job)
                is_refused = patched is not None and admitted is None and job.kind in JOBS
                if is_refused and not context.project.checks.admission_only:
                    entry = Entry(job, companions, beside)
                    from trainc.apiserver.rest import rest_of  # noqa: PLC0415 (most jobs are legal)

                    if (rest := rest_of(entry.document, context.server)) is not None:
                        catalog.refused.append(RefusedEntry(entry._replace(document=rest.document), rest.taken))
        # What stands beside several jobs goes out once, with the first.
        companions, beside = (), beside + companions


def _owned(objects: tuple[Document, ...], jobs: list[Counted]) -> dict[int, list[Document]]:
    """The Services that select the pods of one plain Job among several jobs of a file, by the place of the Job."""
    if not (places := {job.name: index for index, job in jobs if job.kind == PLAIN[0]}):
        return {}
    from trainc.kinds.other_operators import selected_job  # noqa: PLC0415 (few files hold Jobs that are training)

    owned: dict[int, list[Document]] = {}
    for other in objects:
        if (place := places.get(selected_job(other.tree))) is not None:
            owned.setdefault(place, []).append(other)
    return owned


def _is_older(document: Document) -> bool:
    from trainc.kinds.table import is_older  # noqa: PLC0415 (most runs meet none)

    return is_older(document.api_version, document.kind)


def _admitted_job(job: Document, context: AdmissionContext) -> Document | None:
    if job.kind in JOBS and context.server.table.root(kind_of(job.tree)) is not None:
        return _stored(job, context)
    from trainc.kinds.registry import page_of  # noqa: PLC0415 (most jobs are of Trainer and JobSet)

    return page_of(job).admit(job, context.server, context.project.cluster, context.report)


def _stored(document: Document, context: AdmissionContext) -> Document | None:
    """The document as the cluster's server stores it; of clusters whose servers are alike the first one judges it."""
    server, report = context.server, context.report
    if document.stored is not None and document.stored[0] == server.identity and not report.recording:
        return document.stored[1]
    remarks, stored = len(report.remarks), None
    with Seam(report, document, "the API server's judgement"):
        stored = admit_object(document, server, report)
    if stored is not None and len(report.remarks) == remarks:  # else the same is said of each cluster
        document.stored = server.identity, stored
    return stored


def _look_at(others: list[Document], context: AdmissionContext, *, is_output: bool) -> None:
    """Say which of the objects that are not a job of ours are somebody else's."""
    if others:
        context.report.end()  # what is said of them is said of no job
        from trainc.compiler.admit.unknown_kinds import not_compiled  # noqa: PLC0415 (most files hold nothing else)

        not_compiled(others, context, is_output=is_output)
        if any(other.api_version.startswith(POLICY_GROUP) for other in others):
            from trainc.apiserver.policy.definitions import name_strays  # noqa: PLC0415 (few files hold policies)

            name_strays(others, context.report)
        if not context.report.compiles and any(other.kind in PLAIN for other in others):
            # Findings for each Job and Pod that the API server refuses, in files that are named; the others are not ours.
            from trainc.apiserver.workloads import NODES, judge_workload  # noqa: PLC0415 (few files hold Jobs and Pods)

            for document in others:
                if kind_of(document.tree) in NODES and (
                    document.file in context.selection.paths or document.file == STDIN
                ):
                    judge_workload(document, context.server, context.project.cluster, context.report)


def _refuse(index: int, document: Document, context: AdmissionContext) -> None:
    """Count what was meant as one of our kinds, and say what is wrong with it; nothing is, with what configures `fn`."""
    from trainc.compiler.admit.function_config import is_function_config  # noqa: PLC0415 (most kinds are right)
    from trainc.compiler.admit.unknown_kinds import unknown_kind  # noqa: PLC0415

    if is_function_config(document.api_version, document.kind):
        return
    _count(index, document, context)
    unknown_kind(document, context)


__all__ = ["RUNTIMES", "admit", "admit_object", "check_runtime"]
