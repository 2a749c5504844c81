"""Every module of rules, and the fields without which it has nothing to look at."""

from collections.abc import Callable, Iterator

from trainc.apiserver.frame import frame_of
from trainc.lint.facts.job import Findings, Job
from trainc.lint.facts.values import table
from trainc.model.tree import Tree

Checks = tuple[Callable[[Job], Findings], ...]

_PROCESSES = ("container.command", "container.args", "container.env")
# Modules of checks, and the fields of which a job must have one for the module to find anything.
MODULES: dict[str, tuple[str, ...]] = {
    "life": ("JobSet",),
    "hygiene": ("JobSet",),
    "topology": _PROCESSES,
    "commands": (*_PROCESSES, "containers.1", "pod.initContainers"),
    "scripts": _PROCESSES,
    "meeting": _PROCESSES,
    "mesh": _PROCESSES,
    "environment": _PROCESSES,
    "references": _PROCESSES,
    "exits": (
        *_PROCESSES, "roles.1", "role.dependsOn", "Job.ttlSecondsAfterFinished", "Job.activeDeadlineSeconds",
        "spec.ttlSecondsAfterFinished",
    ),
    "security": (*_PROCESSES, "pod.hostPID", "pod.hostIPC", "pod.securityContext", "container.securityContext"),
    "mpi": ("roles.1", "beside.ConfigMap"),
    "resources": ("container.resources",),
    "networks": (
        "container.resources", "container.env", "pod.hostNetwork", "container.ports", "pod.initContainers",
        "containers.1",
    ),
    "tpu": ("resources.google.com/tpu",),
    "nodes": (
        "pod.nodeSelector", "pod.resourceClaims", "beside.ComputeDomain", "template.annotations", "pod.affinity",
        "pod.schedulerName",
    ),
    "pods": ("JobSet",),
    "volumes": ("pod.volumes", "container.volumeMounts", "spec.volumeClaimPolicies"),
    "files": (
        "pod.volumes", "pod.imagePullSecrets", "container.volumeMounts", "container.env", "container.envFrom",
        "spec.volumeClaimPolicies",
    ),
    "annotations": ("volume.csi", "template.annotations", "written.annotations"),
}  # fmt: skip

_READ: dict[str, dict[str, str]] = {}  # the fields that a module declares, by the object that has them
for paths in MODULES.values():
    for path in paths:
        _READ.setdefault(path.partition(".")[0], {})[path.partition(".")[2]] = path
_MAX_FRAMES = 1_000
_CHOSEN: dict[tuple[int, frozenset[str], bool], Checks] = {}


def fields_of(job: Job) -> frozenset[str]:
    """The fields of a job that some module declares."""
    paths = ["JobSet"]
    paths += [path for parent, tree in _objects(job) for field, path in _READ[parent].items() if field in tree]
    if len(job.roles) > 1:
        paths.append("roles.1")
    if any(len(role.main) > 1 for role in job.roles):
        paths.append("containers.1")
    return frozenset(paths)


def _objects(job: Job) -> Iterator[tuple[str, Tree]]:
    """The objects that a job consists of, each with what `MODULES` calls it."""
    yield "beside", job.kinds
    yield "written", table(job.bundle.document.tree, "metadata")
    yield "written", job.metadata
    yield "spec", job.spec
    for role in job.roles:
        yield "role", role.tree
        yield "Job", role.spec
        yield "pod", role.pod
        yield "template", role.metadata
        for volume in role.volumes.values():
            yield "volume", volume
        for container in role.containers:
            yield "container", container.tree
            yield "resources", container.limits
            yield "resources", container.requests


def checks_of(module: str) -> Checks:
    """The checks of a module, which is loaded for the first job that has one of its fields."""
    return __import__(f"trainc.lint.rules.{module}", fromlist=["CHECKS"]).CHECKS  # type: ignore[no-any-return]


def checks_for(job: Job) -> Checks:
    """The checks that may find something in a job, in the order in which they look: the same for jobs of one frame."""
    written = table(job.bundle.document.tree, "metadata")
    key = frame_of(job.tree), frozenset(job.kinds), "annotations" in written or "annotations" in job.metadata
    if (chosen := _CHOSEN.get(key)) is None:
        if len(_CHOSEN) >= _MAX_FRAMES:
            _CHOSEN.clear()
        fields = fields_of(job)
        modules = [module for module, read in MODULES.items() if not fields.isdisjoint(read)]
        chosen = _CHOSEN[key] = tuple([check for module in modules for check in checks_of(module)])
    return chosen


def all_checks() -> Checks:
    """Every check of this stage."""
    return tuple([check for module in MODULES for check in checks_of(module)])
