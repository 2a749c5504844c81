"""A cluster's folder: what `kubectl get ... -o yaml` printed of it."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from trainc import __version__
from trainc.apiserver.inventory_kinds import DECISIVE, INVENTORY, REPORTED, RUNNING
from trainc.cluster.dump_shapes import misfits
from trainc.model.cluster import Cache, Definitions
from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report
from trainc.model.settings import ADOPTED
from trainc.model.sourced import Span
from trainc.model.tree import Tree, dotted, get, value
from trainc.text.files import is_inside, ordinary_contents
from trainc.text.trouble import Reaching, Trouble
from trainc.yaml.reader import LIMIT, read

FOREIGN_DUMP = Rule("foreign-dump", ERROR, admission=True)
ADMISSION_GROUP = "admissionregistration.k8s.io/"
ADMISSION = frozenset({
    "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
})  # fmt: skip
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
        *DECISIVE,
        *RUNNING,
        INVENTORY,
    }
)
_MANAGED = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"})
KIND = "CustomResourceDefinition"
_FORM = 3  # counts up whenever a file's text comes to mean something else, or is kept in another way


def read_dumps(
    root: str, folder: str, report: Report, cache: Cache | None = None, unsaved: Mapping[str, bytes] | None = None
) -> dict[str, Any]:
    """The objects, runtimes and definitions that a cluster's folder shows; texts that are `unsaved` count first."""
    objects: dict[str, dict[str, Tree]] = {}
    runtimes: list[Document] = []
    definitions: list[Definitions] = []
    foreign: list[Document] = []
    policies: list[Document] = []
    for file, data in _files(root, folder, unsaved or {}):
        if os.path.basename(file) == ADOPTED:
            continue
        if (known := recall(data, file, cache)) is not None:
            definitions.append(known)
            continue
        for document in _others(data, file, report, definitions, cache):
            if document.kind in ADMISSION and document.api_version.startswith(ADMISSION_GROUP):
                policies.append(document)
            elif not _sort(document, objects, runtimes, report):
                foreign.append(document)
    kinds = [get(policy.tree, "spec", "paramKind") for policy in policies]
    params = {(value(kind, "apiVersion"), value(kind, "kind")) for kind in kinds if type(kind) is dict}
    for document in foreign:
        if (document.api_version, document.kind) in params:
            policies.append(document)
        else:
            message = f"`{document.kind or 'this'}` is not a kind of object for a cluster folder"
            hint = "keep only dumps of CRDs, runtimes, queues, classes, PVCs, policies and names of Secrets here"
            report.add(FOREIGN_DUMP.at(document.span(("kind",)), message, help=hint))
    held = {"objects": objects, "runtimes": tuple(runtimes), "definitions": tuple(definitions)}
    return {**held, "policies": tuple(policies)}


def read_dump(data: bytes, file: str, report: Report) -> dict[str, dict[str, Tree]]:
    """The objects of one dump by kind, then by name or `namespace/name`."""
    objects: dict[str, dict[str, Tree]] = {}
    for document in _others(data, file, report, [], None):
        if document.kind in _LISTED:
            _sort(document, objects, [], report)
    return objects


def _sort(document: Document, objects: dict[str, dict[str, Tree]], runtimes: list[Document], report: Report) -> bool:
    """Put a document where it belongs; False for one that a cluster's folder does not hold."""
    if document.kind in _RUNTIMES:
        runtimes.append(document)
    elif document.kind in _LISTED:
        wrong = list(misfits(document.tree, document.kind))
        for path, wanted in wrong:
            message = f"`{dotted(path)}` of this {document.kind} is not {wanted}"
            hint = "create the dump again; no API server returns such an object"
            report.add(FOREIGN_DUMP.at(document.span(path), message, help=hint))
        if wrong:
            return True
        key = f"{document.namespace}/{document.name}" if document.namespace else document.name
        objects.setdefault(document.kind, {})[key or document.file] = document.tree
        if document.kind == INVENTORY:
            # Note the kinds of which an inventory lists all there are, even where there are none.
            kinds = get(document.tree, "spec", "kinds")
            for leaf in kinds if type(kinds) is list else []:
                if value(leaf) in _LISTED:
                    objects.setdefault(value(leaf), {})
    else:
        return False
    return True


