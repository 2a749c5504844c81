"""What is known of the cluster that a bundle is for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

from trainc.model.document import Document
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Tree, get, value
from trainc.text.numbers import whole_number
from trainc.text.placeholders import is_placeholder

Remark = tuple[Span, str]
Opening = Callable[[], "Cache | None"]  # of a cache, which few runs need
Version = tuple[int, int]
UNITS = WHOLE, ROLES, REPLICAS = "whole", "roles", "replicas"


class Cache(Protocol):
    """Keeps data by key from run to run; it may forget everything at any time."""

    def get(self, key: str) -> bytes | None:
        """What was put under a key, None where it is not known."""

    def put(self, key: str, data: bytes) -> None:
        """Keep data under a key, where that can be done."""


class Definitions(NamedTuple):
    """The compiled table of the kinds that one file defines, and remarks on it."""

    table: Mapping[str, Any]
    faults: tuple[Remark, ...] = ()  # schemas that are not structural: no server takes them, and the table lacks them
    notes: tuple[Remark, ...] = ()  # what cannot be checked
    lasting: bool = True  # whether another run would read the same of the file


@dataclass(frozen=True, kw_only=True, eq=False)
class Cluster:
    """One cluster as its settings and its folder of dumps describe it; whatever is None is not known.

    Every field has a default that knows nothing.
    """

    name: str = ""  # empty for the one cluster of a project that names none
    folder: str = ""  # of its dumps, relative to the project's root; empty where it has none
    namespace: Sourced[str] | None = None  # of jobs that name none
    delivery: str = ""  # the tool that applies its manifests (argocd, flux); empty for the project's
    paths: tuple[Sourced[str], ...] = ()  # globs of the jobs that it runs
    components: tuple[Sourced[str], ...] = ()
    component_values: Mapping[str, Mapping[str, Tree]] = field(default_factory=dict)  # by component, of its parameters
    patch: Tree = None  # a partial runtime spec over every runtime
    document: Document | None = None  # that says all this
    images: Mapping[str, Mapping[str, Sourced[str]]] = field(
        default_factory=dict
    )  # rewrites registries and pins digests
    runtimes: tuple[Document, ...] = ()
    definitions: tuple[Definitions, ...] = ()  # of each file that holds any
    policies: tuple[Document, ...] = ()  # admission policies, their bindings and parameters, webhooks
    objects: Mapping[str, Mapping[str, Tree]] = field(
        default_factory=dict
    )  # the dumps by kind, then by name, or namespace/name
    closed: bool = False  # what is not in the input does not exist

    scheduler: Sourced[str] | None = None  # the back end that replaces every other choice
    scheduler_name: Sourced[str] | None = None  # the profile that its pods ask for
    queue: Sourced[str] | None = None  # of jobs that name none
    topology: Sourced[str] | None = None  # the widest domain of one job: a node label, for Volcano a tier's number
    timeout: Sourced[int] | None = None  # seconds that a gang of coscheduling waits for its last pod
    unit: str = WHOLE  # what is a gang inside a job: the whole, its roles (each with its own minimum), or its replicas
    autoscaling: bool = False  # nodes appear on demand: what is free now says nothing
    fixed_nodes: bool = False  # nobody adds nodes: what does not fit never starts
    capacity: list[Any] = field(
        default_factory=list, init=False
    )  # what is worked out of the dumps, filled when a rule first asks
    injected: Tree = None  # requests that sidecars of the cluster add to every pod

    kubernetes: Version | None = None
    jobset: Version | None = None
    kueue: Version | None = None
    gates: frozenset[str] = frozenset()
    admission: frozenset[str] = frozenset()  # whose webhooks are installed besides Trainer's and JobSet's

    @property
    def globs(self) -> tuple[str, ...]:
        """Its `paths`, any of which may hold a file."""
        return tuple([glob.value for glob in self.paths])

    def with_objects(self, trees: Iterable[Tree], *, closed: bool) -> "Cluster":
        """This cluster with objects that are applied beside a job; `closed`: what is not there does not exist."""
        if not (closed or self.closed or self.objects):
            return self
        closed = closed or self.closed
        added: dict[str, Mapping[str, Tree]] = {}
        for tree in trees:
            leaf = tree.get("kind") if type(tree) is dict else None
            kind = leaf.value if type(leaf) is Sourced else None
            if type(kind) is not str or not (closed or kind in self.objects):
                continue
            name, namespace = value(tree, "metadata", "name"), value(tree, "metadata", "namespace")
            if type(name) is str:
                key = f"{namespace}/{name}" if namespace else name
                added[kind] = {**(added.get(kind) or self.objects.get(kind, {})), key: tree}
        if closed == self.closed and not added:
            return self
        return replace(self, objects={**self.objects, **added}, closed=closed)

    def names(self, kind: str, namespace: str = "") -> list[str] | None:
        """The names of one kind that exist, None where nobody has listed them.

        With a namespace, only what lives in it, without the prefix.
        """
        if (objects := self.objects.get(kind)) is None:
            return [] if self.closed else None
        if not namespace:
            return sorted(objects)
        return sorted(name.partition("/")[2] for name in objects if name.startswith(f"{namespace}/"))

    def has(self, kind: str, name: str, namespace: str = "") -> bool | None:
        """Whether an object exists, with a namespace one that lives in it.

        None where nobody has listed any of its kind, or where its name or namespace is filled in later.
        """
        if is_placeholder(name) or is_placeholder(namespace):
            return None
        if (objects := self.objects.get(kind)) is None:
            return False if self.closed else None
        return (f"{namespace}/{name}" if namespace else name) in objects

    def overhead(self, runtime_class: str | None) -> Tree:
        """What pods of a RuntimeClass need beyond their containers, None where nothing is known of it."""
        if runtime_class is None:
            return None
        return get(self.objects.get("RuntimeClass", {}).get(runtime_class), "overhead", "podFixed")

    def topology_levels(self) -> list[str] | None:
        """The node labels that the cluster's Topologies name, None where nobody has listed any."""
        if (topologies := self.objects.get("Topology")) is None:
            return [] if self.closed else None
        listed = [get(tree, "spec", "levels") for tree in topologies.values()]
        labels = {value(level, "nodeLabel") for levels in listed if type(levels) is list for level in levels}
        return sorted(label for label in labels if type(label) is str)


def version(text: str) -> Version | None:
    """Major and minor of a version as people write it (`1.37`, `v0.19.2`), None where it is none."""
    parts = text.removeprefix("v").split(".")
    numbers = [whole_number(part, most=99_999) for part in parts[:2]]
    if len(numbers) < 2 or None in numbers:
        return None
    return numbers[0], numbers[1]  # type: ignore[return-value] # neither is None
