"""Where runtimes are found: among the files given, in the project's folders, in trainc's own catalogue."""

from __future__ import annotations

from trainc.admit.objects import admit_object
from trainc.admit.runtimes import check_runtime
from trainc.model.catalog import CLUSTER, GIVEN, SHELF, SHIPPED, Found
from trainc.model.finding import ERROR, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.admit.desk import Desk
    from trainc.model.catalog import Key
    from trainc.model.document import Document
    from trainc.model.documents import Documents, Shelf
    from trainc.model.report import Report

DUPLICATE_RUNTIME = Rule(
    "duplicate-runtime",
    ERROR,
    "two runtimes of one kind, namespace and name",
    "Only one of them can be in the cluster; which one a job gets would depend on the order of the files.",
    admission=True,
)
KINDS = ("TrainingRuntime", "ClusterTrainingRuntime")


class Shelves:
    """Finds runtimes by kind, namespace and name, and admits each once, when a job first reaches it."""

    def __init__(self, documents: Documents, desk: Desk) -> None:
        self._documents = documents
        self._desk = desk
        self._selection = desk.selection
        self._report = desk.report
        self._given: dict[Key, Document] | None = None
        self._shelf: dict[str, dict[Key, Document]] = {}
        self._verdicts: dict[int, tuple[Document, Document | None]] = {}
        self._catalogue: dict[str, dict[Key, Document]] = {}
        self._cluster = self._index(desk.project.cluster.runtimes)

    def find(self, key: Key, file: str) -> Found | None:
        """The runtime that a job in `file` would get, None where there is none."""
        if key in self.given:
            return Found(self.admitted(self.given[key]), GIVEN)
        shelf = self._documents.shelf(file)
        indexed = self._indexed(shelf)
        if key in indexed:
            return Found(self.admitted(indexed[key]), SHELF)
        if key in self._cluster:
            return Found(self.admitted(self._cluster[key]), CLUSTER)
        for finding in shelf.faults.findings:
            # What cannot be read might have been the runtime that is missing.
            self._report.add(finding)
        if self._selection.closed_world:
            return None
        shipped = self._shipped(key[2])
        return Found(self.admitted(shipped[key]), SHIPPED) if key in shipped else None

    @property
    def given(self) -> dict[Key, Document]:
        """The runtimes among the files that were given."""
        if self._given is None:
            self._given = self._index(self._documents.runtimes())
        return self._given

    def admitted(self, document: Document) -> Document | None:
        """The runtime as the server would store it, None with findings (once) where it would be refused."""
        if id(document) not in self._verdicts:
            stored = admit_object(document, self._desk.server, self._report)
            if stored is not None and not check_runtime(stored, self._report):
                stored = None
            # The document itself is kept as well: its identity must not be given to another one.
            self._verdicts[id(document)] = (document, stored)
        return self._verdicts[id(document)][1]

    def names(self, kind: str, namespace: str, file: str) -> list[str]:
        """The runtimes of that kind and namespace that could have been meant."""
        keys = (*self.given, *self._indexed(self._documents.shelf(file)), *self._cluster)
        found = {name for k, n, name in keys if (k, n) == (kind, namespace)}
        if kind == "ClusterTrainingRuntime" and not self._selection.closed_world:
            found.update(self._documents.shipped_names(""))
        return sorted(found)

    def places(self, file: str) -> tuple[str, ...]:
        """Where a runtime for a job in `file` is looked for."""
        label = self._documents.shelf(file).label
        shelf = (label,) if label else ()
        dumps = ("the cluster's dumps",) if self._cluster else ()
        catalogue = () if self._selection.closed_world else ("trainc's own catalogue",)
        return ("the files given", *shelf, *dumps, *catalogue)

    def _indexed(self, shelf: Shelf) -> dict[Key, Document]:
        if shelf.label not in self._shelf:
            self._shelf[shelf.label] = self._index(shelf.documents)
        return self._shelf[shelf.label]

    def _shipped(self, name: str) -> dict[Key, Document]:
        if name not in self._catalogue:
            self._catalogue[name] = self._index(self._documents.shipped("", name))
        return self._catalogue[name]

    def _index(self, documents: Iterable[Document]) -> dict[Key, Document]:
        found: dict[Key, Document] = {}
        for document in documents:
            if document.kind not in KINDS or not document.api_version.startswith("trainer.kubeflow.org/"):
                continue
            namespace = "" if document.kind == "ClusterTrainingRuntime" else document.namespace or "default"
            key = (document.kind, namespace, document.name)
            if key in found:
                self._duplicate(found[key], document)
            else:
                found[key] = document
        return found

    def _duplicate(self, first: Document, second: Document) -> None:
        self._report.add(
            DUPLICATE_RUNTIME.at(
                second.span(("metadata", "name")),
                f"{second.kind} `{second.name}` is defined twice",
                label="defined again here",
                also=[Label(first.span(("metadata", "name")), "first defined here")],
                help="remove or rename one of them",
            )
        )
