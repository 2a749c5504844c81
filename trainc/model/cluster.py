"""What is known of the cluster that a bundle is for: the part of it that placing pods together depends on."""

from __future__ import annotations

from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from trainc.model.document import Document
    from trainc.model.sourced import Sourced
    from trainc.model.tree import Tree

Version = tuple[int, int]

UNITS = WHOLE, ROLES, REPLICAS = "whole", "roles", "replicas"


class Cluster:
    """One cluster as its settings and its folder of dumps describe it; whatever is None is not known.

    `scheduler` names the back end that replaces every other choice, `scheduler_name` the profile its pods ask for.
    `topology` is the widest domain one job may span: a node label, with Volcano the number of a tier.
    `unit` says what counts as a gang inside the job: `whole`, `roles` (each with its own minimum) or `replicas`.
    `objects` holds the dumps by kind, then by name (`namespace/name` for namespaced kinds).
    `name` is empty for the one cluster of a project that names none; `paths` are globs of the jobs that it runs.
    `patch` is a partial runtime spec over every runtime, `images` rewrites registries and pins digests.
    """

    __slots__ = (
        "admission",
        "autoscaling",
        "closed",
        "components",
        "definitions",
        "gates",
        "images",
        "injected",
        "jobset",
        "kubernetes",
        "kueue",
        "name",
        "namespace",
        "objects",
        "patch",
        "paths",
        "queue",
        "runtimes",
        "scheduler",
        "scheduler_name",
        "timeout",
        "topology",
        "unit",
    )

    def __init__(
        self,
        *,
        scheduler: Sourced[str] | None = None,
        scheduler_name: Sourced[str] | None = None,
        queue: Sourced[str] | None = None,
        topology: Sourced[str] | None = None,
        timeout: Sourced[int] | None = None,
        unit: str = WHOLE,
        kubernetes: Version | None = None,
        jobset: Version | None = None,
        kueue: Version | None = None,
        gates: Iterable[str] = (),
        admission: Iterable[str] = (),
        autoscaling: bool = False,
        injected: Tree = None,
        objects: Mapping[str, Mapping[str, Tree]] | None = None,
        closed: bool = False,
        name: str = "",
        namespace: Sourced[str] | None = None,
        paths: tuple[Sourced[str], ...] = (),
        components: tuple[Sourced[str], ...] = (),
        patch: Tree = None,
        images: Mapping[str, Mapping[str, Sourced[str]]] | None = None,
        runtimes: tuple[Document, ...] = (),
        definitions: tuple[Document, ...] = (),
    ) -> None:
        self.name = name
        self.namespace = namespace  # of jobs that name none
        self.paths = paths
        self.components = components
        self.patch = patch
        self.images: Mapping[str, Mapping[str, Sourced[str]]] = images or {}
        self.runtimes = runtimes
        self.definitions = definitions
        self.scheduler = scheduler
        self.scheduler_name = scheduler_name
        self.queue = queue  # for jobs that name none
        self.topology = topology
        self.timeout = timeout  # seconds that a gang of coscheduling waits for its last pod
        self.unit = unit
        self.kubernetes = kubernetes
        self.jobset = jobset
        self.kueue = kueue
        self.gates = frozenset(gates)
        self.admission = frozenset(admission)  # whose webhooks are installed besides Trainer's and JobSet's
        self.autoscaling = autoscaling  # nodes appear on demand: what is free now says nothing
        self.injected = injected  # requests that sidecars of the cluster add to every pod
        self.objects: Mapping[str, Mapping[str, Tree]] = objects or {}
        self.closed = closed  # what is not in the input does not exist

    def seeing(self, trees: Iterable[Tree], *, closed: bool) -> Cluster:
        """This cluster with objects that are applied beside a job; `closed`: what is not there does not exist."""
        if not (closed or self.closed or self.objects):
            return self
        objects = {kind: dict(named) for kind, named in self.objects.items()}
        closed = closed or self.closed
        for tree in trees:
            kind, name = value(tree, "kind"), value(tree, "metadata", "name")
            if (closed or kind in objects) and type(kind) is str and type(name) is str:
                namespace = value(tree, "metadata", "namespace")
                objects.setdefault(kind, {})[f"{namespace}/{name}" if namespace else name] = tree
        fields = {field: getattr(self, field) for field in self.__slots__}
        return Cluster(**{**fields, "objects": objects, "closed": closed})

    def names(self, kind: str, namespace: str = "") -> list[str] | None:
        """The names of one kind that exist, None where nobody has listed them.

        With a namespace, only what lives in it, without the prefix.
        """
        found = self.objects.get(kind)
        if found is None:
            return [] if self.closed else None
        if not namespace:
            return sorted(found)
        return sorted(name.partition("/")[2] for name in found if name.startswith(f"{namespace}/"))

    def overhead(self, runtime_class: str | None) -> Tree:
        """What pods of a RuntimeClass need beyond their containers, None where nothing is known of it."""
        if runtime_class is None:
            return None
        found = self.objects.get("RuntimeClass", {}).get(runtime_class)
        fixed = found.get("overhead") if type(found) is dict else None
        return fixed.get("podFixed") if type(fixed) is dict else None

    def topology_levels(self) -> list[str] | None:
        """The node labels that the cluster's Topologies name, None where nobody has listed any."""
        found = self.objects.get("Topology")
        if found is None:
            return [] if self.closed else None
        levels = [level for tree in found.values() for level in _levels(tree)]
        return sorted(set(levels))


def _levels(topology: Tree) -> list[str]:
    spec = topology.get("spec") if type(topology) is dict else None
    levels = spec.get("levels") if type(spec) is dict else None
    found = [value(level, "nodeLabel") for level in levels] if type(levels) is list else []
    return [label for label in found if type(label) is str]


def version(text: str) -> Version | None:
    """Major and minor of a version as people write it (`1.37`, `v0.19.2`), None where it is none."""
    parts = text.removeprefix("v").split(".")
    if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return int(parts[0]), int(parts[1])
