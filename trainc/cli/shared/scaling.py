"""A job as it would be with another number of nodes: compiled again, as its processes, groups and quotas change too."""

from __future__ import annotations

from trainc.cluster.capacity.advice import with_pods
from trainc.cluster.capacity.groups import groups_of
from trainc.compiler import pipeline
from trainc.compiler.load import load
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from trainc.cli.shared.session import Session
    from trainc.model.bundle import Bundle
    from trainc.model.tree import Tree
else:
    from trainc.text.record import NamedTuple

_BY = Origin(None, "what if")


class Scaled(NamedTuple):
    """A JobSet with its PodGroups, or why there is none of that size."""

    jobset: Tree
    groups: list[Tree]
    refusal: str = ""


class Scaling:
    """The jobs of a run in other sizes."""

    def __init__(self, session: Session) -> None:
        self._project = session.project
        self._selection = session.selection
        self._documents = load(session.project, session.selection, Report())

    def at(self, bundle: Bundle, nodes: int) -> Scaled:
        """The job with so many nodes; only a TrainJob says what else that changes, of others the pods are counted."""
        if bundle.document.kind != "TrainJob":
            return Scaled(with_pods(bundle.jobset, nodes), [])
        cluster = next(one for one in self._project.clusters if one.name == bundle.cluster)
        report, document = Report(compiles=False), _with_nodes(bundle.document, nodes)
        project = self._project.at(cluster)
        for made in pipeline.instead([document], document.file, self._documents, project, self._selection, report):
            if made.jobset is not None:
                return Scaled(made.jobset, groups_of(made.around))
        message = report.findings[0].message if report.findings else "it does not compile"
        return Scaled(None, [], f"with {nodes} nodes: {message}")


def _with_nodes(document: Document, nodes: int) -> Document:
    tree = document.written
    spec = tree["spec"]
    written = get(spec, "trainer")
    trainer = {**(written if type(written) is dict else {}), "numNodes": Sourced(nodes, _BY)}
    return Document(document.file, {**tree, "spec": {**spec, "trainer": trainer}}, document.marks, document.start)
