"""A plan: one job with nothing left to look up, its layers holding all that people wrote."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from trainc.model.document import Document
from trainc.model.inference import Inferred
from trainc.model.patch import Patch
from trainc.model.sourced import Origin, Sourced, known
from trainc.model.tree import Tree, get, value

Step = tuple[str, str, Tree, tuple[Patch, ...], Tree]  # what a layer says, in the order of its fields

ANCESTOR_LABEL = "trainer.kubeflow.org/trainjob-ancestor-step"
TRAINER = "trainer"
NODE = "node"
# The JobSet webhook writes an empty name where there is none, and the server takes it.
_NAMELESS: Sourced[str] = Sourced("", Origin(by="JobSet default"))
_SINGLE: Sourced[int] = Sourced(1, Origin(by="JobSet default"))


class Layer(NamedTuple):
    """One step of precedence: a partial object or patches."""

    name: str
    label: str  # who wrote it
    tree: Tree = None  # shaped as a JobSet
    patches: tuple[Patch, ...] = ()
    nodes: Tree = None  # how many nodes it asks the trainer for, None where it says nothing about it


class Role:
    """One replicatedJob of a plan: `count` pods for each of its `replicas`."""

    __slots__ = ("ancestor", "count", "index", "name", "pod", "replicas", "tree")

    def __init__(self, index: int, tree: Tree, count: Sourced[int]) -> None:
        self.index = index
        self.tree = tree  # the whole replicatedJob
        self.count = count
        name = tree.get("name")
        self.name: Sourced[str] = name if type(name) is Sourced else _NAMELESS
        template = tree.get("template")
        self.ancestor: str = value(template, "metadata", "labels", ANCESTOR_LABEL) or ""
        self.pod: Mapping[str, Tree] = get(template, "spec", "template", "spec") or {}  # empty where there is none
        replicas = tree.get("replicas")
        self.replicas: Sourced[int] = replicas if type(replicas) is Sourced else _SINGLE

    def with_patches(self, tree: Tree, pod: Tree, count: Sourced[int]) -> "Role":
        """This role with patches laid on its `pod`, so many of them; its name and its step stay."""
        view = Role.__new__(Role)
        view.index, view.tree, view.count = self.index, tree, count
        view.name, view.ancestor, view.pod = self.name, self.ancestor, pod
        replicas = tree.get("replicas")
        view.replicas = replicas if type(replicas) is Sourced else _SINGLE
        return view

    @property
    def containers(self) -> list[Tree]:
        return self.pod.get("containers") or []

    @property
    def init_containers(self) -> list[Tree]:
        """The init containers, restartable ones (sidecars) among them."""
        return self.pod.get("initContainers") or []

    def container(self, name: str = NODE) -> Tree | None:
        """The first regular container of that name."""
        for container in self.pod.get("containers") or ():
            leaf = container.get("name") if type(container) is dict else None
            if type(leaf) is Sourced and leaf.value == name:
                return container
        return None

    def init_container(self, name: str) -> Tree | None:
        """The first init container of that name."""
        return next((one for one in self.init_containers if value(one, "name") == name), None)

    def __repr__(self) -> str:
        return f"Role({self.name.value} x{self.count.value})"


class Plan:
    """One job, resolved: what people said, merged; what machines need is not in it yet.

    `template` is `{metadata: {labels, annotations}, spec: <JobSet spec>}` with runtime, components, cluster and
    patches merged; `overrides` are what `spec.trainer` and `spec.initializer` ask for, still to be laid on. A
    framework sees this plan; a scheduler sees `lowered()`, in which everything has been laid on.
    """

    __slots__ = (
        "_inferred", "barred", "below", "beside", "block", "companions", "document", "framework", "gang", "job",
        "name", "namespace", "overrides", "policy", "refused", "roles", "runtime", "secrets", "steps", "template",
        "trainer",
    )  # fmt: skip

    def __init__(
        self,
        *,
        document: Document,
        runtime: Document | None,
        name: Sourced[str],
        namespace: Sourced[str] | None,
        framework: str,
        policy: Tree,
        gang: Tree,
        template: Tree,
        roles: tuple[Role, ...],
        overrides: tuple[Patch, ...] = (),
        steps: tuple[Step, ...] = (),
        below: Callable[[], tuple[Layer, ...]] | None = None,
        companions: tuple[Document, ...] = (),
        beside: tuple[Document, ...] = (),
        secrets: Mapping[str, Sourced[str]] | None = None,
    ) -> None:
        self.document = document
        self.companions = companions  # other documents of the job's file, which pass through
        self.beside = beside  # those that pass through with another job of the file
        self.runtime = runtime
        self.job: Tree = document.tree
        self.block: Tree = get(document.tree, "spec", "trainer")  # None where the job has none
        self.name = name
        self.namespace = namespace
        self.framework = framework  # the name in the table of frameworks: plain where no policy selects one
        self.policy = policy  # mlPolicy with its defaults, None where the runtime has none
        self.gang = gang  # podGroupPolicy with its defaults, None where the runtime has none
        self.template = template
        self.roles = roles
        self.trainer = next((role for role in roles if role.ancestor == TRAINER), None)
        self.overrides = overrides
        self.steps, self.below = steps, below  # what its layers are made of: its own and those that its runtime has
        self.secrets: Mapping[str, Sourced[str]] = secrets or {}  # by framework: existing:NAME or external-secrets
        self.refused = self.barred = False  # by the TrainJob webhook; by any finding: the rest is still looked at
        self._inferred: Inferred | None = None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Every step of precedence, lowest first. Built lazily; few callers need it."""
        return (*(self.below() if self.below is not None else ()), *[Layer(*step) for step in self.steps])

    @property
    def settings(self) -> Tree:
        """The framework's own part of the policy: `mlPolicy.<framework>`, empty where absent."""
        return (self.policy.get(self.framework) if type(self.policy) is dict else None) or {}

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name.value == name), None)

    @property
    def wired(self) -> bool:
        """Whether rendezvous variables are set: without a `trainer` block the Trainer controller sets none."""
        return self.block is not None

    def trainer_field(self, field: str, *path: str) -> Tree:
        """What the job itself says at `spec.trainer.<field>` and below, None where it is silent."""
        leaf = self.block.get(field) if type(self.block) is dict else None
        return get(leaf, *path) if path else leaf

    @property
    def inferred(self) -> Inferred:
        """The numbers that follow from `resources`, looked up once."""
        if self._inferred is None:
            self._inferred = Inferred(self.resources)
        return self._inferred

    @property
    def resources(self) -> Tree:
        """The resources process counts are inferred from: the job's own if it sets any, else the node container's.

        The job's replace the runtime's here although they are merged in the container (Trainer v2.3.0).
        """
        if (requests := self.trainer_field("resourcesPerNode")) is not None:
            return requests
        for role in self.roles:
            if (role.name.value == NODE or role.ancestor == TRAINER) and (node := role.container()) is not None:
                return node.get("resources") or {}
        return {}

    def host(self, rank: int = 0) -> Sourced[str]:
        """The DNS name of the trainer's pod `rank`: role `node` and the job's name as domain, whatever they are called.

        The Trainer controller writes the literal `node` and ignores `network.subdomain` (v2.3.0).
        """
        job = self.name.value
        return known(f"{job}-{NODE}-0-{rank}.{job}", "address of rank 0", (self.name,))

    def lowered(self, template: Tree, roles: tuple[Role, ...], *steps: Step) -> "Plan":
        """This plan with everything laid on so far, as a scheduler sees it, and with a longer history."""
        view = self._copy()
        view.template, view.roles, view.steps, view.overrides = template, roles, self.steps + steps, ()
        if self.trainer is not None:
            view.trainer = roles[self.roles.index(self.trainer)]
        return view

    def placed(self, namespace: Sourced[str] | None) -> "Plan":
        """This plan in the namespace of its cluster."""
        if namespace is None:
            return self
        view = self._copy()
        view.namespace = namespace
        return view

    def _copy(self) -> "Plan":
        view = Plan.__new__(Plan)
        for field in self.__slots__:
            setattr(view, field, getattr(self, field))
        view._inferred = None  # noqa: SLF001 (one of its own kind)
        return view
