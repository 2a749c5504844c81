"""What a GitOps tool has to know of the objects that it applies: annotations of delivery."""

from trainc.lint.tables.created_once import IF_NOT_PRESENT, SSA, SUBSTITUTE
from trainc.model.bundle import Bundle, runs_pods
from trainc.model.document import Document
from trainc.model.patch import LITERALS
from trainc.model.references import KINDS
from trainc.model.settings import Project
from trainc.model.sourced import Sourced, derive
from trainc.model.tree import Tree, leaves, value

WAVE = "argocd.argoproj.io/sync-wave"
OPTIONS = "argocd.argoproj.io/sync-options"
_KEEPS = {OPTIONS: "Prune=false,Delete=false", "kustomize.toolkit.fluxcd.io/prune": "disabled"}
_KEY_MATERIAL = "external-secrets.io"  # the group of what External Secrets makes keys from, and of its generators


def applied(bundle: Bundle, delivery: str, namespace: Sourced[str] | None = None) -> Bundle:
    """The bundle with what the tool that applies it needs; what stands beside the job stays as people wrote it.

    A claim alone gets a mark: no tool deletes it because its job, and its file, are gone. What jobs name is put into
    the cluster's namespace where it names none, as jobs are.
    """
    companions = bundle.plan.companions if bundle.plan is not None else ()
    theirs = {id(document.tree) for document in companions}
    wanted_of = {"": lambda _: {}, "argocd": _argocd, "flux": _flux}[delivery]
    objects = [
        in_namespace(tree, namespace) if id(tree) in theirs else _with(tree, wanted_of(tree), f"delivery: {delivery}")
        for tree in bundle.objects
    ]
    return Bundle(bundle.document, tuple(objects), bundle.plan, cluster=bundle.cluster)


def object_bundle(document: Document, project: Project) -> Bundle:
    """The bundle of one object that jobs name, and that stands in a file of its own."""
    cluster = project.cluster
    return Bundle(document, (in_namespace(document.tree, cluster.namespace),), cluster=cluster.name)


def in_namespace(tree: Tree, namespace: Sourced[str] | None) -> Tree:
    """An object that jobs name, in the namespace that jobs of the cluster have unless it says one; others as they are.

    A claim gets the marks by which Argo CD and Flux keep it when it leaves Git.
    """
    kind = value(tree, "kind")
    if kind not in KINDS:
        return tree
    if namespace is not None and not value(tree, "metadata", "namespace"):
        tree = {**tree, "metadata": {**tree["metadata"], "namespace": namespace}}
    return _with(tree, _KEEPS, "a claim outlives its job") if kind == "PersistentVolumeClaim" else tree


def _with(tree: Tree, wanted: dict[str, str], by: str) -> Tree:
    """An object with these annotations, as far as people said nothing about the same; the very same without any."""
    if not wanted:
        return tree
    metadata = tree.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    annotations = metadata.get("annotations")
    annotations = annotations if type(annotations) is dict else {}
    ours = LITERALS[by].fields(wanted)
    if OPTIONS in ours and OPTIONS in annotations:
        annotations = {**annotations, OPTIONS: _joined(annotations[OPTIONS], ours[OPTIONS])}
    return {**tree, "metadata": {**metadata, "annotations": {**ours, **annotations}}}


def _joined(written: Tree, ours: Sourced[str]) -> Tree:
    """The options that people chose and ours, as far as they say nothing about the same."""
    if type(written) is not Sourced or type(written.value) is not str:
        return written
    missing = [option for option in ours.value.split(",") if f"{option.partition('=')[0]}=" not in written.value]
    if not missing:
        return written
    added = ours.map(lambda _: ",".join(missing))
    return derive("delivery", lambda *texts: ",".join(texts), written, added) if written.value else ours


def _argocd(tree: Tree) -> dict[str, str]:
    """What stands in one sync wave is applied without waiting; a wave that is not the last waits for health.

    A gang is healthy when its pods are there, and those come with the JobSet: both belong in one wave. Key material
    does not wait for pods, and comes first: without it no pod of the job can start. Server-side apply leaves alone what
    a queue writes; a client-side apply replaces whole lists.
    """
    if runs_pods(tree):
        return {OPTIONS: "ServerSideApply=true"}
    group = str(value(tree, "apiVersion")).partition("/")[0]
    return {WAVE: "-1"} if group.endswith(_KEY_MATERIAL) else {}


def _flux(tree: Tree) -> dict[str, str]:
    """A JobSet is created once and never touched again; a shell's `${NAME}` is not a variable of Flux."""
    wanted = {SSA: IF_NOT_PRESENT} if runs_pods(tree) else {}
    if any(type(leaf.value) is str and "${" in leaf.value for _, leaf in leaves(tree)):
        wanted[SUBSTITUTE] = "disabled"
    return wanted
