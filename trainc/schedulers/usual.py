"""How most placed jobs look: one queue of Kueue, or one gang over all pods, with nothing to be said of it.

Each function answers yes only where no rule would say anything; whatever is out of the ordinary gets a closer look.
"""

from __future__ import annotations

from trainc.model.sourced import Sourced
from trainc.schedulers.keys import (
    COSCHEDULING_LABEL,
    DEFAULT_PROFILE,
    EXCLUSIVE,
    KUEUE_PRIORITY,
    KUEUE_QUEUE,
    NATIVE_FIELD,
    PROFILES,
    REQUESTS,
    VOLCANO_GROUP,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.tree import Tree

_VOLCANO = PROFILES["volcano"]
VOLCANO, COSCHEDULING = "volcano", "coscheduling"
_TIES = {VOLCANO: ("annotations", VOLCANO_GROUP), COSCHEDULING: ("labels", COSCHEDULING_LABEL)}
_ELSEWHERE = {  # who knows nothing of these groups
    VOLCANO: ("", PROFILES[COSCHEDULING]),
    COSCHEDULING: ("", DEFAULT_PROFILE, _VOLCANO),
}
_GROUPS = {VOLCANO: "scheduling.volcano.sh/", COSCHEDULING: "scheduling.x-k8s.io/"}
_NONE: dict[str, Tree] = {}
_FEW = 8  # pod sets that every version of Kueue takes


def queued(bundle: Bundle, cluster: Cluster, jobs: Sequence[Tree], pods: Sequence[Tree]) -> bool:
    """Whether a job that is no gang waits in a queue that is there, its pods in priority classes that are there.

    `pods` are the specs of its pods; its templates say nothing to Kueue.
    """
    metadata = _map(bundle.jobset, "metadata")
    if len(jobs) > _FEW or "suspend" in bundle.jobset["spec"]:
        return False
    for key in _map(metadata, "annotations"):
        if "kueue" in key:
            return False
    for job, pod in zip(jobs, pods, strict=True):
        if type(pod) is not dict or "dependsOn" in job or not _at_once(pod, cluster):
            return False
    labels = _map(metadata, "labels")
    namespace = _text(metadata, "namespace") or "default"
    return _there(cluster, "LocalQueue", labels.get(KUEUE_QUEUE), namespace) and _there(
        cluster, "WorkloadPriorityClass", labels.get(KUEUE_PRIORITY)
    )


def _at_once(pod: Tree, cluster: Cluster) -> bool:
    """Whether pods are placed by Kubernetes alone, and are ready as soon as they run."""
    containers = pod.get("containers")
    if type(containers) is not list or ("schedulerName" in pod and _text(pod, "schedulerName") == _VOLCANO):
        return False
    for container in containers:
        if type(container) is not dict or "readinessProbe" in container:
            return False
    return _there(cluster, "PriorityClass", pod.get("priorityClassName"))


def gang(bundle: Bundle, cluster: Cluster, jobs: Sequence[Tree], groups: Sequence[Tree]) -> bool:
    """Whether the pods of a job that says nothing to Kueue are one gang of the right size, its queue and class there."""
    spec = bundle.jobset["spec"]
    if len(groups) != 1 or not jobs or not _unpinned(bundle.jobset) or not _restarts_whole(spec):
        return False
    if len(jobs) > 1 and _text(_map(spec, "startupPolicy"), "startupPolicyOrder") != "AnyOrder":
        return False
    back_end = _back_end(_text(groups[0], "apiVersion"))
    layers = [_layers(job) for job in jobs]
    pod = layers[0][3]
    scheduler, priority = _text(pod, "schedulerName"), _text(pod, "priorityClassName")
    if not back_end or scheduler in _ELSEWHERE[back_end]:
        return False
    name = _text(_map(groups[0], "metadata"), "name")
    if name != _text(_map(bundle.jobset, "metadata"), "name"):
        return False
    if not name or not _there(cluster, "PriorityClass", pod.get("priorityClassName")):
        return False
    count = 0
    for job, parts in zip(jobs, layers, strict=True):
        many = _members(job, parts, back_end, name, scheduler, priority)
        if not many:
            return False
        count += many
    return _group(groups[0], back_end, cluster, count, priority)


def _back_end(api: str) -> str:
    """Whose groups are of that API, empty where it is another one's."""
    for one, group in _GROUPS.items():
        if api.startswith(group):
            return one
    return ""


def _layers(job: Tree) -> tuple[Tree, Tree, Tree, Tree]:
    """The template of a role's Job, the Job's spec, the metadata of its pods and their spec."""
    template = _map(job, "template")
    work = _map(template, "spec")
    pods = _map(work, "template")
    return template, work, _map(pods, "metadata"), _map(pods, "spec")


def _members(
    job: Tree, layers: tuple[Tree, Tree, Tree, Tree], back_end: str, group: str, scheduler: str, priority: str
) -> int:
    """How many pods of a role belong to the gang, 0 where anything about them asks for a closer look."""
    template, work, metadata, pod = layers
    if not _tied(metadata, back_end, group) or not _unpinned(template) or "dependsOn" in job:
        return 0
    if _text(pod, "schedulerName") != scheduler or _text(pod, "priorityClassName") != priority or NATIVE_FIELD in pod:
        return 0
    containers = pod.get("containers")
    if type(containers) is not list or not containers or not _map(_map(containers[0], "resources"), "requests"):
        return 0
    if back_end != VOLCANO and _whole(work, "backoffLimit"):
        return 0
    width = _whole(work, "parallelism")
    replicas = _whole(job, "replicas") if "replicas" in job else 1
    return width * replicas if width == _whole(work, "completions") and type(job.get("name")) is Sourced else 0


def _tied(metadata: Tree, back_end: str, group: str) -> bool:
    """Whether the metadata of a pod ties it to a group of one back end, and to nothing else."""
    labels, annotations = _map(metadata, "labels"), _map(metadata, "annotations")
    section, key = _TIES[back_end]
    if _text(labels if section == "labels" else annotations, key) != group:
        return False
    return sum([one in part for part in (labels, annotations) for one in (VOLCANO_GROUP, COSCHEDULING_LABEL)]) == 1


def _group(group: Tree, back_end: str, cluster: Cluster, count: int, priority: str) -> bool:
    """Whether a PodGroup waits for so many pods, in a queue that is there."""
    spec = _map(group, "spec")
    if _whole(spec, "minMember") != count:
        return False
    if "minTaskMember" in spec or ("priorityClassName" in spec and _text(spec, "priorityClassName") != priority):
        return False
    for leaf in _map(spec, "minResources").values():
        if type(leaf) is not Sourced or leaf.by != REQUESTS:
            return False  # people wrote it
    if back_end != VOLCANO:
        return True
    return _text(spec, "queue") not in ("", "root") and _there(cluster, "Queue", spec["queue"])


def _unpinned(tree: Tree) -> bool:
    """Whether an object or a Job's template says nothing of a gang, nor places its pods exclusively."""
    metadata = tree.get("metadata")
    if type(metadata) is dict:
        for section in ("labels", "annotations"):
            keys = metadata.get(section)
            if type(keys) is dict and (EXCLUSIVE in keys or VOLCANO_GROUP in keys or COSCHEDULING_LABEL in keys):
                return False
    return True


def _restarts_whole(spec: Tree) -> bool:
    """Whether restarts wait for the pods of the last run, where there are any."""
    policy = _map(spec, "failurePolicy")
    return "maxRestarts" not in policy or _text(policy, "restartStrategy") not in ("", "Recreate")


def _there(cluster: Cluster, kind: str, leaf: Tree, namespace: str = "") -> bool:
    """Whether an object is known to exist, or none is named."""
    return leaf is None or (type(leaf) is Sourced and cluster.has(kind, leaf.value, namespace) is True)


def _map(tree: Tree, field: str) -> Tree:
    node = tree.get(field) if type(tree) is dict else None
    return node if type(node) is dict else _NONE


def _text(tree: Tree, field: str) -> str:
    leaf = tree.get(field)
    return leaf.value if type(leaf) is Sourced and type(leaf.value) is str else ""


def _whole(tree: Tree, field: str) -> int:
    """A number of pods or jobs, 0 where it is not known."""
    leaf = tree.get(field)
    return leaf.value if type(leaf) is Sourced and type(leaf.value) is int and leaf.value > 0 else 0
