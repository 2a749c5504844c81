"""How a job looks: the same for most jobs of one runtime, whatever they are called and whatever they run."""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.verify.data.machines import MACHINE_LABELS
from trainc.verify.policies import FAILURES, POD_POLICIES
from trainc.verify.rules.accelerators import whole_machine
from trainc.verify.rules.hygiene import APPLIED, SERVER_FIELDS
from trainc.verify.rules.life import PREEMPTIBLE
from trainc.verify.rules.templates import TOLERATIONS
from trainc.verify.starting import meeting, starting
from trainc.verify.texts import ODD_KEYS, ODD_VALUES
from trainc.verify.values import table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.verify.contents import Outline as ContainerOutline
    from trainc.verify.disks import Volumes
    from trainc.verify.frames import Frame, Work
    from trainc.verify.job import Job
    from trainc.verify.pods import Role
    from trainc.verify.policies import Failures, PodPolicy

    Fields = tuple[str, ...]
    RoleOutline = tuple[
        Fields,
        Work,
        Frame,
        Fields,
        Volumes,
        PodPolicy | None,
        tuple[ContainerOutline, ...],
        tuple[ContainerOutline, ...],
    ]
    Outline = tuple[Fields, Fields, Failures, tuple[RoleOutline, ...], frozenset[str]]


def outline(job: Job) -> Outline:
    """The fields of the JobSet, the kinds beside it, its failure policy, its roles, and the traits of single texts.

    Of a role: its fields, its Jobs, its pods, their annotations, their volumes, their failure policy, their init
    containers, their containers; of each its fields, variables, mounts and amounts. Two jobs that look the same have
    the same traits; only what is seen here may tell whether a check is worth it.
    """
    found: set[str] = set()
    roles = tuple([_role(found, role) for role in job.roles])
    meeting(found, job)
    if job.cluster.closed or job.cluster.objects:
        found.add("objects known")
    if "annotations" in table(job.tree, "metadata"):
        found.add("JobSet annotations")
    _source(found, job.bundle.document.tree)
    kinds = _beside(found, job)
    return tuple(job.spec), kinds, FAILURES[job.spec.get("failurePolicy")], roles, frozenset(found)


def _role(found: set[str], role: Role) -> RoleOutline:
    pod, spec = role.pod, role.spec
    if not role.name:
        found.add("no role name")
    annotations = _metadata(found, role) if role.metadata else ()
    if "nodeSelector" in pod:
        _selector(found, role)
    if "tolerations" in pod and TOLERATIONS[pod["tolerations"]]:
        found.add("odd toleration")
    for container in role.containers:
        found |= container.traits
    for container in role.main:
        starting(found, container)
    return (
        tuple(role.tree),
        role.work,
        role.frame,
        annotations,
        role.disks,
        POD_POLICIES[spec["podFailurePolicy"]] if "podFailurePolicy" in spec else None,
        tuple([container.outline for container in role.init]) if role.init else (),
        tuple([container.outline for container in role.main]),
    )


def _metadata(found: set[str], role: Role) -> Fields:
    """The annotations of the pods."""
    labels, annotations = role.labels, role.annotations
    if labels:
        found.add("labels")
        if _odd_labels(labels):
            found.add("odd label")
    for key in annotations:
        if ODD_KEYS[key]:
            found.add("odd label")
    return tuple(annotations)


def _selector(found: set[str], role: Role) -> None:
    selector = table(role.pod, "nodeSelector")
    if _odd_labels(selector):
        found.add("odd label")
    if not MACHINE_LABELS.isdisjoint(selector) and not whole_machine(role):
        found.add("odd machine")
    if not PREEMPTIBLE.isdisjoint(selector):
        found.add("preemptible")


def _odd_labels(labels: dict[str, Tree]) -> bool:
    for key, leaf in labels.items():
        if ODD_KEYS[key] or (type(leaf) is Sourced and type(leaf.value) is str and ODD_VALUES[leaf.value]):
            return True
    return False


def _source(found: set[str], source: Tree) -> None:
    metadata = table(source, "metadata")
    if (
        "status" in source
        or ("annotations" in metadata and APPLIED in table(metadata, "annotations"))
        or not SERVER_FIELDS.isdisjoint(metadata)
    ):
        found.add("odd metadata")


def _beside(found: set[str], job: Job) -> Fields:
    """The kinds of the objects beside the JobSet."""
    kinds: list[str] = []
    for tree in job.bundle.objects:
        if tree is job.tree:
            continue
        kind, metadata = text(tree, "kind"), table(tree, "metadata")
        if kind in kinds or text(metadata, "namespace") != job.namespace:
            found.add("odd beside")
        if kind == "Service" and (kind in kinds or not _joins(tree, metadata, job)):
            found.add("odd Service")
        kinds.append(kind)
    return tuple(kinds)


def _joins(service: Tree, metadata: Tree, job: Job) -> bool:
    """Whether a Service is the one by which the pods of the job find each other."""
    spec = table(service, "spec")
    selector = table(spec, "selector")
    return (
        text(metadata, "name") == job.subdomain
        and text(spec, "clusterIP") == "None"
        and len(selector) == 1
        and text(selector, "jobset.sigs.k8s.io/jobset-name") == job.name
    )
