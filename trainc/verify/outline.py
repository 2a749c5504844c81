"""How a job looks: the same for most jobs of one runtime, whatever they are called and whatever they run."""

from __future__ import annotations

from trainc.verify.policies import FAILURES, POD_POLICIES
from trainc.verify.rules.accelerators import takes_whole
from trainc.verify.rules.hygiene import APPLIED, SERVER_FIELDS
from trainc.verify.rules.networks import TCPXO
from trainc.verify.starting import meeting, starting
from trainc.verify.values import table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.verify.casings import Outline as CasingOutline
    from trainc.verify.contents import Outline as ContainerOutline
    from trainc.verify.frames import Work
    from trainc.verify.job import Job
    from trainc.verify.pods import Role
    from trainc.verify.policies import Failures, PodPolicy

    Fields = tuple[str, ...]
    RoleOutline = tuple[Fields, Work, CasingOutline, Fields, PodPolicy | None, tuple[ContainerOutline, ...]]
    Outline = tuple[Fields, Fields, Failures, tuple[RoleOutline, ...], frozenset[str]]


def outline(job: Job) -> Outline:
    """The fields of the JobSet, the kinds beside it, its failure policy, its roles, and the traits of single texts.

    Of a role: its fields, its Jobs, the casing of its pods, their annotations, their failure policy, their containers;
    of each of these its fields, variables, mounts and amounts. Two jobs that look the same have the same traits; only
    what is seen here may tell whether a check is worth it.
    """
    found: set[str] = set()
    roles = tuple([_role(found, role) for role in job.roles])
    meeting(found, job)
    if job.cluster.closed or job.cluster.objects:
        found.add("objects known")
    _source(found, job.bundle.document.tree)
    kinds = _beside(found, job)
    return tuple(job.spec), kinds, FAILURES[job.spec.get("failurePolicy")], roles, frozenset(found)


def _role(found: set[str], role: Role) -> RoleOutline:
    casing, spec = role.casing, role.spec
    found |= casing.traits
    found |= role.selector.traits
    if not role.name:
        found.add("no role name")
    annotations = tuple(table(role.metadata, "annotations")) if role.metadata else ()
    machine = role.selector.machine
    if role.selector.chooses and (machine is None or not takes_whole(role, machine)):
        found.add("odd machine")
    for container in role.main:
        found |= container.traits
        starting(found, container)
        if TCPXO in container.names.traits or "tcpxo daemon" in found:
            _tcpxo(found, role)
    return (
        tuple(role.tree),
        role.work,
        casing.outline,
        annotations,
        POD_POLICIES[spec["podFailurePolicy"]] if "podFailurePolicy" in spec else None,
        tuple([container.outline for container in role.main]),
    )


def _tcpxo(found: set[str], role: Role) -> None:
    """Add the trait of a set-up of GPUDirect-TCPXO that may lack a part."""
    annotations = role.annotations
    daemons = [contents.name for contents in (*role.casing.init, *role.main) if "tcpxo daemon" in contents.traits]
    users = [container for container in role.main if TCPXO in container.names.traits]
    whole = (
        users
        and not [user for user in users if "aperture devices" not in user.mounts.traits]
        and daemons
        and f"devices.gke.io/container.{daemons[0]}" in annotations
        and "networking.gke.io/interfaces" in annotations
    )
    if (users or daemons) and not whole:
        found.add("half TCPXO")


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
    try:
        spec = service["spec"]
        ((key, name),) = spec["selector"].items()
        return bool(
            metadata["name"].value == job.subdomain
            and spec["clusterIP"].value == "None"
            and key == "jobset.sigs.k8s.io/jobset-name"
            and name.value == job.name
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return False  # a part of it is missing
