"""What occurs anywhere in a job: checks that look for something else need not look at all."""

from __future__ import annotations

from trainc.model.remembered import Remembered
from trainc.model.sourced import Sourced
from trainc.verify.data.machines import MACHINE_LABELS
from trainc.verify.policies import policies
from trainc.verify.rules.accelerators import whole_machine
from trainc.verify.rules.hygiene import SERVER_FIELDS
from trainc.verify.rules.life import PREEMPTIBLE
from trainc.verify.rules.templates import TOLERATIONS
from trainc.verify.starting import meeting, settings, starting
from trainc.verify.texts import IMAGES, ODD_CLASSES, ODD_KEYS, ODD_NAMES, ODD_PORTS, ODD_VALUES
from trainc.verify.values import flag, rows, table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Tree
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role


def traits(job: Job) -> tuple[frozenset[str], frozenset[str]]:
    """All fields, variables, resources, annotations and kinds that occur in a job; then words of its commands, and more.

    What many checks look for: `devices`, `script`, `$`, `ranks`, `odd amount`, `odd env`, `odd count`, `odd restart`,
    `meetings`, `odd meeting`, `several meetings`, `several roles`, `several Jobs`, `several containers`, `not Indexed`,
    `parallelism alone`, `labels`, `annotations`, `JobSet annotations` and `beside` (there are other objects). The
    others are named after the one mistake that they may be; each holds wherever its check finds one.
    """
    parts: list[object] = [*job.spec, *job.kinds]
    found: set[str] = set()
    for role in job.roles:
        parts += (*role.tree, *role.spec, *role.pod, *role.annotations, role.disks)
        _role(found, role)
    for container in job.containers:
        parts += (*container.tree, container.names, container.mounts, container.demand)
        _container(found, container)
        settings(found, container)
    for container in job.main:
        starting(found, container)
    meeting(found, job)
    parts += policies(found, job)
    if len(job.roles) > 1:
        found.add("several roles")
    if job.cluster.closed or job.cluster.objects:
        found.add("objects known")
    _metadata(found, job)
    _beside(found, job)
    occurring = _OCCURRING[tuple(parts)]
    _together(found, occurring)
    return occurring, frozenset(found)


def _occurring(parts: tuple[object, ...]) -> frozenset[str]:
    """The names themselves, and the traits of what has traits of its own."""
    found: set[str] = set()
    for part in parts:
        if type(part) is str:
            found.add(part)
        else:
            found |= part.traits  # type: ignore[attr-defined]
    return frozenset(found)


_OCCURRING = Remembered(_occurring)


def _role(found: set[str], role: Role) -> None:
    if not role.name:
        found.add("no role name")
    if "successPolicy" in role.spec:
        found.add("own successPolicy")
    if len(role.containers) > 1:
        found.add("several containers")
        if len({container.name for container in role.containers}) < len(role.containers):
            found.add("same name")
        if len([container for container in role.containers if "ports" in container.tree]) > 1:
            found.add("several ports")
    _counts(found, role)
    if role.labels or role.annotations or "nodeSelector" in role.pod:
        _labels(found, role)
    _pod(found, role)
    _mounts(found, role)
    if role.devices:
        _devices(found, role)


def _counts(found: set[str], role: Role) -> None:
    spec, replicas, width, size = role.spec, role.replicas, role.width, role.size
    if replicas != 1:
        found.add("several Jobs")
    if replicas == 0 or width == 0 or size == 0:
        found.add("odd count")
    if type(replicas) is not int or type(width) is not int or type(size) is not int:
        found.add("unknown count")
    if width is not size and width != size:
        found.add("not at once")
    if "completions" not in spec:
        found.add("no completions")
        if "parallelism" in spec:
            found.add("parallelism alone")
    if not role.indexed:
        found.add("not Indexed")
    if "backoffLimit" not in spec:
        found.add("no backoffLimit")
    for leaf in spec.values():
        if type(leaf) is Sourced and type(leaf.value) is int and leaf.value < 0:
            found.add("odd setting")


