"""Versions without a schema of their own, held against that of a version which has one."""

from __future__ import annotations

from trainc.apiserver.admission import admit_object
from trainc.kinds.shared.replica_lists import key_of
from trainc.kinds.table import V1
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.apiserver.of_cluster import Server
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Tree

_LISTED = ("mlkube.io/v1beta1", "TfJob")
# How the schema spells what the first operators read in any case, with and without underscores.
_SPEC = ("RuntimeId", "tensorboard", "replicaSpecs", "tfImage", "terminationPolicy")
_ENTRY = ("replicas", "template", "tfPort", "tfReplicaType", "IsDefaultPS")
_BOARD = ("logDir", "volumes", "volumeMounts", "serviceType")


def keyed(document: Document, server: Server, report: Report) -> Document | None:
    """A job with a map of roles as a server would store it; early versions are read as v1, whose fields they share."""
    version = document.tree["apiVersion"]
    if server.table.root(f"{document.api_version}/{document.kind}") is not None:
        return admit_object(document, server, report)
    stored = admit_object(_as(document, document.tree, V1, document.kind), server, report)
    return None if stored is None else document.admitted({**stored.tree, "apiVersion": version})


def listed(document: Document, server: Server, report: Report) -> Document | None:
    """A job with a list of roles as its operator read it: in its own spelling, its templates without strays."""
    tree = document.tree
    spec = _spelled(get(tree, "spec"), _SPEC)
    if type(spec) is not dict:
        return None
    entries = spec.get("replicaSpecs")
    if type(entries) is list:
        spec["replicaSpecs"] = [_spelled(entry, _ENTRY) for entry in entries]
    if "tensorboard" in spec:
        spec["tensorboard"] = _spelled(spec["tensorboard"], _BOARD)
    shown = {**tree, "spec": spec}
    admitted = admit_object(_as(document, shown, *_LISTED), server, report)
    if admitted is None or type(entries) is not list:
        return document if admitted is not None else None
    key, read = key_of(tree["spec"], "replicaSpecs"), admitted.tree["spec"]["replicaSpecs"]
    clean = [_with_template(entry, stored) for entry, stored in zip(entries, read, strict=True)]
    return document.admitted({**tree, "spec": {**tree["spec"], key: clean}})


def _with_template(entry: Tree, stored: Tree) -> Tree:
    key = key_of(entry, "template")
    return {**entry, key: stored["template"]} if "template" in stored else entry


def _as(document: Document, tree: Tree, api: str, kind: str) -> Document:
    """The document as one of another kind; what is found wrong in the tree still stands where it is written."""
    names = {"apiVersion": tree["apiVersion"].map(lambda _: api), "kind": tree["kind"].map(lambda _: kind)}
    shown = {**tree, **names}
    return document.instead(shown)


def _spelled(node: Tree, names: tuple[str, ...]) -> Tree:
    """A map with its keys spelled as the schema has them; others stay away: nobody read them."""
    if type(node) is not dict:
        return node
    known: Mapping[str, str] = {name.lower(): name for name in names}
    folded = {key: known.get(key.replace("_", "").lower()) for key in node}
    return {name: node[key] for key, name in folded.items() if name is not None}
