"""What a job needs by name: claims, ConfigMaps, Secrets and ServiceAccounts, and who makes a Secret."""

from __future__ import annotations

from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.tree import Tree

# A field of a pod that holds a name: the kind, and the fields below it of which one is the name.
_FIELDS = {
    "persistentVolumeClaim": ("PersistentVolumeClaim", ("claimName",)),
    "configMap": ("ConfigMap", ("name",)),
    "configMapRef": ("ConfigMap", ("name",)),
    "configMapKeyRef": ("ConfigMap", ("name",)),
    "secret": ("Secret", ("secretName", "name")),
    "secretRef": ("Secret", ("name",)),
    "secretKeyRef": ("Secret", ("name",)),
    "imagePullSecrets": ("Secret", ("name",)),
}
_MAKERS = ("ExternalSecret", "SealedSecret")  # of a Secret, under their own name unless they say another


def names_in(trees: Iterable[Tree]) -> set[tuple[str, str]]:
    """Kind and name of every object that something in these trees names."""
    found: set[tuple[str, str]] = set()
    todo = list(trees)
    while todo:
        node = todo.pop()
        if type(node) is list:
            todo.extend(node)
        elif type(node) is dict:
            for key, below in node.items():
                kind, fields = _FIELDS.get(key, ("", ()))
                for entry in below if type(below) is list else (below,):
                    found.update((kind, str(name)) for field in fields if (name := value(entry, field)))
                todo.append(below)
            if account := value(node, "serviceAccountName"):
                found.add(("ServiceAccount", str(account)))
    return found


def is_named(tree: Tree, names: set[tuple[str, str]]) -> bool:
    """Whether an object is among the names, or makes a Secret that is."""
    kind, name = value(tree, "kind"), value(tree, "metadata", "name")
    if kind in _MAKERS:
        made = value(tree, "spec", "target", "name") or value(tree, "spec", "template", "metadata", "name") or name
        return ("Secret", made) in names
    return (kind, name) in names
