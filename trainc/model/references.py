"""What jobs need by name: claims, ConfigMaps, Secrets and ServiceAccounts, and what makes a Secret."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trainc.model.bundle import Bundle
from trainc.model.cluster import Cluster
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, stamp, value

CLAIM = "PersistentVolumeClaim"
# A field that holds a name: the kind, and the fields below it of which one is the name.
_FIELDS = {
    "persistentVolumeClaim": (CLAIM, ("claimName",)),
    "configMap": ("ConfigMap", ("name",)),
    "configMapRef": ("ConfigMap", ("name",)),
    "configMapKeyRef": ("ConfigMap", ("name",)),
    "secret": ("Secret", ("secretName", "name")),
    "secretRef": ("Secret", ("name",)),
    "secretKeyRef": ("Secret", ("name",)),
    "imagePullSecrets": ("Secret", ("name",)),
}
# Fields of workloads with nothing in them that names such an object.
_NAMELESS = frozenset((
    "affinity", "args", "command", "failurePolicy", "metadata", "ports", "resources", "securityContext",
    "successPolicy", "tolerations", "volumeMounts",
))  # fmt: skip
_MAKERS = ("ExternalSecret", "SealedSecret")  # of a Secret, under their own name unless they say another
_UNLISTED = {kind: f"whether the {kind} exists" for kind in (CLAIM, "ConfigMap", "Secret")}
KINDS = (CLAIM, "ConfigMap", "Secret", "ServiceAccount", *_MAKERS)


class Reference(NamedTuple):
    """An object as a job names it; a job without a namespace looks in `default`."""

    cluster: str
    namespace: str
    kind: str
    name: str

    def tree(self) -> Tree:
        """As much of the object as the name tells."""
        return stamp({"kind": self.kind, "metadata": {"name": self.name, "namespace": self.namespace}}, "a job")


class References:
    """Everything that the jobs of a run name, and the files whose jobs do; small enough for any run."""

    def __init__(self) -> None:
        self.files: dict[Reference, set[str]] = {}

    def folders(self, reference: Reference) -> set[str]:
        return {file.rpartition("/")[0] for file in self.files[reference]}

    def add(self, bundle: Bundle, trees: Iterable[Tree]) -> None:
        """Note what objects of a bundle, or those that stand for them, name."""
        self.add_all(references_of(bundle, trees), bundle.document.file)

    def add_all(self, references: Iterable[Reference], file: str) -> None:
        for reference in references:
            self.files.setdefault(reference, set()).add(file)

    def include(self, files: Mapping[Reference, Iterable[str]]) -> None:
        """Add what jobs of these files name."""
        for reference, naming in files.items():
            self.files.setdefault(reference, set()).update(naming)


def references_of(bundle: Bundle, trees: Iterable[Tree]) -> set[Reference]:
    """What objects of a bundle name, in the namespace of its job."""
    owner = bundle.objects[0] if bundle.jobset is None else bundle.jobset
    namespace = str(value(owner, "metadata", "namespace") or "default")
    return {Reference(bundle.cluster, namespace, kind, name) for kind, name in names_in(trees)}


def skip_unlisted(references: Iterable[Reference], cluster: Cluster, report: Report) -> None:
    """Count those without which pods do not start, and of whose kind nobody has listed what the cluster has."""
    for one in references:
        if one.kind in _UNLISTED and cluster.has(one.kind, one.name, one.namespace) is None:
            report.skip(_UNLISTED[one.kind])


def names_in(trees: Iterable[Tree]) -> set[tuple[str, str]]:
    """Kind and name of every object that something in these trees names."""
    names: set[tuple[str, str]] = set()
    todo = list(trees)
    while todo:
        node = todo.pop()
        if type(node) is list:
            todo.extend(node)
        elif type(node) is dict:
            for key, below in node.items():
                if type(below) is Sourced or key in _NAMELESS:
                    continue
                if key in _FIELDS:
                    kind, fields = _FIELDS[key]
                    for entry in below if type(below) is list else (below,):
                        names.update([(kind, str(name)) for field in fields if (name := value(entry, field))])
                if key == "env" and type(below) is list:
                    todo.extend([entry for entry in below if type(entry) is dict and "valueFrom" in entry])
                else:
                    todo.append(below)
            if "serviceAccountName" in node and (account := value(node, "serviceAccountName")):
                names.add(("ServiceAccount", str(account)))
    return names


def provides(tree: Tree) -> tuple[str, str]:
    """The kind and the name under which jobs name an object: of what makes a Secret, those of the Secret."""
    kind, name = str(value(tree, "kind")), str(value(tree, "metadata", "name"))
    if kind not in _MAKERS:
        return kind, name
    made = value(tree, "spec", "target", "name") or value(tree, "spec", "template", "metadata", "name")
    return "Secret", str(made or name)
