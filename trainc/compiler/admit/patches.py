"""TrainJobPatches: found beside their job, judged, and merged over it for the clusters that they name."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from trainc.apiserver.admission import admit_object
from trainc.compiler.admit.binding import ANNOTATION, UNKNOWN_CLUSTER, bound
from trainc.compiler.admit.context import AdmissionContext
from trainc.compiler.patched import KEYS, PATCH, Patched, unknown_word
from trainc.model.catalog import Documents
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Finding, Label, Rule
from trainc.model.report import Report
from trainc.model.settings import STDIN
from trainc.model.tree import UnknownDirectiveError, merge, plain, value
from trainc.text.object_keys import TRAINC_PREFIX
from trainc.text.spelling import meant

Key = tuple[str, str, str]  # the folder, the namespace and the name of a job
Index = dict[Key, list[Document]]

PATCH_WITHOUT_JOB = Rule("patch-without-job", ERROR, admission=True)
PATCH_WITHOUT_EFFECT = Rule("patch-without-effect", WARNING, admission=True)
TWO_PATCHES = Rule("two-patches", ERROR, admission=True)
_OWN = ("name", "namespace")  # of the metadata of a patch: they say which job is meant


def is_patch(document: Document) -> bool:
    """Whether a document is a TrainJobPatch."""
    return document.kind == PATCH and document.api_version.startswith(TRAINC_PREFIX)


class JobPatches:
    """The patches of one run for one cluster, found among the files given and beside a file that was given alone."""

    def __init__(self, documents: Documents, context: AdmissionContext) -> None:
        self._documents = documents
        self._context = context
        self._beside: dict[str, Index] = {}  # by folder
        self._jobs: dict[Key, Document] = {}
        self._alone: list[Document] = []  # patches of the files given, whose job has not been met

    def judge(self, patch: Document) -> None:
        """Findings for a patch that stands in a file of the run, whatever becomes of its job."""
        self._context.report.end()
        admit_object(patch, self._context.server, self._context.report)
        _clusters(patch, self._context)
        self._alone.append(patch)

    def meet(self, job: Document, own: Sequence[Document]) -> None:
        """Note a job of the run that a patch names, on whichever cluster it runs; `own` are the patches in its file."""
        if job.kind == "TrainJob" and (_key(job) in self._given or own):
            self._jobs[_key(job)] = job

    def applied(self, job: Document, own: Sequence[Document]) -> Document | None:
        """A job with its patch for the present cluster merged in, None with findings; `own` are the patches in its file."""
        if job.kind != "TrainJob" or isinstance(job, Patched):
            return job
        # All patches of the job, in the order of the files.
        same = [patch for patch in own if _key(patch) == _key(job)]
        others = [one for one in (*self._given.get(_key(job), ()), *self._near(job)) if one.file != job.file]
        every = sorted([*same, *others], key=lambda patch: (patch.file, patch.start))
        for patch in every:
            named = Report()
            _clusters(patch, self._context._replace(report=named))
            self._context.report.add_all(named.findings)
            if named.failed:
                return None  # it may have been meant for this one
        cluster = self._context.project.cluster.name
        patches = [one for one in every if any(cluster == there.name for there in _clusters(one, self._context))]
        if not patches:
            return job
        if len(patches) > 1:
            first, second = patches[:2]
            path = ("metadata", "annotations", ANNOTATION)
            message = f"`{second.name}` has a second patch for `{cluster}`"
            also, hint = [Label(first.span(path), "the first one")], "merge them into one patch"
            self._context.report.add(TWO_PATCHES.at(second.span(path), message, also=also, help=hint))
            return None
        patch = patches[0]
        if admit_object(patch, self._context.server, self._context.report) is None:
            return None
        metadata = {key: node for key, node in patch.tree["metadata"].items() if key not in _OWN}
        if type(annotations := metadata.get("annotations")) is dict:
            metadata["annotations"] = {key: node for key, node in annotations.items() if key != ANNOTATION}
            if not metadata["annotations"]:
                del metadata["annotations"]
        overlay = {"metadata": metadata, **{key: patch.tree[key] for key in ("spec",) if key in patch.tree}}
        try:
            tree = merge(job.tree, overlay, KEYS)
        except UnknownDirectiveError as error:
            self._context.report.add(unknown_word(error, patch.span()))
            return None
        if plain(tree) == plain(job.tree):
            self._context.report.add(_idle(patch, f"the job already has these values for `{cluster}`"))
        legal = admit_object(job, self._context.server, Report())
        return Patched(job, patch, tree).of(cluster, legal)

    def close(self) -> None:
        """Findings for the patches whose job is in no file beside them, or does not run on one of their clusters."""
        context = self._context
        context.report.end()
        for patch in [patch for patch in self._alone if patch.name]:
            job = self._jobs.get(_key(patch))
            if job is None:
                beside = self._documents.neighbours(patch.file, patch.name).documents
                job = next((one for one in beside if one.kind == "TrainJob" and _key(one) == _key(patch)), None)
            if job is None:
                context.report.add(_without_job(patch, self._documents.neighbours(patch.file, "Job").documents))
                continue
            running = bound(job, context.project, Report())
            for cluster in _clusters(patch, context) if running else ():
                if all(cluster is not one for one in running):
                    context.report.add(_idle(patch, f"`{cluster.name}` does not run the job"))

    @cached_property
    def _given(self) -> Index:
        """The patches in the files given."""
        return _index(self._documents.runtimes())

    def _near(self, job: Document) -> list[Document]:
        """The patches in other files of the folder, where a job's file was given alone."""
        if not self._documents.beside(job.file).label:
            return []
        folder = _folder(job.file)
        if folder not in self._beside:
            near = self._documents.neighbours(job.file, PATCH)
            given = {one.file for one in self._documents.runtimes()}
            self._beside[folder] = _index(one for one in near.documents if one.file not in given)
            for finding in near.faults.findings:
                # What cannot be read might be a patch of this very job.
                self._context.report.add(finding)
        return self._beside[folder].get(_key(job), [])


