"""A cluster's folder: what `kubectl get ... -o yaml` printed of it."""

from __future__ import annotations

import os

from trainc.model.finding import ERROR, Rule
from trainc.yaml.reader import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Tree

FOREIGN_DUMP = Rule(
    "foreign-dump",
    ERROR,
    "a cluster folder holds something that is no dump of cluster objects",
    "The folder is what a cluster is known by; what is not understood there would silently be missing.",
    admission=True,
)
_RUNTIMES = ("ClusterTrainingRuntime", "TrainingRuntime")
# Kinds of which a dump lists all there are: a name that is not among them does not exist.
_LISTED = frozenset(
    {
        "ClusterQueue",
        "LocalQueue",
        "PersistentVolumeClaim",
        "PriorityClass",
        "Queue",
        "ResourceFlavor",
        "RuntimeClass",
        "StorageClass",
        "Topology",
        "WorkloadPriorityClass",
        "ConfigMap",
        "Secret",
        "ServiceAccount",
    }
)


def read_dumps(root: str, folder: str, report: Report) -> dict[str, Any]:
    """The objects, runtimes and definitions that a cluster's folder shows."""
    objects: dict[str, dict[str, Tree]] = {}
    runtimes: list[Document] = []
    definitions: list[Document] = []
    for document in _documents(root, folder, report):
        if document.kind in _RUNTIMES:
            runtimes.append(document)
        elif document.kind == "CustomResourceDefinition":
            definitions.append(document)
        elif document.kind in _LISTED:
            key = f"{document.namespace}/{document.name}" if document.namespace else document.name
            objects.setdefault(document.kind, {})[key] = document.tree
        else:
            report.add(
                FOREIGN_DUMP.at(
                    document.span(("kind",)),
                    f"`{document.kind or 'this'}` is no kind that a cluster folder holds",
                    help="keep dumps of definitions, runtimes, queues, classes, claims and names of Secrets here",
                )
            )
    return {"objects": objects, "runtimes": tuple(runtimes), "definitions": tuple(definitions)}


def _documents(root: str, folder: str, report: Report) -> Iterator[Document]:
    for name in sorted(os.listdir(os.path.join(root, folder))):
        if not name.endswith((".yaml", ".yml", ".json")):
            continue
        with open(os.path.join(root, folder, name), "rb") as stream:
            for document in read(stream.read(), f"{folder}/{name}", report):
                yield from _items(document)


def _items(document: Document) -> Iterator[Document]:
    """The items of a List, as kubectl prints several objects; status and what servers manage are none of our business."""
    items = document.tree.get("items") if type(document.tree) is dict else None
    if document.kind.endswith("List") and type(items) is list:
        for item in items:
            yield _own(document.part(item))
    else:
        yield _own(document)


def _own(document: Document) -> Document:
    if type(document.tree) is not dict:
        return document
    tree = {key: node for key, node in document.tree.items() if key != "status"}
    if type(tree.get("metadata")) is dict:
        tree["metadata"] = {key: node for key, node in tree["metadata"].items() if key not in _MANAGED}
    return document.admitted(tree)


_MANAGED = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
