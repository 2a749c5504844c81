"""Runtimes and components of one source, by kind, namespace and name."""

from __future__ import annotations

from trainc.model.finding import ERROR, Label, Rule
from trainc.model.tree import get
from trainc.text.object_keys import TRAINC_PREFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.model.catalog import Key
    from trainc.model.document import Document
    from trainc.model.finding import Finding
    from trainc.model.report import Report

DUPLICATE_RUNTIME = Rule(
    "duplicate-runtime",
    ERROR,
    "two runtimes or two components have the same name",
    "Which one a job gets would depend on the order of the files.",
    admission=True,
)
KINDS = {
    "TrainingRuntime": "trainer.kubeflow.org/",
    "ClusterTrainingRuntime": "trainer.kubeflow.org/",
    "Runtime": TRAINC_PREFIX,
    "RuntimeComponent": TRAINC_PREFIX,
}
BLUEPRINTS = ("Runtime", "ClusterTrainingRuntime", "TrainingRuntime")
OWN_KINDS = ("Runtime", "RuntimeComponent")


def index(documents: Iterable[Document], report: Report) -> dict[Key, Document]:
    """What jobs and runtimes may name, each key once; a second document under a key is a finding."""
    by_key: dict[Key, Document] = {}
    for document in documents:
        group = KINDS.get(document.kind)
        if group is None or not document.api_version.startswith(group):
            continue
        namespace = (document.namespace or "default") if document.kind == "TrainingRuntime" else ""
        key = (document.kind, namespace, document.name)
        if key in by_key:
            report.add(_twice(by_key[key], document))
        else:
            by_key[key] = document
    return by_key


def shadowed(hit: Document, hidden: Document) -> Finding:
    """A runtime that hides another one of its name: the same finding as where both are given."""
    first, second = sorted((hit, hidden), key=lambda document: (document.file.split("/"), document.start))
    return _twice(first, second) if first.kind == second.kind else ambiguous((first, second))


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
        help="rename one of them: a reference by name cannot tell them apart",
    )
