"""Where runtimes and components are found, and which of them are legal: among the files given, in folders, in the catalogue."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from trainc.apiserver.admission import admit_object
from trainc.apiserver.component_uses import uses
from trainc.apiserver.fault import compact
from trainc.apiserver.schema.node import load
from trainc.apiserver.verdict import kind_of
from trainc.compiler.admit.context import AdmissionContext, ask_policies
from trainc.model.catalog import CLUSTER, FOLDER, GIVEN, SHIPPED, Documents, Key, RuntimeFolder, RuntimeLookup
from trainc.model.document import Document
from trainc.model.finding import ERROR, WARNING, Finding, Label, Refusal, Rule
from trainc.model.plan import ANCESTOR_LABEL
from trainc.model.report import Report
from trainc.model.tree import Path, Tree, get, value
from trainc.text.object_keys import TRAINC_PREFIX

Index = Mapping[Key, Document]

COMPONENTS = "components"  # the folder of the catalogue that holds them
DUPLICATE_RUNTIME = Rule("duplicate-runtime", ERROR, admission=True)
KINDS = {
    "TrainingRuntime": "trainer.kubeflow.org/",
    "ClusterTrainingRuntime": "trainer.kubeflow.org/",
    "Runtime": TRAINC_PREFIX,
    "RuntimeComponent": TRAINC_PREFIX,
}
BLUEPRINTS = ("Runtime", "ClusterTrainingRuntime", "TrainingRuntime")
OWN_KINDS = ("Runtime", "RuntimeComponent")
STEP_REPLICAS = Rule("step-replicas", ERROR, verdict=True)
STEP_CONTAINER = Rule("step-container", ERROR, verdict=True)
DEPRECATED = Rule("deprecated-runtime-definition", WARNING, admission=True)
_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_URL = "https://trainer.kubeflow.org/en/latest/operator-guides/runtime.html#runtime-deprecation-policy"


class AdmittedRuntimes:
    """Finds runtimes and components by name, and admits each once, when somebody first reaches it."""

    def __init__(self, documents: Documents, context: AdmissionContext) -> None:
        self._documents = documents
        self._context = context
        self._by_folder: dict[str, Index] = {}
        self._verdicts: dict[int, tuple[Document, Document]] = {}
        self._refused: dict[int, RefusalFindings] = {}
        self._catalogue: dict[str, Index] = {}
        self._met: dict[tuple[Key, str], RuntimeLookup] = {}  # by key and folder of the file that names it
        self._by_name: dict[int, tuple[Index, Mapping[str, Sequence[Key]]]] = {}
        self._cluster: Index = index(context.project.cluster.runtimes, context.report)

    def find(self, key: Key, file: str) -> RuntimeLookup | None:
        """The runtime that a job in `file` would get, None where there is none; a Runtime may answer for either kind."""
        spot = (key, file.rpartition("/")[0])
        if spot in self._met:
            return self._met[spot]
        keys = (key, ("Runtime", "", key[2]))
        runtime = self._first(file, "", key[2], lambda index: [index[one] for one in keys if one in index])
        if runtime is not None and runtime.document is not None and runtime.source in (GIVEN, FOLDER):
            self._met[spot] = runtime
        return runtime

    def parent(self, name: str, namespace: str, file: str) -> RuntimeLookup | None:
        """The runtime that one in `file` extends; `namespace` narrows the search for a TrainingRuntime."""

        def fits(objects: Index) -> list[Document]:
            keys = self._blueprints(objects).get(name, ())
            return [objects[one] for one in keys if one[0] != "TrainingRuntime" or namespace in ("", one[1])]

        return self._first(file, "", name, fits)

    def _blueprints(self, objects: Index) -> Mapping[str, Sequence[Key]]:
        """What of an index can be extended, by name: each of many runtimes asks for its parent."""
        if id(objects) not in self._by_name:
            by_name: dict[str, list[Key]] = {}
            for key in objects:
                if key[0] in BLUEPRINTS:
                    by_name.setdefault(key[2], []).append(key)
            # The index itself is kept as well: its identity must not be given to another one.
            self._by_name[id(objects)] = (objects, by_name)
        return self._by_name[id(objects)][1]

    def component(self, name: str, file: str) -> RuntimeLookup | None:
        key = ("RuntimeComponent", "", name)
        return self._first(file, COMPONENTS, name, lambda objects: [objects[key]] if key in objects else [])

    def has_component(self, name: str, file: str) -> bool:
        """Whether there is a component of that name, seen from `file` or in the catalogue; nobody looks into it."""
        key = ("RuntimeComponent", "", name)
        if key in self.given or name in self._shipped_components:
            return True
        return any(key in self._indexed(folder) for folder in self._near(file)) or key in self._cluster

    @cached_property
    def _shipped_components(self) -> list[str]:
        return self._documents.shipped_names(COMPONENTS)

    def _near(self, file: str) -> tuple[RuntimeFolder, RuntimeFolder]:
        """What stands beside a file, and the runtimes folder that serves it."""
        return self._documents.beside(file), self._documents.runtime_folder(file)

    def _first(
        self, file: str, folder: str, name: str, fits: Callable[[Index], list[Document]]
    ) -> RuntimeLookup | None:
        for source, objects in self._sources(file, folder, name):
            hits = fits(objects)
            if len(hits) > 1:
                self._context.report.add(ambiguous(hits))
                return RuntimeLookup(None, source)
            if hits:
                for hidden in self._hidden(hits[0], file, fits) if source in (GIVEN, FOLDER) else ():
                    # The same finding as where both are given.
                    both = sorted((hits[0], hidden), key=lambda one: (one.file.split("/"), one.start))
                    is_twice = hits[0].kind == hidden.kind
                    self._context.report.add(_twice(*both) if is_twice else ambiguous(both))
                return RuntimeLookup(self.admitted(hits[0]), source)
        return None

    def _hidden(self, hit: Document, file: str, fits: Callable[[Index], list[Document]]) -> Iterator[Document]:
        """Those of the project's folder of runtimes, and beside a job, whose place another one would take."""
        folders = self._context.project.runtimes
        names = [self._documents.nearest(file)] if folders is None else folders
        # A file that holds the runtime itself is complete: its neighbor may be a variant of it.
        near = [] if hit.file == file else [self._documents.beside(file)]
        if not any(name and hit.file.startswith(f"{name}/") for name in names):
            near.append(self._documents.runtime_folder(file))
        for folder in near:
            for other in fits(self._indexed(folder)):
                if (other.file, other.start) != (hit.file, hit.start):
                    yield other

    def _sources(self, file: str, folder: str, name: str) -> Iterator[tuple[str, Index]]:
        yield GIVEN, self.given
        for near in self._near(file):
            yield FOLDER, self._indexed(near)
        yield CLUSTER, self._cluster
        for near in self._near(file):  # what cannot be read might have been what is missing
            self._context.report.add_all(near.faults.findings)
        if not self._context.project.checks.closed_world:
            key = f"{folder}/{name}"
            if key not in self._catalogue:
                self._catalogue[key] = index(self._documents.shipped(folder, name), self._context.report)
            yield SHIPPED, self._catalogue[key]

    @cached_property
    def given(self) -> Index:
        return index(self._documents.runtimes(), self._context.report)

    def admitted(self, document: Document) -> Document | None:
        if (known := self._verdicts.get(id(document))) is not None:
            return known[1]
        report = self._context.report
        if (refused := self._refused.get(id(document))) is not None:
            refused.meet(report)
            return None
        before = report.looking_at(document)
        met: list[Finding] = []
        report.met = met
        stored = self._stored(document)
        report.met = None
        report.back_to(before)
        if stored is not None:
            # The document itself is kept as well: its identity must not be given to another one.
            self._verdicts[id(document)] = (document, stored)
        elif (stands := next((finding for finding in met if finding.level == ERROR), None)) is not None:
            self._refused[id(document)] = RefusalFindings(document, met, stands, report)
        return stored

    def _stored(self, document: Document) -> Document | None:
        context = self._context
        stored = admit_object(_with_uses(document), context.server, context.report)
        if context.server.table.root(kind_of(document.tree)) is None:
            from trainc.compiler.admit.unknown_kinds import unknown_kind  # noqa: PLC0415 (most are of a version that is served)

            unknown_kind(document, context)
            return None
        if stored is None or not (document.kind in OWN_KINDS or check_runtime(stored, context.report)):
            return None
        ask_policies(stored, context)
        return stored

    def legal(self, document: Document, report: Report) -> Document | None:
        stored = admit_object(document, self._context.server, report)
        return stored if stored is not None and check_runtime(stored, report) else None

    def names(self, kind: str, namespace: str, file: str) -> list[str]:
        keys = (*self.given, *(key for near in self._near(file) for key in self._indexed(near)), *self._cluster)
        candidates = {name for k, n, name in keys if (k, n) == (kind, namespace)}
        if kind != "RuntimeComponent":
            candidates.update(name for k, _, name in keys if k == "Runtime")
        if not self._context.project.checks.closed_world:
            if kind == "ClusterTrainingRuntime":
                candidates.update(self._documents.shipped_names(""))
            elif kind == "RuntimeComponent":
                candidates.update(self._shipped_components)
        return sorted(candidates)

    def places(self, file: str) -> tuple[str, ...]:
        folders = [near.label for near in self._near(file) if near.label]
        dumps = ("the cluster's dumps",) if self._cluster else ()
        catalogue = () if self._context.project.checks.closed_world else ("trainc's own catalogue",)
        return ("the files given", *folders, *dumps, *catalogue)

    def _indexed(self, runtime_folder: RuntimeFolder) -> Index:
        if runtime_folder.label not in self._by_folder:
            self._by_folder[runtime_folder.label] = index(runtime_folder.documents, self._context.report)
        return self._by_folder[runtime_folder.label]


