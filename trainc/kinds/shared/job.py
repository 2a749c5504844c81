"""An older job as read: its roles in their kind's order, every default of its operator filled in."""

from collections.abc import Mapping
from typing import NamedTuple

from trainc.kinds.table import LISTED, MPI_OPERATOR, Kind
from trainc.model.cluster import Version
from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule, place
from trainc.model.report import Report
from trainc.model.run import run_name
from trainc.model.sourced import Origin, Sourced, Span
from trainc.model.tree import Path, Tree, filled, first_leaf, get, given, value
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.object_keys import LAST_APPLIED, TRAINC_PREFIX
from trainc.text.placeholders import is_placeholder

_DEFAULT = Origin(by="TfJob default")
# Annotations under these prefixes are for tools that look at the job itself, not at its pods or its group.
FOR_THE_JOB = (TRAINC_PREFIX, "kubectl.kubernetes.io/", "argocd.argoproj.io/", "kustomize.toolkit.fluxcd.io/")
NO_REPLICAS = Rule("no-replicas", ERROR)
TOO_MANY_PODS = Rule("too-many-pods", ERROR)
MOST = 100_000


def mapping(node: Tree) -> dict[str, Tree]:
    """The node if it is a map, else an empty one."""
    return node if type(node) is dict else {}


def items(node: Tree) -> list[Tree]:
    """The items of a list; none of what is null or no list."""
    return node if type(node) is list else []


class LegacyOptions(NamedTuple):
    """What a project decides for all older jobs: who places gangs, and what to do where the operators were strict.

    `gang` is empty, `volcano`, or the name of a scheduler that reads the scheduler-plugins PodGroup; `is_free` says
    that the project chose none, so that a job may ask for the scheduler that it was written for; `kubernetes` and
    `jobset` are the cluster's versions, None where they are not known; `secrets` say where key material comes from;
    `namespace` is the one that jobs of the cluster have where they name none.
    """

    gang: str = ""
    is_free: bool = False
    lenient: bool = False
    cluster_domain: str = "cluster.local"
    kubernetes: Version | None = None
    jobset: Version | None = None
    secrets: Mapping[str, Sourced[str]] = {}
    namespace: Sourced[str] | None = None


class Replica:
    """One role of a job: its canonical name, where it is written, how many pods, what they look like."""

    def __init__(
        self,
        role: str,
        path: Path,
        count: Sourced[int],
        restart: Sourced[str],
        template: Tree,
        port: Sourced[int] | None = None,
    ) -> None:
        self.role = role
        self.path = path
        self.count = count
        self.restart = restart
        self.template = template
        self.port = port  # only where the entry names it beside the template

    @property
    def name(self) -> str:
        """The role as the names of pods and Services carry it."""
        return self.role.lower()

    @property
    def containers(self) -> list[Tree]:
        return get(self.template, "spec", "containers") or []

    def main(self, name: str) -> Tree:
        """The container the operator looks at: the one so called, else the first."""
        return next((c for c in self.containers if value(c, "name") == name), self.containers[0])


class LegacyJob:
    """One older job, ready to be laid out; `replicas` holds its roles in the order of its kind."""

    def __init__(
        self, document: Document, kind: Kind, replicas: tuple[Replica, ...], options: LegacyOptions, report: Report
    ) -> None:
        self.document = document
        self.kind = kind
        self.replicas = replicas
        self.options = options
        self.report = report

    @property
    def spec(self) -> Tree:
        return get(self.document.tree, "spec") or {}

    @property
    def name(self) -> Sourced[str]:
        return run_name(self.document.tree)

    @property
    def pods(self) -> int:
        return sum(replica.count.value for replica in self.replicas)

    def role(self, name: str) -> Replica | None:
        """The role of that canonical name, None where the job has none."""
        return next((replica for replica in self.replicas if replica.role == name), None)

    def policy(self, *path: str) -> Tree:
        """What the job says at `spec.runPolicy.<path>`."""
        return get(self.spec, "runPolicy", *path)

    def policy_span(self, name: str) -> Span:
        """Where a policy is written, also when an old version keeps it elsewhere."""
        leaf = first_leaf(self.policy(name))
        return (place(leaf.origin) if leaf is not None else None) or self.document.span(
            ("spec", "runPolicy", name), key=True
        )

    def asks(self, name: str) -> str:
        """What the annotation `trainc.dev/<name>` of the job says, "" where it has none."""
        wish = value(self.document.tree, "metadata", "annotations", TRAINC_PREFIX + name)
        return wish if type(wish) is str else ""

    @property
    def cluster_domain(self) -> str:
        return self.asks("cluster-domain") or self.options.cluster_domain

    def say(
        self,
        rule: Rule,
        at: Path | Span,
        message: str,
        *,
        key: bool = False,
        effect: str = "",
        help: str = "",  # noqa: A002 (the word users see)
        level: str = "",
    ) -> None:
        """Report something about this job: at a path of its file, with `key` at the key there, or at a place."""
        span = at if isinstance(at, Span) else self.document.span(at, key=key)
        self.report.add(rule.at(span, message, effect=effect, help=help, level=level))


def read(document: Document, kind: Kind, options: LegacyOptions, report: Report) -> LegacyJob:
    if kind.field == LISTED:
        return LegacyJob(document, kind, _of_list(document, kind), options, report)
    specs = mapping(get(document.tree, "spec", kind.field))
    keys = {kind.role(key): key for key in specs}
    replicas = tuple(_replica(kind, role, keys[role], specs[keys[role]]) for role in kind.roles if role in keys)
    return LegacyJob(document, kind, replicas, options, report)