def _folder(file: str) -> str:
    return file if file == STDIN else file.rpartition("/")[0]


def _key(document: Document) -> Key:
    return _folder(document.file), document.namespace, document.name


def _index(documents: Iterable[Document]) -> Index:
    index: Index = {}
    for document in documents:
        if is_patch(document) and document not in (known := index.setdefault(_key(document), [])):
            known.append(document)
    return index


def _clusters(patch: Document, context: AdmissionContext) -> list[Cluster]:
    """The clusters that a patch names; a finding for each name that no cluster has."""
    text = value(patch.tree, "metadata", "annotations", ANNOTATION)
    chosen = context.project.by_annotation[str(text or "")]
    known = [cluster.name for cluster in context.project.clusters if cluster.name]
    listed = f"clusters of this project: {', '.join(known) or 'none'}"
    span = patch.span(("metadata", "annotations", ANNOTATION))
    for name in chosen.unknown:
        context.report.add(UNKNOWN_CLUSTER.at(span, f"unknown cluster `{name}`", help=meant(name, known, listed)))
    if not (chosen.clusters or chosen.unknown):
        message = f"the patch of `{patch.name}` does not name a cluster"
        hint = f"annotate it with `{ANNOTATION}: NAME`; {listed}"
        at = patch.span(("metadata", "name"))
        context.report.add(UNKNOWN_CLUSTER.at(at, message, effect="it has no effect", help=hint))
    return chosen.clusters


def _idle(patch: Document, why: str) -> Finding:
    return PATCH_WITHOUT_EFFECT.at(
        patch.span(("metadata", "name")), f"the patch of `{patch.name}` changes nothing: {why}", help="remove the patch"
    )


def _without_job(patch: Document, beside: Iterable[Document]) -> Finding:
    others = [one for one in beside if not is_patch(one)]
    same = [one for one in others if one.name == patch.name]
    jobs = [one for one in same if one.kind == "TrainJob"]
    namespace = f" in namespace `{patch.namespace}`" if patch.namespace else " without a namespace"
    if jobs:
        there = jobs[0].namespace
        hint = f"add `namespace: {there}` to the patch" if there else "remove the namespace from the patch"
    elif same:
        hint = f"the {same[0].kind} of that name does not support patches: write it once for each cluster"
    else:
        rest = "put the patch in the file of its TrainJob, or next to it, with the same name and namespace"
        hint = meant(patch.name, [one.name for one in others if one.kind == "TrainJob"], rest)
    return PATCH_WITHOUT_JOB.at(
        patch.span(("metadata", "name")),
        f"no TrainJob `{patch.name}`{namespace} in this folder",
        effect="the patch changes nothing",
        help=hint,
    )