def _labels(found: set[str], role: Role) -> None:
    if role.labels:
        found.add("labels")
        if _odd_labels(role.labels):
            found.add("odd label")
    if role.annotations:
        found.add("annotations")
        for key in role.annotations:
            if ODD_KEYS[key]:
                found.add("odd label")
    if "nodeSelector" in role.pod:
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


def _pod(found: set[str], role: Role) -> None:
    pod = role.pod
    if role.restart_policy not in ("Never", "OnFailure"):
        found.add("odd restart")
    if "activeDeadlineSeconds" in pod:
        found.add("pod deadline")
    if pod and not role.main:
        found.add("no containers")
    if "tolerations" in pod and TOLERATIONS[pod["tolerations"]]:
        found.add("odd toleration")
    if "priorityClassName" in pod and ODD_CLASSES[text(pod, "priorityClassName")]:
        found.add("odd priority class")
    for field in ("serviceAccountName", "runtimeClassName", "nodeName"):
        if field in pod and (ODD_CLASSES[text(pod, field)] or not text(pod, field)):
            found.add("odd account")
    grace = pod.get("terminationGracePeriodSeconds")
    if grace is None:
        found.add("no grace")
    elif type(grace) is not Sourced or type(grace.value) is not int or grace.value < 0:
        found.add("odd grace")


def _mounts(found: set[str], role: Role) -> None:
    unused, largest = role.disks.written, role.disks.largest
    for container in role.containers:
        names = container.mounts.names
        unused -= names
        if names and not names <= role.volumes.keys():
            found.add("unknown mount")
        memory = container.demand.memory
        if memory is not None and memory < largest:
            found.add("large tmpfs")
    if unused:
        found.add("unused volume")


def _devices(found: set[str], role: Role) -> None:
    for container in role.main:
        demand = container.demand
        if demand.sharing > 1 and not container.mounts.shm and not flag(role.pod, "hostIPC"):
            found.add("no shm")
    if not role.disks.lasting:
        found.add("nothing lasting")


def _container(found: set[str], container: Container) -> None:
    tree = container.tree
    found |= container.traits
    found |= IMAGES[text(tree, "image")]
    if ODD_NAMES[container.name]:
        found.add("odd container name")
    if "ports" in tree and _odd_ports(rows(tree, "ports")):
        found.add("odd port")


def _odd_ports(ports: list[dict[str, Tree]]) -> bool:
    for port in ports:
        leaf = port.get("containerPort")
        if type(leaf) is not Sourced or type(leaf.value) is not int or not 0 < leaf.value < 65536 or "hostPort" in port:
            return True
        if "name" in port and ODD_PORTS[text(port, "name")]:
            return True
        if "protocol" in port and text(port, "protocol") not in ("TCP", "UDP", "SCTP"):
            return True
    return len(ports) > 1 and len({text(port, "name") for port in ports}) < len(ports)


def _metadata(found: set[str], job: Job) -> None:
    if "annotations" in table(job.tree, "metadata"):
        found.add("JobSet annotations")
    source = job.bundle.document.tree
    metadata = table(source, "metadata")
    if "status" in source or "annotations" in metadata or not SERVER_FIELDS.isdisjoint(metadata):
        found.add("odd metadata")


def _beside(found: set[str], job: Job) -> None:
    if job.kinds:
        found.add("beside")
    for kind, trees in job.kinds.items():
        metadata = table(trees[0], "metadata")
        if len(trees) > 1 or text(metadata, "namespace") != job.namespace:
            found.add("odd beside")
        if kind == "Service" and (len(trees) > 1 or not _joins(trees[0], metadata, job)):
            found.add("odd Service")


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


def _together(found: set[str], occurring: frozenset[str]) -> None:
    """What counts only where two things occur."""
    if "output" in found:
        if "read-only mount" in occurring:
            found.add("output, read-only mount")
        if "emptyDir" in occurring and "maxRestarts" in occurring:
            found.add("output, emptyDir")
    if "no grace" in found and "checkpoints" in found and "devices" in found:
        found.add("checkpoints, no grace")
    if "nothing lasting" in found and "maxRestarts" in occurring:
        found.add("restarts, nothing lasting")
