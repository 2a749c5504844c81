"""The list of replica specs of the first TensorFlow operators, read in every spelling they accepted."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path, Tree

_DEFAULT = Origin(by="TfJob default")


class ListedReplica:
    """One entry of `replicaSpecs` with its defaults: type MASTER, one replica, port 2222."""

    __slots__ = ("count", "path", "port", "role", "template", "tree")

    def __init__(self, tree: Tree, path: Path) -> None:
        self.tree = tree
        self.path = path
        role = spelled(tree, "tfReplicaType")
        self.role: str = role.value if type(role) is Sourced and role.value else "MASTER"
        self.count: Sourced[int] = _or(spelled(tree, "replicas"), 1)
        self.port: Sourced[int] = _or(spelled(tree, "tfPort"), 2222)
        self.template: Tree = spelled(tree, "template")


def listed(job: Tree) -> list[ListedReplica]:
    """The entries of a job's list, in the order written."""
    spec = get(job, "spec")
    key = key_of(spec, "replicaSpecs")
    entries = get(spec, key) if key else None
    if type(entries) is not list:
        return []
    return [ListedReplica(entry, ("spec", key, index)) for index, entry in enumerate(entries)]


def key_of(tree: Tree, name: str) -> str:
    """The key under which a map holds a field, whatever its case and underscores; "" where it has none.

    The field was decoded without regard to case, and the first months wrote it in snake case.
    """
    if type(tree) is not dict:
        return ""
    folded = name.lower()
    return next((key for key in tree if key.replace("_", "").lower() == folded), "")


def spelled(tree: Tree, name: str) -> Tree:
    """The node a map holds for a field in any spelling, None where it has none."""
    key = key_of(tree, name)
    return tree[key] if key else None


def _or(node: Tree, default: int) -> Sourced[int]:
    return node if type(node) is Sourced and node.value is not None else Sourced(default, _DEFAULT)
