"""The runtimes and components that a project has of its own, and who uses each."""

import os
from collections.abc import Iterable, Iterator

from trainc.apiserver.component_uses import uses
from trainc.compiler.load import load
from trainc.compiler.resolve.template import COMPONENTS, names_of
from trainc.model.catalog import Documents
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.settings import FILE, Project, Selection
from trainc.model.tree import get, value

COMPONENT = "RuntimeComponent"
_KINDS = ("Runtime", "ClusterTrainingRuntime", "TrainingRuntime", COMPONENT)


class Blueprint:
    """A runtime or component of the project, and the users of it: jobs, runtimes and clusters, each in words."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.users: dict[str, None] = {}  # each once, in the order of their files

    @property
    def name(self) -> str:
        """What jobs and other runtimes call it."""
        return self.document.name

    @property
    def is_component(self) -> bool:
        """Whether runtimes switch it on instead of starting from it."""
        return self.document.kind == COMPONENT


def paths_here(project: Project) -> tuple[str, ...]:
    """What belongs to the current folder: the whole project, or without a trainc.yaml the folder and its `runtimes/`.

    Such a project starts at the top of its Git checkout, which may hold a lot that has nothing to do with training.
    """
    here = os.path.relpath(os.getcwd(), project.root)
    if project.file or here.startswith(os.pardir):
        return (".",)
    serving = load(project, Selection(()), Report()).nearest(os.path.normpath(os.path.join(here, FILE)))
    return (here, serving) if serving else (here,)


def blueprints(project: Project, paths: tuple[str, ...] = (".",)) -> list[Blueprint]:
    """Every runtime and component in the project's files below these paths, sorted by file and line, with its users.

    What cannot be read is left out: `trainc validate` says what is wrong with it.
    """
    documents = load(project, Selection(paths), Report())
    every = (*_selected(project, documents), *documents.runtimes())
    unique = {(document.file, document.start): document for document in every}
    documents_of = [unique[key] for key in sorted(unique)]
    own = [Blueprint(document) for document in documents_of if document.kind in _KINDS and document.name]
    for document in documents_of:
        for is_component, name, user in uses_of(document):
            _note(own, name, user, is_component=is_component)
    for cluster in project.clusters:
        for leaf in cluster.components:
            _note(own, leaf.value, f"cluster {cluster.name}", is_component=True)
    return own


def blueprints_behind(runtimes: Iterable[Document]) -> list[Blueprint]:
    """The runtimes and components that some runtimes were put together from, sorted by file and line; users are not noted."""
    parts = (part for runtime in runtimes for part in runtime.sources)
    unique = {(part.file, part.start): part for part in parts if part.kind in _KINDS and part.name}
    return [Blueprint(unique[key]) for key in sorted(unique)]


def _note(own: list[Blueprint], name: str, user: str, *, is_component: bool) -> None:
    for blueprint in own:
        if blueprint.name == name and blueprint.is_component is is_component:
            blueprint.users[user] = None


def uses_of(document: Document) -> Iterator[tuple[bool, str, str]]:
    """What a document starts from and switches on: whether it is a component, its name, and who names it."""
    if document.kind == "TrainJob":
        user = f"job {document.name}"
        reference = value(document.tree, "spec", "runtimeRef", "name")
        yield from [(False, reference, user)] if type(reference) is str else ()
        for name in names_of(get(document.tree, "metadata", "annotations", COMPONENTS)):
            yield True, name, user
    elif document.kind == "Runtime":
        user = f"runtime {document.name}"
        parent = value(document.tree, "spec", "extends")
        yield from [(False, parent, user)] if type(parent) is str else ()
        used = uses(get(document.tree, "spec", "components"), lambda _: document.span())
        names = [value(use, "name") for use in used] if type(used) is list else []
        yield from ((True, name, user) for name in names if type(name) is str)


def jobs(project: Project) -> list[str]:
    """The names of the TrainJobs that belong to the current folder, each once."""
    selected = _selected(project, load(project, Selection(paths_here(project)), Report()))
    return sorted({document.name for document in selected if document.kind == "TrainJob"})


def document_names(project: Project, selection: Selection) -> set[str]:
    """The names of all documents of a selection, whether they compile or not."""
    return {document.name for document in _selected(project, load(project, selection, Report()))}


def _selected(project: Project, documents: Documents) -> Iterator[Document]:
    """The documents of all files of a selection, for each cluster."""
    for cluster in project.clusters:
        for _, of_file in documents.selected(cluster):
            yield from of_file
