"""The pods that a replicatedJob becomes, as one record for all of them: nothing here grows with the number of pods."""

from __future__ import annotations

from trainc.lint.facts.containers import INIT, SIDECAR, Container, index_of
from trainc.lint.facts.values import UNKNOWN, Unknown, flag, rows, table, text, whole
from trainc.text.object_keys import JOB_NAME_LABELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Job
    from trainc.lint.facts.values import Value
    from trainc.model.tree import Path, Tree

Count = int | Unknown

_KNOWN_LATER = frozenset(
    (
        "metadata.name",
        "metadata.uid",
        "spec.nodeName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    )
)


class ExpandedRole:
    """All pods of one replicatedJob: `replicas` child Jobs of `size` pods each.

    `size` is the number of indices of a Job (of pods at once, where it is not indexed), `width` how many run at once;
    `devices` are the accelerators of one pod by resource, summed over the containers that run side by side. `indexed`
    says whether each pod of a Job has an index of its own: the JobSet webhook's default is that it has. `volumes` are
    those of its pods by name; `init` the init containers, sidecars among them.
    """

    __slots__ = (
        "devices",
        "index",
        "indexed",
        "init",
        "job",
        "main",
        "metadata",
        "name",
        "pod",
        "replicas",
        "size",
        "spec",
        "tree",
        "volumes",
        "width",
    )

    def __init__(self, job: Job, index: int, tree: Tree) -> None:
        self.job = job
        self.index = index
        self.tree = tree
        self.name = text(tree, "name")
        self.spec = table(table(tree, "template"), "spec")
        template = table(self.spec, "template")
        self.pod = table(template, "spec")
        self.metadata = table(template, "metadata")
        self.indexed = text(self.spec, "completionMode") in ("", "Indexed")
        self.replicas, self.width, self.size = _counts(tree, self.spec)
        self.volumes: dict[str, Tree] = {text(volume, "name"): volume for volume in rows(self.pod, "volumes")}
        self.main = [Container(self, tree, at) for at, tree in enumerate(rows(self.pod, "containers"))]
        self.init = [Container(self, tree, at, _kind(tree)) for at, tree in enumerate(rows(self.pod, "initContainers"))]
        self.devices = _summed(self.main)

    def close(self) -> None:
        """Let go of the containers, which point back at this role."""
        for container in self.containers:
            container.close()
        self.main, self.init = [], []

    @property
    def containers(self) -> list[Container]:
        """All containers, in the order in which they start."""
        return [*self.init, *self.main] if self.init else self.main

    @property
    def labels(self) -> dict[str, Tree]:
        """The labels of its pods."""
        return table(self.metadata, "labels")

    @property
    def annotations(self) -> dict[str, Tree]:
        """The annotations of its pods."""
        return table(self.metadata, "annotations")

    @property
    def path(self) -> Path:
        """Where the replicatedJob stands in the JobSet."""
        return ("spec", "replicatedJobs", self.index)

    @property
    def spec_path(self) -> Path:
        """Where the spec of its Jobs stands."""
        return ("spec", "replicatedJobs", self.index, "template", "spec")

    @property
    def pod_path(self) -> Path:
        """Where the spec of its pods stands."""
        return ("spec", "replicatedJobs", self.index, "template", "spec", "template", "spec")

    @property
    def count(self) -> Count:
        """How many pods the role has at once, unknown where a number is."""
        if type(self.replicas) is int and type(self.width) is int:
            return self.replicas * self.width
        return UNKNOWN

    @property
    def several(self) -> bool:
        """Whether the role is known to have more than one pod at once."""
        count = self.count
        return type(count) is int and count > 1

    @property
    def worker(self) -> Container | None:
        """The container that holds accelerators: the first with any, else the first."""
        for container in self.main:
            if container.devices:
                return container
        return self.main[0] if self.main else None

    @property
    def trainer(self) -> Container | None:
        """The container that trains: the first in which a launcher starts processes, else the one with accelerators."""
        for container in self.main:
            if container.launch is not None and container.launch.launcher is not None:
                return container
        return self.worker

    @property
    def host_network(self) -> bool:
        """Whether the pods use the network of their nodes."""
        return flag(self.pod, "hostNetwork")

    def host(self, job: int | str = 0, pod: int | str = 0) -> str:
        """The host name of one pod; its DNS name is that, a dot and the subdomain."""
        return f"{self.job.name}-{pod}" if self.job.bundle.keeps_job else f"{self.job.name}-{self.name}-{job}-{pod}"

    def address(self, job: int | str = 0, pod: int | str = 0) -> str:
        """The DNS name under which the peers in the namespace find one pod."""
        return f"{self.host(job, pod)}.{self.job.subdomain}"

    def field(self, path: str) -> Value:
        """What the downward API gives for a field of the pods."""
        if path.startswith("metadata.") and path.endswith("']"):
            section, _, key = path[:-2].partition("['")
            return self._metadata(section, key)
        if path == "metadata.namespace":
            return self.job.namespace or UNKNOWN
        if path == "spec.serviceAccountName":
            return text(self.pod, "serviceAccountName") or "default"
        return Unknown(path) if path in _KNOWN_LATER else UNKNOWN

    def _metadata(self, section: str, key: str) -> Value:
        index = index_of(key)
        if index is not None:
            return index
        system = self.system(key)
        if system is not None:
            return system
        labels = self.labels if section == "metadata.labels" else self.annotations
        if key in labels:
            return text(labels, key)
        return UNKNOWN if "kubernetes.io/" in key or "k8s.io/" in key else ""

    def system(self, key: str) -> Value | None:
        """The value of a label that the JobSet controller writes on every pod of the role, None for other keys."""
        if self.job.bundle.keeps_job:
            return self.job.name if key in JOB_NAME_LABELS else None
        prefix, _, name = key.partition("/")
        if prefix != "jobset.sigs.k8s.io":
            return None
        if name == "jobset-name":
            return self.job.name
        if name == "replicatedjob-name":
            return self.name
        if name == "replicatedjob-replicas":
            return str(self.replicas) if type(self.replicas) is int else UNKNOWN
        if name == "global-replicas":
            return self.job.global_replicas
        if name == "group-name":
            return text(self.tree, "groupName") or "default"
        if name == "restart-attempt":
            return "0"
        if name == "coordinator":
            return self.job.coordinator
        return UNKNOWN

    def __repr__(self) -> str:
        return f"Role({self.name} {self.replicas}x{self.size})"


def _counts(role: Tree, spec: Tree) -> tuple[Count, Count, Count]:
    """The number of Jobs of a role; how many pods of a Job run at once; how many indices a Job has."""
    replicas, width, size = whole(role, "replicas"), whole(spec, "parallelism"), whole(spec, "completions")
    at_once: Count = 1 if width is None else width
    if type(at_once) is int and type(size) is int and size < at_once:
        at_once = size
    return 1 if replicas is None else replicas, at_once, at_once if size is None else size


def _kind(container: Tree) -> str:
    return SIDECAR if text(container, "restartPolicy") == "Always" else INIT


def _summed(containers: list[Container]) -> dict[str, Count]:
    sums: dict[str, Count] = {}
    for container in containers:
        for resource, number in container.devices.items():
            other = sums.get(resource, 0)
            sums[resource] = other + number if type(other) is int and type(number) is int else UNKNOWN
    return sums