def _replica(kind: Kind, role: str, key: str, tree: Tree) -> Replica:
    by = Origin(by=f"{kind.kind} default")
    count = or_default(get(tree, "replicas"), 0 if kind.kind == "MPIJob" and role == "Worker" else 1, by)
    is_ssh_launcher = kind.api == MPI_OPERATOR and role == "Launcher"
    restart = given(filled(tree, "restartPolicy"), Sourced("OnFailure" if is_ssh_launcher else kind.restart, by))
    return Replica(role, ("spec", kind.field, key), count, restart, pruned(get(tree, "template")))


def _of_list(document: Document, kind: Kind) -> tuple[Replica, ...]:
    entries = {entry.role: entry for entry in listed(document.tree)}
    scheduler = filled(spelled(get(document.tree, "spec"), "schedulerName"))
    out = []
    for role, entry in [(role, entries[role]) for role in kind.roles if role in entries]:
        policy = given(get(entry.template, "spec", "restartPolicy"), Sourced("OnFailure", Origin(by="default PS")))
        template = pruned(entry.template) or default_ps(document.tree)
        pod = get(template, "spec")
        # `mlkube.io` could not name a scheduler for all pods of a job yet.
        if scheduler is not None and type(pod) is dict and not document.api_version.startswith("mlkube.io/"):
            template = {**template, "spec": {**pod, "schedulerName": scheduler}}
        out.append(Replica(role, entry.path, entry.count, policy, template, entry.port))
    return tuple(out)


def pruned(tree: Tree) -> Tree:
    """A tree without its nulls, as the API server stores it."""
    if type(tree) is dict:
        return {key: pruned(node) for key, node in tree.items() if not (type(node) is Sourced and node.value is None)}
    return [pruned(item) for item in tree] if type(tree) is list else tree


def default_ps(job: Tree) -> Tree:
    """The pod of a parameter server given without template: TensorFlow's own server in the job's image."""
    by = Origin(by="default PS")
    image = spelled(get(job, "spec"), "tfImage")
    if type(image) is not Sourced:
        image = Sourced("tensorflow/tensorflow:1.3.0", by)
    container = {"name": Sourced("tensorflow", by), "image": image}
    return {"spec": {"containers": [container], "restartPolicy": Sourced("OnFailure", by)}}


class ListedReplica:
    """One entry of `replicaSpecs` with its defaults: type MASTER, one replica, port 2222."""

    def __init__(self, tree: Tree, path: Path) -> None:
        self.tree = tree
        self.path = path
        self.role: str = value(spelled(tree, "tfReplicaType")) or "MASTER"
        self.count = or_default(spelled(tree, "replicas"), 1, _DEFAULT)
        self.port = or_default(spelled(tree, "tfPort"), 2222, _DEFAULT)
        self.template: Tree = spelled(tree, "template")


def listed(job: Tree) -> list[ListedReplica]:
    spec = get(job, "spec")
    key = key_of(spec, "replicaSpecs")
    entries = items(get(spec, key)) if key else []
    return [ListedReplica(entry, ("spec", key, index)) for index, entry in enumerate(entries)]


def key_of(tree: Tree, name: str) -> str:
    """The key under which a map holds a field, in any case and in snake case, as it was decoded; "" where it has none."""
    folded = name.lower()
    return next((key for key in mapping(tree) if key.replace("_", "").lower() == folded), "")


def spelled(tree: Tree, name: str) -> Tree:
    """The node a map holds for a field in any spelling, None where it has none."""
    key = key_of(tree, name)
    return tree[key] if key else None


def or_default(node: Tree, default: int, by: Origin) -> Sourced[int]:
    """A number as written, a default where it is null or there is none."""
    return node if type(node) is Sourced and node.value is not None else Sourced(default, by)


def job_metadata(job: Tree, *, kept: str = "") -> dict[str, dict[str, Tree]]:
    """Labels and annotations, without those that ask trainc for something, but for `kept`, and kubectl's record."""
    written = mapping(get(job, "metadata", "annotations"))
    others = [name for name in written if name == LAST_APPLIED or (name.startswith(TRAINC_PREFIX) and name != kept)]
    annotations = {name: leaf for name, leaf in written.items() if name not in others}
    return {"labels": dict(mapping(get(job, "metadata", "labels"))), "annotations": annotations}


def countable(job: LegacyJob) -> bool:
    """Whether every role has a number of pods that can be laid out; what has not is reported."""
    is_whole = True
    for replica in job.replicas:
        count: object = replica.count.value
        at = (*replica.path, "replicas")
        if type(count) is int and 0 <= count <= MOST:
            continue
        is_whole = False
        if type(count) is int and count < 0:
            job.say(NO_REPLICAS, at, f"`{replica.role}` has {count} replicas", help="write the number of pods")
        elif type(count) is int:
            message = f"`{replica.role}` has {count} pods, a Job has at most {MOST}"
            job.say(TOO_MANY_PODS, at, message, help="request fewer pods")
        elif job.report.compiles or not is_placeholder(count):
            # Otherwise, what computes with the number counts that it could not.
            help_ = "write the number: the addresses and ranks of this kind are written out, one for each pod"
            job.say(UNKNOWN_SIZE, at, f"the number of pods of `{replica.role}` is unknown", help=help_)
    if is_whole and not job.pods:
        field = ("spec", job.kind.field)
        help_ = f"give one of {', '.join(job.kind.roles)} at least one replica"
        job.say(NO_REPLICAS, field, "no role of this job has a pod", key=True, help=help_)
        return False
    return is_whole


def is_countable(replica: Replica) -> bool:
    """Whether a role has a number of pods that a Job can have."""
    count: object = replica.count.value
    return type(count) is int and 0 < count <= MOST


def is_open(job: LegacyJob) -> bool:
    """Whether a run that only judges meets a number of pods that is filled in later."""
    return not job.report.compiles and any(is_placeholder(replica.count.value) for replica in job.replicas)
