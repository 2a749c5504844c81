"""A RayJob as read: its head, its groups of workers and its driver, with KubeRay's defaults."""

from collections.abc import Mapping

from trainc.kinds.shared.job import LegacyJob, LegacyOptions, Replica, or_default, pruned
from trainc.kinds.table import Kind
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced, Span, derive
from trainc.model.tree import Path, Tree, filled, first_leaf, get, given, plain, stamp, value

API, KIND, FRAMEWORK = "ray.io/v1", "RayJob", "rayjob"
HEAD, DRIVER = "head", "driver"
HEAD_GROUP = "headgroup"  # what KubeRay calls the head's group
CLUSTER: Path = ("spec", "rayClusterSpec")
MODE, TIER = "volcano.sh/network-topology-mode", "volcano.sh/network-topology-highest-tier-allowed"
SUBMITTER = "ray-job-submitter"
PORTS = {"client": 10001, "gcs-server": 6379, "dashboard": 8265, "metrics": 8080, "serve": 8000}
_BY = Origin(by="KubeRay default")
_ONE: Sourced[int] = Sourced(1, _BY)


class RayGroup(Replica):
    """The head, or one group of workers: `tree` is what is written of it, `group` what KubeRay calls it."""

    def __init__(self, role: str, group: str, path: Path, tree: Tree, count: Sourced[int]) -> None:
        template = pruned(get(tree, "template")) or {}
        restart = given(get(template, "spec", "restartPolicy"), Sourced("Always", _BY))
        super().__init__(role, path, count, restart, template)
        self.group = group
        self.tree = tree

    @property
    def is_head(self) -> bool:
        return self.role == HEAD

    @property
    def ray_container(self) -> Tree:
        """The container that Ray runs in, empty where there is none."""
        return self.containers[0] if self.containers else {}

    @property
    def params(self) -> Mapping[str, str]:
        return {name: str(text) for name, text in (plain(get(self.tree, "rayStartParams")) or {}).items()}


class RayJobAsRead(LegacyJob):
    """One RayJob, ready to be laid out."""

    def __init__(self, document: Document, options: LegacyOptions, report: Report) -> None:
        groups = read_groups(document.tree)
        kind = Kind(API, KIND, "rayClusterSpec", tuple(g.role for g in groups), FRAMEWORK)
        super().__init__(document, kind, groups, options, report)
        self.groups = groups

    def at(self, *path: str | int, key: bool = False) -> Span:
        """Where something is written below `spec.rayClusterSpec`."""
        return self.document.span((*CLUSTER, *path), key=key)


def read_groups(tree: Tree) -> tuple[RayGroup, ...]:
    """The head, then the groups of workers in the order written."""
    cluster = get(tree, *CLUSTER)
    head = get(cluster, "headGroupSpec") or {}
    out = [RayGroup(HEAD, HEAD_GROUP, (*CLUSTER, "headGroupSpec"), head, _ONE)]
    for index, worker in enumerate(get(cluster, "workerGroupSpecs") or ()):
        name = value(worker, "groupName") or ""
        out.append(RayGroup(_role(name), name, (*CLUSTER, "workerGroupSpecs", index), worker, _pods(worker)))
    return tuple(out)


def _role(group: str) -> str:
    """What a group's replicatedJob is called: KubeRay lowers the case of names of pods, too."""
    name = group.lower().replace("_", "-").replace(".", "-").strip("-") or "worker"
    return f"{name}-workers" if name in {HEAD, DRIVER} else name


def _pods(worker: Tree) -> Sourced[int]:
    """The number of a group's pods: its replicas within their bounds, each of so many hosts."""
    if value(worker, "suspend") is True:
        return Sourced(0, _BY)
    defaults = {"replicas": 0, "minReplicas": 0, "maxReplicas": 2147483647, "numOfHosts": 1}
    numbers = [or_default(get(worker, name), default, _BY) for name, default in defaults.items()]
    unknown = next((leaf for leaf in numbers if type(leaf.value) is not int), None)
    if unknown is not None:
        return unknown
    return derive("pods of the group", lambda n, low, high, hosts: (low if n < low else min(n, high)) * hosts, *numbers)


def head_port(head: RayGroup) -> str:
    return head.params.get("port", str(PORTS["gcs-server"]))


def named_ports(container: Tree) -> dict[str, int]:
    ports = get(container, "ports") or ()
    return {value(port, "name"): value(port, "containerPort") for port in ports if value(port, "name")}


def submission(tree: Tree, name: Sourced[str]) -> Sourced[str]:
    """The name of the submission in Ray: as written, else the job's."""
    submitted: Sourced[str] = given(filled(tree, "spec", "jobId"), name)
    return submitted


def driver_template(job: RayJobAsRead) -> Tree:
    """The pod that submits the program, as written, else one with the head's image."""
    if written := pruned(get(job.spec, "submitterPodTemplate")):
        return written
    head = job.groups[0].ray_container
    image = get(head, "image")
    named = first_leaf(get(head, "name")) if image is None else None  # one missing image is one mistake, at the head
    container = {
        "name": SUBMITTER if named is None else derive("KubeRay default", lambda _: SUBMITTER, named),
        **({"image": image} if image is not None else {}),
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "200Mi"}},
    }
    return stamp({"spec": {"containers": [container], "restartPolicy": "Never"}}, "KubeRay default")