def _with_uses(document: Document) -> Document:
    """A Runtime whose components are spelled as the schema has them; any other document as it is."""
    spec = get(document.tree, "spec")
    if document.kind != "Runtime" or type(spec) is not dict or "components" not in spec:
        return document
    spelled = uses(spec["components"], lambda name: document.span(("spec", "components", name), key=True))
    return document.admitted({**document.tree, "spec": {**spec, "components": spelled}})


class RefusalFindings:
    """The findings that refuse a document.

    A job that reaches it meets all of them, so they share the set of jobs that did: thousands of jobs times thousands
    of findings are never written down one by one.
    """

    __slots__ = ("_jobs", "_stands", "document")

    def __init__(self, document: Document, met: list[Finding], stands: Finding, report: Report) -> None:
        self.document = document  # kept, so that its identity is not given to another one
        self._stands = stands
        self._jobs: list[set[str]] = []
        for finding in met:
            identity = finding.identity()
            jobs = report.reached.setdefault(identity, set())
            known = next((one for one in self._jobs if one == jobs), None)
            if known is None:
                self._jobs.append(jobs)
            else:
                report.reached[identity] = known

    def meet(self, report: Report) -> None:
        """The current job meets all of them."""
        report.add(self._stands)
        if report.job:
            for jobs in self._jobs:
                jobs.add(report.job)


