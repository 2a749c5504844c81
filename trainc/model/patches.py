"""What contributors give back: patches on pods and whole objects, as pure data."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from trainc.model.cluster import Cluster
from trainc.model.patch import LITERALS, Patch
from trainc.model.plan import Plan, Role
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree
from trainc.model.vocabulary import Vocabulary
from trainc.text.object_keys import POD_INDEX

GPU, TPU, NEURON, EFA = "gpu", "tpu", "neuron", "efa"  # what machines have; EFA is the network of GPUs on EKS
COMPLETION_INDEX: dict[str, Any] = {"valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{POD_INDEX}']"}}}
POD_IP: dict[str, Any] = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
_NOTHING: dict[Any, Any] = {}  # what all that are empty share; nobody writes into a patch
PODS, PROCESSES = "pods", "processes"  # numbers that a framework may compute with


class Start(NamedTuple):
    """The shipped runtime of a framework, and how `trainc new` starts from it."""

    runtime: str
    words: tuple[str, ...]  # that start a program; `{processes}` stands for all processes
    about: str
    machines: tuple[str, ...] = (GPU,)  # the sorts that `--on` offers for it; a job without `--on` is not asked
    args: tuple[str, ...] = ()  # that go with the usual words
    has_launcher: bool = False
    has_shared_memory: bool = False  # whether the runtime mounts /dev/shm
    is_named: bool = False  # whether jobs have to refer to the shipped runtime by its own name, on one node


class Contribution:
    """What a framework or a scheduler adds to a plan; `labels` and `annotations` go to the JobSet itself."""

    __slots__ = ("annotations", "counts", "empty", "labels", "objects", "patches", "sourced")

    def __init__(
        self,
        patches: Iterable[Patch] = (),
        *,
        objects: Iterable[Tree] = (),  # whole manifests without namespace
        counts: Mapping[int, Sourced[int]] | None = None,  # by index of a role, the number of its pods from now on
        labels: Mapping[str, Tree] | None = None,
        annotations: Mapping[str, Tree] | None = None,
        sourced: bool = False,  # whether every leaf knows its origin already
    ) -> None:
        self.patches = tuple(patches)
        self.objects = tuple(objects)
        self.counts: Mapping[int, Sourced[int]] = dict(counts) if counts else _NOTHING
        self.labels: Mapping[str, Tree] = dict(labels) if labels else _NOTHING
        self.annotations: Mapping[str, Tree] = dict(annotations) if annotations else _NOTHING
        self.empty = not (self.patches or self.objects or counts or labels or annotations)  # it adds nothing
        self.sourced = sourced or self.empty

    def __add__(self, other: "Contribution") -> "Contribution":
        if other.empty:
            return self
        if self.empty:
            return other
        return Contribution(
            self.patches + other.patches,
            objects=self.objects + other.objects,
            counts={**self.counts, **other.counts},
            labels={**self.labels, **other.labels},
            annotations={**self.annotations, **other.annotations},
            sourced=self.sourced and other.sourced,
        )

    def attach_origin(self, by: str) -> "Contribution":
        """This contribution with every bare scalar sourced from `by`."""
        if self.sourced:
            return self
        literals = LITERALS[by]
        return Contribution(
            [patch.attach_origin(by) for patch in self.patches],
            objects=literals.items(self.objects),
            counts=self.counts,
            labels=literals.fields(self.labels),
            annotations=literals.fields(self.annotations),
            sourced=True,
        )


_ADDS_NOTHING = Contribution()


def variable(name: str, content: Any) -> Tree:
    """One complete env entry: `content` is text, a number, a sourced value, or a mapping with `valueFrom`."""
    if type(content) is Sourced:
        return {"name": name, "value": content if type(content.value) is str else content.map(str)}
    if type(content) is dict:
        return {"name": name, **content}
    return {"name": name, "value": str(content)}


def on(
    role: Role | None,
    container: str = "node",
    *,
    env: Mapping[str, Any] | tuple[Tree, ...] | None = None,
    ports: Iterable[int] = (),
    mounts: Iterable[Mapping[str, Any]] = (),
    init: bool = False,
    **sets: Any,
) -> Contribution:
    """Env, ports, mounts and fields (`command=`, `args=`, `image=`) on one container; nothing where it is missing.

    With `init` an init container of that name will do where no other has it.
    """
    if role is None or (role.container(container) is None and not (init and role.init_container(container))):
        return _ADDS_NOTHING
    patch = Patch(
        role.index,
        container,
        env=env if isinstance(env, tuple) else tuple([variable(*one) for one in env.items()]) if env else (),
        ports=tuple([{"containerPort": number} for number in ports]) if ports else (),
        mounts=tuple([dict(mount) for mount in mounts]) if mounts else (),
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
        volumes=tuple([dict(v) for v in volumes]),
        init_containers=tuple([dict(c) for c in init_containers]),
        pod=spec,
        labels=labels,
        annotations=annotations,
    )
    return Contribution([patch])


class Framework(NamedTuple):
    """What a process needs to meet its peers."""

    name: str
    lower: Callable[[Plan], Contribution]
    vocabulary: Vocabulary = Vocabulary()  # what its processes go by, for checks of pods, refusals and migration
    refuse: Callable[[Plan, Report], None] | None = None  # in the words of the TrainJob webhook
    refuses_reserved: bool = False  # whether `refuse` tells a job that it sets a `reserved` variable
    env_first: bool = False  # whether the framework's variables stand before the job's own
    verify: Callable[[Plan, Report], None] | None = None  # finds mistakes that only this framework knows
    # Which numbers, of every plan or of the given one, it does more with than copy them: those that are filled in
    # later stop the job.
    computes: tuple[str, ...] | Callable[[Plan], tuple[str, ...]] = (PODS, PROCESSES)
    asks: tuple[str, ...] = ()  # the fields of `spec.trainer` that a job cannot leave to its runtime
    starts: Mapping[str, Start] = _NOTHING  # by the names that `trainc new --framework` takes for it
    # What it adds whatever these numbers are, for a look at a job in which they are filled in later.
    lower_unsized: Callable[[Plan], Contribution] | None = None
    has_slots: bool = False  # whether `numProcPerNode` is how many processes a node runs

    def needs(self, plan: Plan) -> tuple[str, ...]:
        """The numbers of a plan that have to be known."""
        return self.computes(plan) if callable(self.computes) else self.computes


class Scheduler(NamedTuple):
    """How pods get placed together."""

    name: str
    gang: Callable[[Plan, Cluster], Contribution]  # patches and whole objects for the plan after the framework
    policy: Callable[[Plan], Contribution] | None = None  # what the Trainer controller does for such a `podGroupPolicy`
    refuse: Callable[[Plan, Cluster, Report], None] | None = None  # the TrainJob webhook's refusals for that policy
    verify: Callable[[Plan, Cluster, Report], None] | None = None  # what this back end cannot do


def literal(value: Any, by: str) -> Sourced[Any]:
    """A value that code decided on, with nothing of the user's behind it."""
    return Sourced(value, Origin(None, by, ()))
