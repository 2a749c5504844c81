"""One job as the rules see it: its roles, their containers, its other objects, and what occurs anywhere in it."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from trainc.apiserver.jobs.spec import DEFAULT_BACKOFF_LIMIT
from trainc.frameworks import vocabulary_of
from trainc.frameworks.base.vocabularies import VOCABULARIES
from trainc.lint.facts import shell
from trainc.lint.facts.amounts import devices
from trainc.lint.facts.launch import Launch, find_launch, options
from trainc.lint.facts.places import Place, character_places, span_of
from trainc.lint.facts.values import (
    COMPLETION_INDEX,
    GLOBAL_JOB_INDEX,
    JOB_INDEX,
    LONGEST,
    MOST_TEXT,
    SUBSTITUTED,
    TOO_LONG,
    UNKNOWN,
    Unknown,
    Value,
    Varies,
    flag,
    rows,
    substituted,
    table,
    templated,
    text,
    texts,
    whole,
    word_end,
)
from trainc.lint.tables.machines import ACCELERATOR, ACCELERATORS, INSTANCE_LABELS, MACHINES, Machine
from trainc.model.bundle import Bundle
from trainc.model.catalog import Objects
from trainc.model.cluster import Cluster
from trainc.model.finding import Finding
from trainc.model.internal_error import internal_error, place_of
from trainc.model.references import CLAIM
from trainc.model.report import Report
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, Tree, value
from trainc.text.object_keys import JOB_NAME_LABELS, POD_INDEX

T = TypeVar("T")

Findings = Iterable[Finding]  # what a check gives

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
MAIN, INIT, SIDECAR = "container", "init container", "sidecar"

# The labels and annotations of a pod that hold an index.
_INDEX_KEYS = {
    POD_INDEX: Varies(COMPLETION_INDEX),
    "jobset.sigs.k8s.io/job-index": Varies(JOB_INDEX),
    "jobset.sigs.k8s.io/job-global-index": Varies(GLOBAL_JOB_INDEX),
    "jobset.sigs.k8s.io/job-group-index": Varies("job index in its group"),
}
Count = int | Unknown
_KNOWN_LATER = frozenset((
    "metadata.name", "metadata.uid", "spec.nodeName", "status.hostIP", "status.hostIPs", "status.podIP",
    "status.podIPs",
))  # fmt: skip


class Container:
    """A container of every pod of one role; the trees stay at hand for positions, and `path` is where it stands in the JobSet.

    `kind` is MAIN, INIT or SIDECAR, `main` says whether the pod's end waits for it; `env` are the entries of its variables by name, `literals` the values that are
    written, and `has_references` says whether one of these refers to another variable; `words` are its command and
    arguments, `text` the same in one line; `devices` are its accelerators.
    """

    def __init__(self, role: "ExpandedRole", tree: Tree, index: int, kind: str = MAIN) -> None:
        self.role = role
        self.tree = tree
        self.kind = kind
        self.main = kind is MAIN
        self.path: Path = (*role.pod_path, "containers" if kind is MAIN else "initContainers", index)
        self.name = text(tree, "name")
        self.env: dict[str, Tree] = {}
        self.literals: dict[str, str] = {}
        self.has_references = False
        self._places: dict[str, int] = {}
        for place, entry in enumerate(rows(tree, "env")):
            name, written = text(entry, "name"), entry.get("value")
            self.env[name] = entry
            self._places.setdefault(name, place)
            if type(written) is Sourced and type(written.value) is str:
                self.literals[name] = written.value
                self.has_references = self.has_references or "$(" in written.value
        self.words = [*texts(tree, "command"), *texts(tree, "args")]
        self.text = " ".join(self.words)
        self.script, self.shell = shell.script_of(self.words)
        resources = table(tree, "resources")
        self.limits = table(resources, "limits")
        self.requests = table(resources, "requests")
        self.devices = devices(self.limits, self.requests)

    @cached_property
    def commands(self) -> list[shell.Simple]:
        """What runs, as simple commands: those of the script, or the command itself as one."""
        return shell.simple_commands(self.script) if self.script else [shell.Simple(self.words, {}, "")]

    @cached_property
    def options(self) -> dict[str, str]:
        """The settings that its commands give their programs, dashes as underscores."""
        return options([word for simple in self.commands for word in simple.words])

    @cached_property
    def launch(self) -> Launch:
        """What starts the processes."""
        return find_launch(self, self.role.job.vocabulary)

    def env_path(self, name: str) -> Path:
        """Where the variable `name` stands in the JobSet."""
        place = self._places.get(name)
        return self.path if place is None else (*self.path, "env", place)

    def at(self, *path: str | int, key: bool = False) -> Span:
        """Where a node of the container is written."""
        return self.role.job.at((*self.path, *path), key=key)

    def env_at(self, name: str, *field: str) -> Span:
        """Where the variable `name` is written, or a field of its entry."""
        return self.role.job.at((*self.env_path(name), *field))

    def amount_at(self, resource: str, *, key: bool = False) -> Span:
        """Where the amount of a resource is written, the limit rather than the request."""
        return self.at("resources", "limits" if resource in self.limits else "requests", resource, key=key)

    def at_word(self, *fragments: str) -> Span:
        """Where a fragment stands in the command, inside its script where there is one."""
        path = self.word_path(*fragments)
        written = value(self.role.job.tree, *path)
        fragment = next((f for f in fragments if type(written) is str and f in written), "")
        if not fragment:
            return self.role.job.at(path)
        start = written.find(fragment)
        return self._at_text(path, start, word_end(written, start + len(fragment)))

    def at_script(self, start: int, end: int) -> Span:
        """Where a part of the script stands."""
        return self._at_text(self.script_path, start, end)

    def at_command(self, simple: shell.Simple, index: int = 0) -> Span:
        """Where a word of a command stands."""
        if simple.places:
            word = simple.places[min(index, len(simple.places) - 1)]
            return self.at_script(word.start, word.end)
        paths = [path for path, _ in self.placed_words()]
        return self.role.job.at(paths[index]) if index < len(paths) else self.at()

    @property
    def script_path(self) -> Path:
        """Where the script stands in the JobSet."""
        return next((path for path, word in self.placed_words() if word == self.script), self.path)

    @cached_property
    def parsed(self) -> shell.Script:
        """The script as a shell reads it."""
        return shell.parsed(self.script)

    @cached_property
    def script_places(self) -> list[Place] | None:
        """The place of each character of the script; None where its file is not known, or what it shows is not the script."""
        return self._character_places(self.script_path) if self.script else None

    def _character_places(self, path: Path) -> list[Place] | None:
        span, written = self.role.job.at(path), value(self.role.job.tree, *path)
        lines = self.role.job.lines(span.file)
        return character_places(lines, span, written) if lines and type(written) is str else None

    def _at_text(self, path: Path, start: int, end: int) -> Span:
        """Where a part of the text at `path` stands, the whole where that is not known."""
        span = self.role.job.at(path)
        places = self.script_places if path == self.script_path else self._character_places(path)
        return span_of(places, span.file, start, end) if places and start < end <= len(places) else span

    def security_path(self, field: str) -> Path:
        """Where the setting of the security context stands that counts for it: its own wins over its pod's; () without one."""
        for tree, path in ((self.tree, self.path), (self.role.pod, self.role.pod_path)):
            if table(tree, "securityContext").get(field) is not None:
                return (*path, "securityContext", field)
        return ()

    def placed_words(self) -> Iterator[tuple[Path, str]]:
        """Each word of the command and its arguments, and where it stands."""
        for field in ("command", "args"):
            for index, word in enumerate(texts(self.tree, field)):
                yield (*self.path, field, index), word

    def word_path(self, *fragments: str) -> Path:
        """Where the first word of the command stands that holds the first of `fragments` that any word holds."""
        places = list(self.placed_words())
        found = (place for fragment in fragments for place, word in places if fragment in word)
        return next(found, self.path)

    def sets(self, *prefixes: str) -> bool:
        """Whether a variable is set whose name begins with one of these."""
        return any(name.startswith(prefixes) for name in self.env)

    def value(self, name: str) -> Value | None:
        """What a variable holds in the pod: text, unknown, or differing from pod to pod; None where it is not set."""
        if (entry := self.env.get(name)) is None and name in self.role.job.withheld:
            return UNKNOWN
        if entry is None:
            return Varies(COMPLETION_INDEX) if name == "JOB_COMPLETION_INDEX" and self.role.indexed else None
        if (written := self.literals.get(name)) is None:
            source = table(entry, "valueFrom")
            if "fieldRef" in source:
                return self.role.field(text(table(source, "fieldRef"), "fieldPath"))
            return "" if entry.get("value") is None and not source else UNKNOWN
        if "$(" in written:
            return self._references[name]
        return SUBSTITUTED if "$" in written and templated(written) else written

    def refers_to(self, name: str) -> bool:
        """Whether its command, or another of its variables, takes the value of a variable."""
        in_command = any(f"{opening}{name}" in self.text for opening in ("$", "${", "$("))
        return in_command or (self.has_references and any(f"$({name})" in one for one in self.literals.values()))

    @property
    def replaced(self) -> tuple[str, ...]:
        """The variables that its launcher sets itself in every process, without reading what they are set to here."""
        launcher = self.launch.launcher
        names = (*launcher.sets, *launcher.passes_on.values())
        return tuple([name for name in names if name in self.env and not self.refers_to(name)])

    def expand(self, written: str) -> Value:
        """A text of the command with its `$(VAR)` references filled in as the kubelet does."""
        return filled(written, self.value)

    @cached_property
    def _references(self) -> dict[str, Value]:
        """Each variable that refers to others, filled in with those that stand before it."""
        absent = UNKNOWN if rows(self.tree, "envFrom") else None
        references: dict[str, Value] = {}
        earlier: dict[str, Value | None] = {}
        left = MOST_TEXT
        for name in self.env:
            if (written := self.literals.get(name)) is None or "$(" not in written:
                earlier[name] = self.value(name)
                continue
            value = filled(written, lambda other: earlier.get(other, absent)) if left > 0 else TOO_LONG
            left -= len(value) if type(value) is str else 0
            earlier[name] = references[name] = value
        return references


