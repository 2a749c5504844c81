"""What jobs name, found among the files of the project: claims, ConfigMaps, Secrets and ServiceAccounts."""

from collections.abc import Iterable, Mapping
from itertools import takewhile

from trainc.apiserver.admission import admit_object
from trainc.compiler.admit.binding import bound
from trainc.compiler.admit.context import AdmissionContext
from trainc.model.catalog import Documents, SourceFile
from trainc.model.document import Document
from trainc.model.references import CLAIM, Reference, names_in, provides
from trainc.model.report import Report
from trainc.model.tree import Tree, plain, value

LOCAL = "config.kubernetes.io/local-config"
_JOBS = ("TrainJob", "JobSet")
_TEMPLATE = b"{{"  # in the text of a chart, which is no YAML before somebody fills it in


class NamedObjects:
    """Finds what the jobs of one cluster name; the files of the project are read when somebody first asks.

    What shares a file with a job of the cluster goes out with that job, and is not found here. Of several objects of
    one name the one counts whose folder is nearest to the job's.
    """

    def __init__(self, documents: Documents, context: AdmissionContext) -> None:
        self._documents = documents
        self._context = context
        self._known: dict[tuple[str, str], list[Document]] | None = None  # by the kind and name that jobs use
        self._beside: set[tuple[str, str, str]] = set()  # file, kind and name of objects that share a file with a job
        self._claims: dict[str, list[Document]] = {}  # every PVC of the project by its name, those beside jobs too
        self._faulty: dict[str, SourceFile] = {}
        self._admitted: dict[int, Document | None] = {}

    def are_missing(self) -> bool:
        return not (self._index() or self._faulty)

    def find(self, references: Mapping[Reference, Iterable[str]]) -> dict[Reference, list[Document]]:
        """The objects that fit each reference best, seen from the folders of the jobs; several where it is not clear.

        What an object that was found names itself, as a ServiceAccount does its pull secrets, is found as well.
        """
        by_reference: dict[Reference, list[Document]] = {}
        todo = [(reference, folder) for reference, folders in references.items() for folder in sorted(folders)]
        done = set(todo)
        while todo:
            reference, folder = todo.pop(0)
            for document in self._nearest(reference, folder):
                known = by_reference.setdefault(reference, [])
                if document in known:
                    continue
                known.append(document)
                inner = document.file.rpartition("/")[0]
                for kind, name in sorted(names_in([document.tree])):
                    further = reference._replace(kind=kind, name=name), inner
                    if further not in done:
                        done.add(further)
                        todo.append(further)
        return by_reference

    def is_beside_job(self, file: str, reference: Reference) -> bool:
        self._index()
        return (file, reference.kind, reference.name) in self._beside

    def claim(self, name: str, namespace: str, file: str) -> Tree:
        self._index()
        nearest = _nearest(self._claims.get(name, ()), namespace, file.rpartition("/")[0])
        return nearest[0].tree if nearest else None

    def claims(self, name: str) -> list[Tree]:
        self._index()
        return [document.tree for document in self._claims.get(name, ())]

    def _nearest(self, reference: Reference, folder: str) -> list[Document]:
        """The objects of a name that are nearest to a folder: one, or several that differ; each as a server stores it."""
        # Report what is wrong with a text that seems to hold an object: nobody can say that it is not there.
        self._index()
        kind, name = reference.kind.encode(), reference.name.encode()
        for source in self._faulty.values():
            if (
                source.faults.failed
                and _TEMPLATE not in source.data
                and kind in source.data
                and _names(source.data, name)
            ):
                self._tell(source)
        same_name = self._index().get((reference.kind, reference.name), ())
        chosen = _nearest(same_name, reference.namespace, folder)
        return [admitted for document in chosen if (admitted := self._admit(document)) is not None]

    def _admit(self, document: Document) -> Document | None:
        if id(document) not in self._admitted:
            if document.file in self._faulty:
                self._tell(self._faulty[document.file])
            self._admitted[id(document)] = admit_object(document, self._context.server, self._context.report)
        return self._admitted[id(document)]

    def _index(self) -> dict[tuple[str, str], list[Document]]:
        if self._known is None:
            self._known = {}
            for source in self._documents.objects():
                if source.faults.findings:
                    self._faulty[source.file] = source
                if not self._is_ours(source.file):
                    continue
                objects = [one for one in source.documents if one.api_version and not is_local(one.tree)]
                for document in objects:
                    if document.kind == CLAIM:
                        self._claims.setdefault(document.name, []).append(document)
                if not any(self._is_compiled(one) for one in source.documents):
                    for document in objects:
                        self._known.setdefault(provides(document.tree), []).append(document)
                else:
                    self._beside.update((one.file, one.kind, one.name) for one in objects)
        return self._known

    def _is_ours(self, file: str) -> bool:
        """Whether a file is for the present cluster: it lies below its paths, or below nobody's."""
        holders = self._context.project.holders[file]
        return not holders or self._context.project.cluster in holders

    def _is_compiled(self, document: Document) -> bool:
        """Whether a document is a job that runs on the present cluster."""
        if document.kind not in _JOBS:
            from trainc.kinds.other_operators import is_input_kind  # noqa: PLC0415 (hardly any file with such objects holds one)
            from trainc.kinds.table import kind_of  # noqa: PLC0415 (as above)

            if kind_of(document.api_version, document.kind) is None and not is_input_kind(document):
                return False
        clusters = bound(document, self._context.project, Report())
        return any(cluster is self._context.project.cluster for cluster in clusters)

    def _tell(self, source: SourceFile) -> None:
        self._context.report.add_all(source.faults.findings)


def is_local(tree: Tree) -> bool:
    """Whether an object is for a tool that reads it from the repository, as kpt marks it, and for no cluster."""
    return str(value(tree, "metadata", "annotations", LOCAL)) == "true"


def _nearest(documents: Iterable[Document], namespace: str, folder: str) -> list[Document]:
    """Those that fit a namespace and are nearest to a folder: one, or several that differ."""
    fitting = [document for document in documents if document.namespace in ("", namespace)]
    if not fitting:
        return []
    # How many folders the paths have in common from the top.
    steps = [zip(document.file.rpartition("/")[0].split("/"), folder.split("/"), strict=False) for document in fitting]
    shared = [sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs)) for pairs in steps]
    chosen: list[Document] = []
    for document, depth in zip(fitting, shared, strict=True):
        if depth == max(shared) and all(plain(document.tree) != plain(other.tree) for other in chosen):
            chosen.append(document)
    return chosen


def _names(data: bytes, name: bytes) -> bool:
    """Whether a line of a text gives something this very name."""
    keys = [line.strip().strip(b"{},").replace(b'"', b"").replace(b"'", b"") for line in data.splitlines()]
    return any(line.endswith(b"name: " + name) for line in keys)