def _others(
    data: bytes, file: str, report: Report, definitions: list[Definitions], cache: Cache | None
) -> Iterator[Document]:
    """The documents of a file, but for its definitions, which are added to those known."""
    own_report = Report()
    documents = [item for document in read(data, file, own_report) for item in items(document)]
    report.add_all(own_report.findings)
    if defining := [document for document in documents if document.kind == KIND]:
        from trainc.apiserver.definitions import read_definitions  # noqa: PLC0415 (few clusters bring any)

        defined = read_definitions(defining)
        definitions.append(defined)
        if defined.lasting and len(defining) == len(documents) and not own_report.findings:
            keep(data, defined, cache)
    yield from (document for document in documents if document.kind != KIND)


def _files(root: str, folder: str, unsaved: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    try:
        names = sorted(os.listdir(os.path.join(root, folder)))
    except OSError as error:
        raise Trouble(f"{folder}: {error.strerror}") from error
    for name in names:
        path = os.path.join(root, folder, name)
        if name.lower().endswith((".yaml", ".yml", ".json")) and not os.path.isdir(path):
            if not is_inside(root, path):
                # Left out, it would be a part of the cluster that nobody misses.
                where = "is a symbolic link to a file outside the project; put the dump itself there"
                raise Trouble(f"{folder}/{name} {where}")
            held = unsaved.get(f"{folder}/{name}")
            with Reaching(path):
                data = ordinary_contents(path, LIMIT + 1) if held is None else held
            yield f"{folder}/{name}", data


def items(document: Document) -> Iterator[Document]:
    """The items of a List, and of lists in it; what servers manage is none of our business."""
    todo = [document]
    while todo:
        document = todo.pop()
        if document.kind == INVENTORY:
            yield document
            inner = get(document.tree, "spec", "objects")
        elif type(document.tree) is list and all(type(item) in (dict, list) for item in document.tree):
            inner = document.tree
        else:
            inner = get(document.tree, "items") if document.kind.endswith("List") else None
        if type(inner) is list:
            todo += [document.part(_typed(item, document)) for item in reversed(inner)]
        elif document.kind != INVENTORY:
            yield _own(document)


def _typed(item: Tree, holder: Document) -> Tree:
    """An item with the kind that a list of one kind leaves out, as a server's own answers do."""
    kind = holder.kind.removesuffix("List")
    if type(item) is not dict or "kind" in item or not (kind and kind != holder.kind):
        return item
    return {"apiVersion": holder.tree["apiVersion"], "kind": holder.tree["kind"].map(lambda _: kind), **item}


def _own(document: Document) -> Document:
    if type(document.tree) is not dict:
        return document
    keeps = document.kind in REPORTED
    tree = {key: node for key, node in document.tree.items() if key != "status" or keeps}
    if type(tree.get("metadata")) is dict:
        tree["metadata"] = {key: node for key, node in tree["metadata"].items() if key not in _MANAGED}
    return document.admitted(tree)


def recall(data: bytes, file: str, cache: Cache | None) -> Definitions | None:
    """What was kept of a file that holds definitions and nothing else, None where nothing was."""
    if cache is None or KIND.encode() not in data:
        return None
    if (kept := cache.get(_key(data))) is None:
        return None
    from json import loads  # noqa: PLC0415 (few clusters bring definitions)

    try:
        table, *remarks = loads(kept)
        faults, notes = [tuple((Span(file, *place), text) for *place, text in rows) for rows in remarks]
        return Definitions({key: table[key] for key in ("kinds", "nodes", "whole")}, faults, notes)
    except (ValueError, TypeError, KeyError):
        return None  # somebody else's file


def keep(data: bytes, definitions: Definitions, cache: Cache | None) -> None:
    """Keep what a file says that holds definitions and nothing else."""
    if cache is None:
        return
    from json import dumps  # noqa: PLC0415

    remarks = [[[*at[1:], text] for at, text in rows] for rows in (definitions.faults, definitions.notes)]
    cache.put(_key(data), dumps([definitions.table, *remarks]).encode())


def _key(data: bytes) -> str:
    from hashlib import sha256  # noqa: PLC0415

    return sha256(f"{_FORM} {__version__} ".encode() + data).hexdigest()