def index(documents: Iterable[Document], report: Report) -> dict[Key, Document]:
    """What jobs and runtimes may name, each key once; a second document under a key is a finding."""
    by_key: dict[Key, Document] = {}
    for document in documents:
        if (group := KINDS.get(document.kind)) is None or not document.api_version.startswith(group):
            continue
        namespace = (document.namespace or "default") if document.kind == "TrainingRuntime" else ""
        key = (document.kind, namespace, document.name)
        if key in by_key:
            report.add(_twice(by_key[key], document))
        else:
            by_key[key] = document
    return by_key


def _twice(first: Document, second: Document) -> Finding:
    locked = next((document for document in (first, second) if get(document.tree, "spec", "locks")), None)
    return DUPLICATE_RUNTIME.at(
        second.span(("metadata", "name")),
        f"{second.kind} `{second.name}` is defined twice",
        label="defined again here",
        also=[Label(first.span(("metadata", "name")), "first defined here")],
        effect=f"the locks of {locked.file} would not hold for jobs that get the other one" if locked else "",
        help="remove or rename one of them",
    )


def ambiguous(documents: Sequence[Document]) -> Finding:
    """One name that several documents of one source answer to."""
    first, *others = sorted(documents, key=lambda document: (document.file, document.start))
    kinds = " and a ".join(document.kind for document in (first, *others))
    return DUPLICATE_RUNTIME.at(
        first.span(("metadata", "name")),
        f"`{first.name}` is the name of a {kinds}",
        also=[Label(other.span(("metadata", "name")), f"a {other.kind} of that name") for other in others],
        help="rename one of them: a reference by name is ambiguous",
    )


