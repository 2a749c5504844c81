"""What names in files stand for: which fields hold the name of a runtime, a queue and so on, and what there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trainc.compiler.load import load
from trainc.compiler.load.shipped import COMPONENTS, shipped_names
from trainc.compiler.load.walk import known_contents
from trainc.integrations.lsp.cursor import documents_of
from trainc.integrations.lsp.judgement import Judgement, Unsaved
from trainc.model.catalog import Documents
from trainc.model.document import Document
from trainc.model.settings import FILE, Project
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, get, value
from trainc.text.object_keys import KUEUE_QUEUE, VOLCANO_QUEUE

RUNTIME, COMPONENT, CLUSTER, QUEUE = "runtime", "component", "cluster", "queue"
CLUSTER_QUEUE, CONTAINER, ROLE = "cluster queue", "container", "replicated job"
_RUNTIMES = ("Runtime", "ClusterTrainingRuntime", "TrainingRuntime")
_ANNOTATIONS = {
    "trainc.dev/components": COMPONENT,
    "trainc.dev/cluster": CLUSTER,
    KUEUE_QUEUE: QUEUE,
    VOLCANO_QUEUE: QUEUE,
}
# By kind, the fields that hold a name; `*` stands for any key or item, and the items of a list of names count as well.
_FIELDS: dict[str, tuple[tuple[Path, str], ...]] = {
    "TrainJob": ((("spec", "runtimeRef", "name"), RUNTIME),),
    "TrainJobPatch": ((("spec", "runtimeRef", "name"), RUNTIME),),
    "Runtime": (
        (("spec", "extends"), RUNTIME),
        (("spec", "components"), COMPONENT),
        (("spec", "components", "name"), COMPONENT),
    ),
    "RuntimeComponent": (
        (("spec", "requires"), COMPONENT),
        (("spec", "conflictsWith"), COMPONENT),
        (("spec", "after"), COMPONENT),
    ),
    "Project": (
        (("spec", "clusters", "*", "queue"), QUEUE),
        (("spec", "clusters", "*", "components"), COMPONENT),
        (("spec", "clusters", "*", "components", "name"), COMPONENT),
    ),
    "LocalQueue": ((("spec", "clusterQueue"), CLUSTER_QUEUE),),
}
_QUEUES = ("LocalQueue", "Queue")


class NamedPlace(NamedTuple):
    """Something that has a name: the name, where it is defined, and its kind in words."""

    name: str
    at: Span | None
    about: str


def meaning(kind: str, path: Path) -> str:
    """What the text at a path of a document is the name of, empty for every other text."""
    steps = tuple([step for step in path if type(step) is str])
    if steps and steps[-1] in _ANNOTATIONS and len(steps) > 1 and steps[-2] in ("annotations", "labels"):
        return _ANNOTATIONS[steps[-1]]
    if kind == "TrainJob" and len(steps) > 1 and steps[-1] == "name":
        if steps[-2] in ("containers", "initContainers"):
            return CONTAINER
        if steps[-2] == "replicatedJobs":
            return ROLE
    for pattern, what in _FIELDS.get(kind, ()):
        if len(pattern) == len(steps) and all(one in ("*", step) for one, step in zip(pattern, steps, strict=True)):
            return what
    return ""


class NameIndex:
    """The names that the files of a project define, as they are seen from one of them."""

    def __init__(self, file: str, judgement: Judgement, unsaved: Unsaved) -> None:
        self._file = file
        self._project: Project
        self._project, report = judgement.opened(unsaved)
        self._documents: Documents = load(self._project, judgement.selection(unsaved), report)

    def of(self, what: str, runtime: str = "") -> Iterator[NamedPlace]:
        """Everything of a sort; of containers and replicated jobs those of the `runtime`."""
        if what in (RUNTIME, COMPONENT):
            yield from self._blueprints(what)
        elif what == CLUSTER:
            yield from self._clusters()
        elif what == QUEUE:
            yield from self._dumped(_QUEUES)
        elif what == CLUSTER_QUEUE:
            yield from self._dumped(("ClusterQueue",))
        elif what in (CONTAINER, ROLE):
            yield from self._inside(what, runtime, set())

    def _own(self) -> list[Document]:
        folders = [*self._documents.runtime_folder(self._file).documents, *self._documents.beside(self._file).documents]
        dumped = [document for cluster in self._project.clusters for document in cluster.runtimes]
        every = [*self._documents.runtimes(), *folders, *dumped]
        return list({(document.file, document.start, document.name): document for document in every}.values())

    def _blueprints(self, what: str) -> Iterator[NamedPlace]:
        own = [
            one
            for one in self._own()
            if one.name and (one.kind in _RUNTIMES if what == RUNTIME else one.kind == "RuntimeComponent")
        ]
        yield from (NamedPlace(one.name, one.span(("metadata", "name")), one.kind) for one in own)
        folder = COMPONENTS if what == COMPONENT else ""
        known = {one.name for one in own}
        for name in shipped_names(folder):
            if name not in known:
                spans = [one.span(("metadata", "name")) for one in self._documents.shipped(folder, name)]
                yield NamedPlace(name, spans[0] if spans else None, f"{what} that trainc ships")

    def _clusters(self) -> Iterator[NamedPlace]:
        text = known_contents(self._project, FILE).decode("utf-8", "replace") if self._project.file else ""
        documents = documents_of(text, FILE) if self._project.file else []
        for cluster in self._project.clusters:
            if cluster.name:
                path = ("spec", "clusters", cluster.name)
                yield NamedPlace(cluster.name, documents[0].span(path, key=True) if documents else None, "cluster")

    def _dumped(self, kinds: Iterable[str]) -> Iterator[NamedPlace]:
        for cluster in self._project.clusters:
            for kind in kinds:
                for tree in cluster.objects.get(kind, {}).values():
                    leaf = get(tree, "metadata", "name")
                    if type(leaf) is Sourced and type(leaf.value) is str:
                        yield NamedPlace(leaf.value, leaf.origin.at, f"{kind} of {cluster.name or 'the cluster'}")

    def _inside(self, what: str, runtime: str, met: set[str]) -> Iterator[NamedPlace]:
        """The containers or the replicated jobs of a runtime and of those that it inherits from."""
        met.add(runtime)
        own = [one for one in self._own() if one.name == runtime and one.kind in _RUNTIMES]
        for document in own or self._documents.shipped("", runtime):
            yield from _parts(document, get(document.tree, "spec", "template", "spec", "replicatedJobs"), what)
            parent = value(document.tree, "spec", "extends")
            if type(parent) is str and parent not in met:
                yield from self._inside(what, parent, met)


def _parts(document: Document, jobs: Tree, what: str) -> Iterator[NamedPlace]:
    for job in jobs if type(jobs) is list else []:
        pod = get(job, "template", "spec", "template", "spec")
        lists = [get(pod, "containers"), get(pod, "initContainers")] if what == CONTAINER else [[job]]
        for part in [part for items in lists if type(items) is list for part in items]:
            leaf = get(part, "name")
            if type(leaf) is Sourced and type(leaf.value) is str:
                yield NamedPlace(leaf.value, leaf.origin.at, f"{what} of {document.name}")