def filled(written: str, value_of: Callable[[str], Value | None]) -> Value:
    """A text with its references filled in; where one is not known, neither is the text."""
    out: list[str] = []
    left = LONGEST
    rest = written
    while left >= 0:
        head, reference, rest = rest.partition("$(")
        out.append(head)
        name, closed, tail = rest.partition(")")
        if not reference or not closed:
            return "".join(out) + reference + rest
        rest = tail
        if head.endswith("$"):
            out.append(f"({name})")
            continue
        if (value := value_of(name)) is not None and type(value) is not str:
            return value if out == [""] and not rest else UNKNOWN
        out.append(f"$({name})" if value is None else value)
        left -= len(out[-1])
    return TOO_LONG


class ExpandedRole:
    """All pods of one replicatedJob: `replicas` child Jobs of `size` pods each.

    `size` is the number of indices of a Job (of pods at once, where it is not indexed), `width` how many run at once;
    `count` are the pods of all its Jobs at once, `several` says that it is known to have more than one. `path` is where
    the replicatedJob stands in the JobSet, `spec_path` and `pod_path` where the specs of its Jobs and pods do. `labels`
    and `annotations` are those of its pods, `job_metadata` is that of its Jobs, `host_network` says whether these use the network of their nodes. `devices` are the accelerators of one pod by resource, summed over the containers that run side by side. `indexed`
    says whether each pod of a Job has an index of its own: the JobSet webhook's default is that it has. `volumes` are
    those of its pods by name, `reads_host` says whether one is a path of the node; `init` the init containers, sidecars among them.
    """

    def __init__(self, job: "Job", index: int, tree: Tree) -> None:
        self.job = job
        self.index = index
        self.tree = tree
        self.name = text(tree, "name")
        self.job_metadata = table(table(tree, "template"), "metadata")
        self.spec = table(table(tree, "template"), "spec")
        template = table(self.spec, "template")
        self.pod = table(template, "spec")
        self.metadata = table(template, "metadata")
        self.labels = table(self.metadata, "labels")
        self.annotations = table(self.metadata, "annotations")
        self.path: Path = ("spec", "replicatedJobs", index)
        self.spec_path: Path = (*self.path, "template", "spec")
        self.pod_path: Path = (*self.spec_path, "template", "spec")
        self.host_network = flag(self.pod, "hostNetwork")
        self.indexed = text(self.spec, "completionMode") in ("", "Indexed")
        replicas, width, size = (
            whole(tree, "replicas"),
            whole(self.spec, "parallelism"),
            whole(self.spec, "completions"),
        )
        self.replicas: Count = 1 if replicas is None else replicas
        self.width: Count = 1 if width is None else width
        if type(self.width) is int and type(size) is int and size < self.width:
            self.width = size
        self.size: Count = self.width if size is None else size
        self.count: Count = UNKNOWN
        if type(self.replicas) is int and type(self.width) is int:
            self.count = self.replicas * self.width
        self.several = type(self.count) is int and self.count > 1
        volumes = rows(self.pod, "volumes")
        self.volumes: dict[str, Tree] = {text(volume, "name"): volume for volume in volumes}
        self.reads_host = any("hostPath" in volume for volume in volumes)
        self.main = [Container(self, tree, at) for at, tree in enumerate(rows(self.pod, "containers"))]
        self.init = [
            Container(self, tree, at, SIDECAR if text(tree, "restartPolicy") == "Always" else INIT)
            for at, tree in enumerate(rows(self.pod, "initContainers"))
        ]
        self.devices: dict[str, Count] = {}
        for container in self.main:
            for resource, number in container.devices.items():
                other = self.devices.get(resource, 0)
                self.devices[resource] = other + number if type(other) is int and type(number) is int else UNKNOWN

    def close(self) -> None:
        """Let go of the containers, which point back at this role."""
        for container in self.containers:
            vars(container).pop("launch", None)  # it points back as well
        self.main, self.init = [], []

    @property
    def containers(self) -> list[Container]:
        """All containers, in the order in which they start."""
        return [*self.init, *self.main] if self.init else self.main

    def at(self, *path: str | int) -> Span:
        """Where a node of the replicatedJob is written."""
        return self.job.at((*self.path, *path))

    def spec_at(self, *path: str | int, key: bool = False) -> Span:
        """Where a node of the spec of its Jobs is written."""
        return self.job.at((*self.spec_path, *path), key=key)

    def pod_at(self, *path: str | int, key: bool = False) -> Span:
        """Where a node of the spec of its pods is written."""
        return self.job.at((*self.pod_path, *path), key=key)

    @property
    def retries(self) -> int | None:
        """How many failed pods each of its Jobs replaces before it fails itself; None where that is not known."""
        limit, per_index = whole(self.spec, "backoffLimit"), whole(self.spec, "backoffLimitPerIndex")
        if per_index is None:
            return DEFAULT_BACKOFF_LIMIT if limit is None else limit if type(limit) is int else None
        if type(per_index) is not int or type(self.size) is not int or type(limit) not in (int, type(None)):
            return None
        return min(per_index * self.size, limit) if type(limit) is int else per_index * self.size

    @property
    def worker(self) -> Container | None:
        """The container that holds accelerators: the first with any, else the first."""
        return next((container for container in self.main if container.devices), next(iter(self.main), None))

    @property
    def trainer(self) -> Container | None:
        """The container that trains: the first in which a launcher starts processes, else the one with accelerators."""
        return next((container for container in self.main if container.launch.by_launcher), self.worker)

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
            for held in (_INDEX_KEYS.get(key), self.system(key)):
                if held is not None:
                    return held
            labels = self.labels if section == "metadata.labels" else self.annotations
            if key in labels:
                return text(labels, key)
            return UNKNOWN if "kubernetes.io/" in key or "k8s.io/" in key else ""
        if path == "metadata.namespace":
            return self.job.namespace or UNKNOWN
        if path == "spec.serviceAccountName":
            return text(self.pod, "serviceAccountName") or "default"
        return Unknown(path) if path in _KNOWN_LATER else UNKNOWN

    def system(self, key: str) -> Value | None:
        """The value of a label that the JobSet controller writes on every pod of the role, None for other keys."""
        if self.job.bundle.keeps_job:
            return self.job.name if key in JOB_NAME_LABELS else None
        prefix, _, name = key.partition("/")
        if prefix != "jobset.sigs.k8s.io":
            return None
        replicas = [role.replicas for role in self.job.roles if type(role.replicas) is int]
        held: dict[str, Value] = {
            "jobset-name": self.job.name,
            "replicatedjob-name": self.name,
            "replicatedjob-replicas": str(self.replicas) if type(self.replicas) is int else UNKNOWN,
            "global-replicas": str(sum(replicas)) if len(replicas) == len(self.job.roles) else UNKNOWN,
            "group-name": text(self.tree, "groupName") or "default",
            "restart-attempt": "0",
            "coordinator": self.job.coordinator,
        }
        return held.get(name, UNKNOWN)

    @cached_property
    def node_labels(self) -> dict[str, tuple[str, Path]]:
        """The labels that each node of its pods has, by selector or required affinity: their value, and where it stands."""
        affinity = table(table(table(self.pod, "affinity"), "nodeAffinity"), REQUIRED) if "affinity" in self.pod else {}
        terms = rows(affinity, "nodeSelectorTerms")  # the nodes of one of them
        path = (*self.pod_path, "affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms", 0, "matchExpressions")
        labels: dict[str, tuple[str, Path]] = {}
        for index, expression in enumerate(rows(terms[0], "matchExpressions") if len(terms) == 1 else ()):
            if text(expression, "operator") == "In" and len(values := texts(expression, "values")) == 1:
                labels[text(expression, "key")] = values[0], (*path, index, "values", 0)
        selector = table(self.pod, "nodeSelector") if "nodeSelector" in self.pod else {}
        return labels | {key: (text(selector, key), (*self.pod_path, "nodeSelector", key)) for key in selector}

    def node_label(self, key: str) -> str:
        """The value of a label that each node of its pods has, "" where none is asked for."""
        return self.node_labels[key][0] if key in self.node_labels else ""

    @property
    def machine(self) -> tuple[Machine | None, Path]:
        """The machine that the pods ask for by labels of its nodes, and where they do."""
        for label in INSTANCE_LABELS if self.node_labels else ():
            machine = MACHINES.get(self.node_label(label).removeprefix("ml."))  # HyperPod
            if machine is not None:
                return machine, self.node_labels[label][1]
        name = ACCELERATORS.get(self.node_label(ACCELERATOR))
        return (MACHINES[name], self.node_labels[ACCELERATOR][1]) if name else (None, ())


