"""One job as the rules see it: its roles, its other objects, and what occurs anywhere in it."""

from __future__ import annotations

from trainc.frameworks import vocabulary_of
from trainc.lint.facts.pods import ExpandedRole
from trainc.lint.facts.values import UNKNOWN, flag, rows, substituted, table, text, whole
from trainc.lint.facts.world import meetings
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.containers import Container
    from trainc.lint.facts.values import Value
    from trainc.lint.facts.world import Meeting
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report
    from trainc.model.sourced import Span
    from trainc.model.tree import Path, Tree


class Job:
    """A bundle expanded by role, with the facts that many rules ask for collected once.

    `containers` are those of all roles and `text` their commands, a line for each; `names` are those of all their
    variables, `families` what these begin with, up to the first `_`. `main` are the containers that pods wait for.
    """

    __slots__ = (
        "_by_name",
        "_kinds",
        "_meetings",
        "bundle",
        "cluster",
        "containers",
        "families",
        "main",
        "metadata",
        "name",
        "names",
        "namespace",
        "report",
        "roles",
        "spec",
        "subdomain",
        "text",
        "tree",
        "vocabulary",
    )

    def __init__(self, bundle: Bundle, jobset: Tree, cluster: Cluster, report: Report) -> None:
        self.bundle = bundle
        self.tree = jobset
        self.cluster = cluster
        self.report = report
        self._kinds: dict[str, list[Tree]] | None = None
        self._meetings: list[Meeting] | None = None
        # The names that its processes go by.
        self.vocabulary = vocabulary_of(bundle.plan.framework if bundle.plan is not None else "")
        self.metadata = metadata = table(jobset, "metadata")
        self.name = text(metadata, "name")
        self.namespace = text(metadata, "namespace")
        self.spec = table(jobset, "spec")
        self.subdomain = text(table(self.spec, "network"), "subdomain") or self.name
        self.roles: list[ExpandedRole] = []
        self._by_name: dict[str, ExpandedRole] = {}
        self.main: list[Container] = []
        self.containers: list[Container] = []
        for index, tree in enumerate(rows(self.spec, "replicatedJobs")):
            role = ExpandedRole(self, index, tree)
            self.roles.append(role)
            self._by_name.setdefault(role.name, role)
            self.main += role.main
            self.containers += role.containers
        self.names = {name for container in self.containers for name in container.env}
        self.families = {name.partition("_")[0] for name in self.names}
        self.text = "\n".join([container.text for container in self.containers])

    def close(self) -> None:
        """Let go of all parts: they point at one another, and would keep everything alive for the garbage collector."""
        for role in self.roles:
            role.close()
        self.roles, self._by_name = [], {}
        self.main, self.containers = [], []
        self._meetings = None

    @property
    def kinds(self) -> dict[str, list[Tree]]:
        """The objects beside the JobSet by kind."""
        if self._kinds is None:
            self._kinds = {}
            for tree in self.bundle.around:
                if tree is not self.tree:
                    self._kinds.setdefault(text(tree, "kind"), []).append(tree)
        return self._kinds

    @property
    def claimed(self) -> frozenset[str]:
        """The names of the volumes for which the JobSet itself makes claims."""
        if "volumeClaimPolicies" not in self.spec:
            return frozenset()
        return frozenset(
            text(table(template, "metadata"), "name")
            for policy in rows(self.spec, "volumeClaimPolicies")
            for template in rows(policy, "templates")
        )

    def sized(self, role: ExpandedRole, size: int) -> str:
        """How the spec at hand says that each Job of a role has this many pods."""
        plan = self.bundle.plan
        trainer = plan.trainer if plan is not None else None
        if self.bundle.document.kind == "TrainJob" and trainer is not None and trainer.name.value == role.name:
            return f"`numNodes: {size}`"
        if self.is_legacy:
            from trainc.kinds.trainingoperator.table import MERGED_ROLE  # noqa: PLC0415 (as below)

            # Master and Worker that look alike are one role, of which the Master is the first pod.
            return f"`replicas: {size - 1}` for its Worker" if role.name == MERGED_ROLE else f"`replicas: {size}`"
        return f"`parallelism: {size}` and `completions: {size}`"

    @property
    def is_legacy(self) -> bool:
        """Whether the job is written for an operator before the Trainer, so that no field of a JobSet is in its file."""
        from trainc.kinds.trainingoperator.table import NAMES  # noqa: PLC0415 (few findings ask)

        return self.bundle.document.kind in NAMES

    @property
    def dns(self) -> bool:
        """Whether the pods get DNS names: the JobSet webhook's default is that they do, a Job's that they do not."""
        if self.bundle.keeps_job:
            return "subdomain" in table(self.spec, "network")
        network = table(self.spec, "network")
        return "enableDNSHostnames" not in network or flag(network, "enableDNSHostnames")

    @property
    def global_replicas(self) -> Value:
        """The number of child Jobs over all roles."""
        total = 0
        for role in self.roles:
            if type(role.replicas) is not int:
                return UNKNOWN
            total += role.replicas
        return str(total)

    @property
    def coordinator(self) -> Value:
        """The address that the JobSet controller writes on every pod for `spec.coordinator`, empty without one."""
        chosen = table(self.spec, "coordinator")
        if not chosen:
            return ""
        host = f"{self.name}-{text(chosen, 'replicatedJob')}-{whole(chosen, 'jobIndex') or 0}"
        return f"{host}-{whole(chosen, 'podIndex') or 0}.{self.subdomain}"

    @property
    def is_name_known(self) -> bool:
        """Whether the job's own name is known here."""
        return bool(self.name) and not substituted(self.name) and "$" not in self.name

    @property
    def meetings(self) -> list[Meeting]:
        """Every address at which containers of the job are told to meet."""
        if self._meetings is None:
            self._meetings = meetings(self)
        return self._meetings

    def role(self, name: str) -> ExpandedRole | None:
        """The role of that name."""
        return self._by_name.get(name)

    def at(self, path: Path, *, key: bool = False) -> Span:
        """Where the node at `path` of the JobSet is written, or the nearest place above it."""
        if self.bundle.document.kind == "JobSet":
            return self.bundle.document.span(path, key=key)
        return self.bundle.span(self.tree, path)

    def at_word(self, container: Container, *fragments: str) -> Span:
        """Where a fragment stands in the command of a container, inside its script where there is one."""
        path = container.word_path(*fragments)
        span, written = self.at(path), value(self.tree, *path)
        fragment = next((f for f in fragments if type(written) is str and f in written), "")
        if not fragment:
            return span
        from trainc.lint.facts.scalar_places import within  # noqa: PLC0415 (only where something is found)

        return within(span, written, fragment)

    def at_object(self, tree: Tree, path: Path = ()) -> Span:
        """Where a node of another object of the bundle is written."""
        if tree is self.tree:
            return self.at(path)
        return self.bundle.span(tree, path)