def check_runtime(document: Document, report: Report) -> bool:
    """Whether the webhooks let the runtime in; a composed one, which they never see, may run several Jobs for a step."""
    labels = get(document.tree, "metadata", "labels")
    known = document.kind == "ClusterTrainingRuntime" and not document.composed
    if known and value(labels, "trainer.kubeflow.org/support") == "deprecated":
        name, span = document.name, document.span(("metadata", "labels", "trainer.kubeflow.org/support"))
        text = (
            f'ClusterTrainingRuntime "{name}" is deprecated and will be removed in a future release of Kubeflow '
            f"Trainer. See runtime deprecation policy: {_URL}"
        )
        message = f"ClusterTrainingRuntime `{name}` is marked as deprecated"
        report.add(DEPRECATED.at(span, message, refusal=Refusal("webhook", text)))
    if value(labels, "trainer.kubeflow.org/webhook-validation") == "disabled":
        return True
    jobs = get(document.tree, "spec", "template", "spec", "replicatedJobs") or ()
    verdicts = [_job(document, job, index, report) for index, job in enumerate(jobs)]
    return all(verdicts)


def _job(document: Document, job: Tree, index: int, report: Report) -> bool:
    step = value(job, "template", "metadata", "labels", ANCESTOR_LABEL)
    if step not in _CONTAINERS:
        return True
    path: Path = ("spec", "template", "spec", "replicatedJobs", index)
    place = f"spec.template.spec.replicatedJobs[{index}]"
    replicas = value(job, "replicas") or 0
    fine: bool = replicas == 1 or document.composed
    if not fine:
        text = f"{place}.replicas: Invalid value: {compact(replicas)}: always must be 1"
        message = f"the {step} step has {replicas} replicas"
        hint, refusal = "remove `replicas`; set `spec.mlPolicy.numNodes` for more nodes", Refusal("webhook", text)
        report.add(STEP_REPLICAS.at(document.span((*path, "replicas")), message, help=hint, refusal=refusal))
    containers = get(job, "template", "spec", "template", "spec", "containers")
    if not any(value(container, "name") == _CONTAINERS[step] for container in containers or ()):
        at: Path = (*path, "template", "spec", "template", "spec", "containers")
        schema = load().at(f"trainer.kubeflow.org/v1alpha1/{document.kind}", at)
        from trainc.apiserver.golang.decoding import typed  # noqa: PLC0415 (only where something is wrong)

        text = f"{place}.template.spec.template.spec.containers: Invalid value: {compact(typed(schema, containers))}: "
        refusal = Refusal("webhook", f"{text}must contain the required container for the ancestor: {step}")
        message = f"the {step} step has no container `{_CONTAINERS[step]}`"
        hint = f"name its main container `{_CONTAINERS[step]}`"
        report.add(STEP_CONTAINER.at(document.span(at, key=True), message, help=hint, refusal=refusal))
        return False
    return fine
