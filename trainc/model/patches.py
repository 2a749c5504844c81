"""What contributors give back: patches on pods and whole objects, as pure data."""

from __future__ import annotations

from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from trainc.model.cluster import Cluster
    from trainc.model.plan import Plan, Role
    from trainc.model.report import Report
    from trainc.model.tree import Tree

COMPLETION_INDEX: dict[str, Any] = {
    "valueFrom": {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
}


class Patch:
    """Changes to the pods of one role, each an upsert: an element of equal key is replaced whole where it stands.

    With `container` the fields `env`, `ports`, `mounts` and `sets` go to that container (regular ones first, then
    init containers); `volumes`, `init_containers`, `pod`, `labels` and `annotations` go to the pod template.
    A `sets` or `pod` entry of None removes the field.
    """

    __slots__ = (
        "annotations",
        "container",
        "env",
        "init_containers",
        "labels",
        "mounts",
        "pod",
        "ports",
        "role",
        "sets",
        "volumes",
    )

    def __init__(
        self,
        role: int,
        container: str = "",
        *,
        env: tuple[Tree, ...] = (),
        ports: tuple[Tree, ...] = (),
        mounts: tuple[Tree, ...] = (),
        sets: Mapping[str, Tree] | None = None,
        volumes: tuple[Tree, ...] = (),
        init_containers: tuple[Tree, ...] = (),
        pod: Mapping[str, Tree] | None = None,
        labels: Mapping[str, Tree] | None = None,
        annotations: Mapping[str, Tree] | None = None,
    ) -> None:
        self.role = role
        self.container = container
        self.env = env
        self.ports = ports
        self.mounts = mounts
        self.sets = sets or {}
        self.volumes = volumes
        self.init_containers = init_containers
        self.pod = pod or {}
        self.labels = labels or {}
        self.annotations = annotations or {}

    def stamped(self, by: str) -> Patch:
        """This patch with every bare scalar sourced from `by`."""
        return Patch(
            self.role,
            self.container,
            env=tuple(stamp(e, by) for e in self.env),
            ports=tuple(stamp(p, by) for p in self.ports),
            mounts=tuple(stamp(m, by) for m in self.mounts),
            sets={key: node if node is None else stamp(node, by) for key, node in self.sets.items()},
            volumes=tuple(stamp(v, by) for v in self.volumes),
            init_containers=tuple(stamp(c, by) for c in self.init_containers),
            pod={key: node if node is None else stamp(node, by) for key, node in self.pod.items()},
            labels={key: stamp(node, by) for key, node in self.labels.items()},
            annotations={key: stamp(node, by) for key, node in self.annotations.items()},
        )


class Contribution:
    """What a framework or a scheduler adds to a plan; it keeps no reference to it.

    `counts` replaces the number of pods of a role (by index); `objects` are whole manifests without namespace.
    `labels` and `annotations` go to the JobSet itself.
    """

    __slots__ = ("annotations", "counts", "labels", "objects", "patches")

    def __init__(
        self,
        patches: Iterable[Patch] = (),
        *,
        objects: Iterable[Tree] = (),
        counts: Mapping[int, Sourced[int]] | None = None,
        labels: Mapping[str, Tree] | None = None,
        annotations: Mapping[str, Tree] | None = None,
    ) -> None:
        self.patches = tuple(patches)
        self.objects = tuple(objects)
        self.counts = dict(counts or {})
        self.labels = dict(labels or {})
        self.annotations = dict(annotations or {})

    def __add__(self, other: Contribution) -> Contribution:
        return Contribution(
            (*self.patches, *other.patches),
            objects=(*self.objects, *other.objects),
            counts={**self.counts, **other.counts},
            labels={**self.labels, **other.labels},
            annotations={**self.annotations, **other.annotations},
        )

    def stamped(self, by: str) -> Contribution:
        """This contribution with every bare scalar sourced from `by`."""
        return Contribution(
            [patch.stamped(by) for patch in self.patches],
            objects=[stamp(tree, by) for tree in self.objects],
            counts=self.counts,
            labels={key: stamp(node, by) for key, node in self.labels.items()},
            annotations={key: stamp(node, by) for key, node in self.annotations.items()},
        )


def variable(name: str, content: Any) -> Tree:
    """One complete env entry: `content` is text, a number, a sourced value, or a mapping with `valueFrom`."""
    if type(content) is dict:
        return {"name": name, **content}
    if type(content) is Sourced:
        return {"name": name, "value": content.map(str)}
    return {"name": name, "value": str(content)}


def on(
    role: Role | None,
    container: str = "node",
    *,
    env: Mapping[str, Any] | None = None,
    ports: Iterable[int] = (),
    mounts: Iterable[Mapping[str, Any]] = (),
    **sets: Any,
) -> Contribution:
    """Env, ports, mounts and fields (`command=`, `args=`, `image=`) on one container; nothing where it is missing."""
    if role is None or (role.container(container) or role.init_container(container)) is None:
        return Contribution()
    patch = Patch(
        role.index,
        container,
        env=tuple(variable(name, content) for name, content in (env or {}).items()),
        ports=tuple({"containerPort": port} for port in ports),
        mounts=tuple(dict(mount) for mount in mounts),
        sets=sets,
    )
    return Contribution([patch])


def pod(
    role: Role,
    *,
    volumes: Iterable[Mapping[str, Any]] = (),
    init_containers: Iterable[Mapping[str, Any]] = (),
    labels: Mapping[str, Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
    **spec: Any,
) -> Contribution:
    """Volumes, init containers, labels, annotations and pod-spec fields on every pod of one role."""
    patch = Patch(
        role.index,
        volumes=tuple(dict(v) for v in volumes),
        init_containers=tuple(dict(c) for c in init_containers),
        pod=spec,
        labels=labels,
        annotations=annotations,
    )
    return Contribution([patch])


PODS, PROCESSES = "pods", "processes"  # numbers that a framework may compute with


class Framework:
    """What a process needs to meet its peers.

    `reserved` are the variables a job must not set; `refuse` words that refusal as the TrainJob webhook does, given
    the plan and the report. `env_first` puts the framework's variables before the job's own. `verify` looks at a
    plan for mistakes that only this framework knows. `computes` says which numbers it does more with than copy them:
    those that are filled in later stop the job.
    """

    __slots__ = ("computes", "env_first", "lower", "name", "refuse", "reserved", "verify")

    def __init__(
        self,
        name: str,
        lower: Callable[[Plan], Contribution],
        *,
        reserved: tuple[str, ...] = (),
        refuse: Callable[[Plan, Report], None] | None = None,
        env_first: bool = False,
        verify: Callable[[Plan, Report], None] | None = None,
        computes: tuple[str, ...] = (PODS, PROCESSES),
    ) -> None:
        self.name = name
        self.lower = lower
        self.reserved = reserved
        self.refuse = refuse
        self.env_first = env_first
        self.computes = computes
        self.verify = verify


class Scheduler:
    """How pods get placed together: `gang` sees the plan after the framework and gives patches and whole objects.

    `policy` does what the Trainer controller does for the `podGroupPolicy` of this name, where it has one. `refuse`
    words the TrainJob webhook's refusals for that policy. `verify` looks at a plan for what this back end cannot do.
    """

    __slots__ = ("gang", "name", "policy", "refuse", "verify")

    def __init__(
        self,
        name: str,
        gang: Callable[[Plan, Cluster], Contribution],
        *,
        policy: Callable[[Plan], Contribution] | None = None,
        refuse: Callable[[Plan, Cluster, Report], None] | None = None,
        verify: Callable[[Plan, Cluster, Report], None] | None = None,
    ) -> None:
        self.name = name
        self.gang = gang
        self.policy = policy
        self.refuse = refuse
        self.verify = verify


def literal(value: Any, by: str) -> Sourced[Any]:
    """A value that code decided on, with nothing of the user's behind it."""
    return Sourced(value, Origin(by=by))