class Job:
    """A bundle expanded by role, with the facts that many rules ask for collected once.

    `containers` are those of all roles and `text` their commands, a line for each; `names` are those of all their
    variables, `families` what these begin with, up to the first `_`. `main` are the containers that pods wait for.
    """

    def __init__(
        self, bundle: Bundle, jobset: Tree, cluster: Cluster, report: Report, objects: Objects | None = None
    ) -> None:
        self.bundle = bundle
        self.tree = jobset
        self.cluster = cluster
        self.report = report
        self._objects = objects
        self._lines: dict[str, list[str]] = {}
        self.facts: dict[object, object] = {}  # what functions `once` of it have found
        self.vocabulary = vocabulary_of(bundle.plan.framework if bundle.plan is not None else "")
        self.metadata = metadata = table(jobset, "metadata")
        self.name = text(metadata, "name")
        self.namespace = text(metadata, "namespace")
        self.spec = table(jobset, "spec")
        self.subdomain = text(table(self.spec, "network"), "subdomain") or self.name
        self.roles: list[ExpandedRole] = []
        self._by_name: dict[str, ExpandedRole] = {}
        self.is_name_known = bool(self.name) and not substituted(self.name) and "$" not in self.name
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
        self.facts = {}

    @cached_property
    def kinds(self) -> dict[str, list[Tree]]:
        """The objects beside the JobSet by kind."""
        kinds: dict[str, list[Tree]] = {}
        for tree in self.bundle.around:
            if tree is not self.tree:
                kinds.setdefault(text(tree, "kind"), []).append(tree)
        return kinds

    def lines(self, file: str) -> list[str]:
        """The lines of a file that the job was compiled from, none where it is not known."""
        if file not in self._lines:
            plan = self.bundle.plan
            documents = [self.bundle.document, *(() if plan is None or plan.runtime is None else (plan.runtime,))]
            sources = [source for document in documents for source in document.sources if source.file == file]
            text = next((source.text for source in sources if source.text), b"")
            self._lines[file] = text.decode("utf-8", "replace").removeprefix("\ufeff").splitlines()
        return self._lines[file]

    def claim(self, name: str) -> Tree:
        """The PVC that a pod of the job mounts: beside the job, in another file of the project, or of the cluster."""
        namespace = self.namespace or "default"
        for claim in self.kinds.get(CLAIM, ()):
            metadata = table(claim, "metadata")
            if text(metadata, "name") == name and text(metadata, "namespace") in ("", namespace):
                return claim
        found = None if self._objects is None else self._objects.claim(name, namespace, self.bundle.document.file)
        return found or self.cluster.objects.get(CLAIM, {}).get(f"{namespace}/{name}")

    @property
    def claimed(self) -> frozenset[str]:
        """The names of the volumes for which the JobSet itself makes claims."""
        return frozenset(
            text(table(template, "metadata"), "name")
            for policy in rows(self.spec, "volumeClaimPolicies")
            for template in rows(policy, "templates")
        )

    @property
    def max_restarts(self) -> int | Unknown | None:
        """How many failures of its Jobs restart it, None where no number is written."""
        return whole(table(self.spec, "failurePolicy"), "maxRestarts")

    def sized(self, role: ExpandedRole, size: int) -> str:
        """How the spec at hand says that each Job of a role has this many pods."""
        plan = self.bundle.plan
        trainer = plan.trainer if plan is not None else None
        if self.bundle.document.kind == "TrainJob" and trainer is not None and trainer.name.value == role.name:
            return f"`numNodes: {size}`"
        if self.is_legacy:
            from trainc.kinds.table import MERGED_ROLE  # noqa: PLC0415 (as below)

            # Master and Worker that look alike are one role, of which the Master is the first pod.
            return f"`replicas: {size - 1}` for its Worker" if role.name == MERGED_ROLE else f"`replicas: {size}`"
        return f"`parallelism: {size}` and `completions: {size}`"

    @property
    def is_legacy(self) -> bool:
        """Whether the job is written for an operator before the Trainer, so that no field of a JobSet is in its file."""
        from trainc.kinds.table import NAMES  # noqa: PLC0415 (few findings ask)

        return self.bundle.document.kind in NAMES

    @cached_property
    def withheld(self) -> frozenset[str]:
        """The variables that a job lacks because it is refused: its framework sets them once what is wrong is mended."""
        if (plan := self.bundle.plan) is None or not plan.barred or not plan.framework:
            return frozenset()
        own = VOCABULARIES.get(plan.framework)
        return self.vocabulary.variables if own is None else frozenset(own.reserved)

    @property
    def dns(self) -> bool:
        """Whether the pods get DNS names: the JobSet webhook's default is that they do, a Job's that they do not."""
        network = table(self.spec, "network")
        if self.bundle.keeps_job:
            return "subdomain" in network
        return "enableDNSHostnames" not in network or flag(network, "enableDNSHostnames")

    @property
    def coordinator(self) -> Value:
        """The address that the JobSet controller writes on every pod for `spec.coordinator`, empty without one."""
        if not (chosen := table(self.spec, "coordinator")):
            return ""
        host = f"{self.name}-{text(chosen, 'replicatedJob')}-{whole(chosen, 'jobIndex') or 0}"
        return f"{host}-{whole(chosen, 'podIndex') or 0}.{self.subdomain}"

    def role(self, name: str) -> ExpandedRole | None:
        """The role of that name."""
        return self._by_name.get(name)

    def at(self, path: Path, *, key: bool = False) -> Span:
        """Where the node at `path` of the JobSet is written, or the nearest place above it."""
        if self.bundle.document.kind == "JobSet":
            return self.bundle.document.span(path, key=key)
        return self.bundle.span(self.tree, path)

    def at_object(self, tree: Tree, path: Path = ()) -> Span:
        """Where a node of another object of the bundle is written."""
        return self.at(path) if tree is self.tree else self.bundle.span(tree, path)


def once(work_out: Callable[[Job], T]) -> Callable[[Job], T]:
    """A function of a job that works its answer out once."""

    def fact(job: Job) -> T:
        if work_out not in job.facts:
            job.facts[work_out] = work_out(job)
        return job.facts[work_out]  # type: ignore[return-value]

    return fact


def broken_check(job: Job, check: Callable[..., object], error: Exception) -> Finding:
    """The finding about a check that raised; what is no mistake in trainc is raised again."""
    return internal_error(error, place_of(job.bundle.document), f"the check `{check.__name__}`")


def each(parts: Callable[[Job], Iterable[T]], *checks: Callable[[T], Findings]) -> Callable[[Job], Findings]:
    """Checks of a part of a job, such as a role or a container, as one of the job, which shows all of these parts to each."""

    def look(job: Job) -> Findings:
        these = parts(job)
        for check in checks:
            for part in these:
                try:
                    yield from check(part)
                except Exception as error:  # noqa: BLE001 (a mistake costs one check)
                    yield broken_check(job, check, error)

    look.__module__, look.__name__ = checks[0].__module__, ", ".join([check.__name__ for check in checks])
    return look
