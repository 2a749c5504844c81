"""The objects of a dump by kind and name, its events by the object that they are about, and its jobs.

A job is the JobSet or Job, its child Jobs, its pods, and the events of pods that are gone.
"""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from trainc.apiserver.pods.complaints import fields
from trainc.cluster.diagnose.cause import Manifest, at, labels, maps, moment, moments, number, text
from trainc.model.paths import Steps
from trainc.text.numbers import whole_number
from trainc.text.object_keys import (
    JOB_INDEX_LABEL,
    JOB_NAME_LABELS,
    JOBSET_NAME,
    KUEUE_QUEUE,
    POD_INDEX,
    REPLICATED_JOB,
)

# Kinds whose names other groups use as well (Volcano's Job, Kubernetes' own Workload, Knative's Service).
_VERSIONS = {
    "Job": "batch/", "JobSet": "jobset.x-k8s.io/", "Pod": "v1", "Service": "v1", "TrainJob": "trainer.kubeflow.org/",
    "Workload": "kueue.x-k8s.io/",
}  # fmt: skip
TEMPLATE = ("template", "spec", "template", "spec")


class Event:
    """One event: its reason, its message and when it was seen."""

    __slots__ = ("first", "last", "message", "reason")

    def __init__(self, tree: Manifest) -> None:
        self.reason = text(tree, "reason")
        self.message = text(tree, "message") or text(tree, "note")
        created = text(tree, "metadata", "creationTimestamp")
        stamps = (text(tree, field) for field in ("lastTimestamp", "deprecatedLastTimestamp", "eventTime"))
        self.last = text(tree, "series", "lastObservedTime") or next(filter(None, stamps), created)
        self.first = text(tree, "firstTimestamp") or text(tree, "eventTime") or created or self.last


class DumpedCluster:
    """What a dump tells of a cluster."""

    def __init__(self, objects: Iterable[Manifest]) -> None:
        self.kinds: dict[str, int] = {}
        self._spaces: set[tuple[str, str]] = set()
        self._by_name: dict[str, dict[tuple[str, str], Manifest]] = {}
        self._events: dict[tuple[str, str, str], list[Event]] = {}
        self._workloads: dict[tuple[str, str, str], list[Manifest]] = {}
        for tree in objects:
            kind = _kind(tree)
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            self._spaces.add((kind, namespace_of(tree)))
            if kind == "Event":
                about: Any = at(tree, "involvedObject") or at(tree, "regarding")
                space = text(about, "namespace") or text(tree, "metadata", "namespace")
                self._events.setdefault((text(about, "kind"), space, text(about, "name")), []).append(Event(tree))
            else:
                self._by_name.setdefault(kind, {})[namespace_of(tree), name_of(tree)] = tree
        for events in self._events.values():
            events.sort(key=lambda event: moment(event.last) or 0.0)

    def has(self, kind: str, namespace: str = "") -> bool:
        """Whether the dump holds an object of this kind, in this namespace where one is named.

        A dump of one that has none cannot be told from a dump of one that was not asked for it.
        """
        return (kind, namespace) in self._spaces if namespace else kind in self.kinds

    def all(self, kind: str) -> list[Manifest]:
        """The objects of a kind, by namespace and name."""
        return [tree for _, tree in sorted(self._by_name.get(kind, {}).items(), key=lambda item: item[0])]

    def workloads(self, namespace: str, kind: str, name: str) -> list[Manifest]:
        """The Workloads of a job: those that it owns, else those whose name is made of its own."""
        if not self._workloads:
            for tree in self.all("Workload"):
                space = namespace_of(tree)
                for parent in maps(tree, "metadata", "ownerReferences"):
                    self._workloads.setdefault((space, text(parent, "kind"), text(parent, "name")), []).append(tree)
                self._workloads.setdefault((space, "", name_of(tree).rpartition("-")[0]), []).append(tree)
        owned = self._workloads.get((namespace, kind, name))
        return owned or self._workloads.get((namespace, "", f"{kind.lower()}-{name}"), [])

    def find(self, kind: str, namespace: str, name: str) -> Manifest:
        """The object of that name, empty where the dump has none."""
        return self._by_name.get(kind, {}).get((namespace, name), {})

    def events(self, kind: str, namespace: str, name: str, *reasons: str) -> list[Event]:
        """The events about an object, the latest last; with `reasons`, of these alone."""
        events = self._events.get((kind, namespace, name), [])
        return [event for event in events if event.reason in reasons] if reasons else events

    def pods_with_events(self) -> list[tuple[str, str]]:
        """Namespace and name of each pod that events are about, also of those that are gone."""
        return [(namespace, name) for kind, namespace, name in self._events if kind == "Pod"]

    @property
    def date(self) -> str:
        """The latest time in the statuses and events: about when the dump was made."""
        stamps = [event.last for events in self._events.values() for event in events]
        for kind in ("JobSet", "Job", "Pod", "Workload"):
            for tree in self._by_name.get(kind, {}).values():
                stamps.append(text(tree, "metadata", "creationTimestamp"))
                stamps += [text(one, "lastTransitionTime") for one in maps(tree, "status", "conditions")]
                for status in maps(tree, "status", "containerStatuses"):
                    stamps += [text(status, key, "terminated", "finishedAt") for key in ("state", "lastState")]
        return max(moments(stamps), default=(0.0, ""))[1]


def _kind(tree: Manifest) -> str:
    """The object's kind, with its group where another group has a kind of the same name."""
    kind, version = text(tree, "kind"), text(tree, "apiVersion")
    if not version or version.startswith(_VERSIONS.get(kind, "")):
        return kind
    return f"{kind}.{version.partition('/')[0]}"


def name_of(tree: Manifest) -> str:
    return text(tree, "metadata", "name")


def namespace_of(tree: Manifest) -> str:
    """`metadata.namespace`, `default` where it is absent from an object that a job consists of."""
    held = text(tree, "metadata", "namespace")
    cluster_wide = text(tree, "kind") in ("Node", "PriorityClass", "ClusterQueue", "AdmissionCheck", "ResourceFlavor")
    return held or ("" if cluster_wide else "default")


def owner(tree: Manifest, kind: str) -> str:
    """The name of the owner of this kind, empty where the object has none."""
    return next(
        (text(one, "name") for one in maps(tree, "metadata", "ownerReferences") if text(one, "kind") == kind), ""
    )


def label(tree: Manifest, key: str) -> str:
    """A label's value, else that of the annotation of the same key."""
    return labels(tree, "metadata", "labels").get(key) or labels(tree, "metadata", "annotations").get(key, "")


def container_of(spec: Any, name: str) -> Manifest:
    """The container of that name in the spec of a pod, empty where it has none."""
    both = (*maps(spec, "containers"), *maps(spec, "initContainers"))
    return next((one for one in both if text(one, "name") == name), {})


class DumpedPod:
    """One pod: its place in the job, and the states of its containers."""

    def __init__(self, tree: Manifest) -> None:
        self.tree = tree
        self.name, self.namespace = name_of(tree), namespace_of(tree)
        self.role = label(tree, REPLICATED_JOB)
        self.job = next(filter(None, (label(tree, key) for key in JOB_NAME_LABELS)), "") or owner(tree, "Job")
        self.index = whole_number(label(tree, POD_INDEX))
        self.phase = text(tree, "status", "phase")
        self.node = text(tree, "spec", "nodeName")  # that it is bound to, empty for one that is not
        self.created = text(tree, "metadata", "creationTimestamp")
        self.is_deleted = bool(text(tree, "metadata", "deletionTimestamp"))

    def statuses(self) -> Iterator[tuple[Manifest, bool]]:
        """The status of each container, with whether it is an init container, in their order."""
        yield from ((status, True) for status in maps(self.tree, "status", "initContainerStatuses"))
        yield from ((status, False) for status in maps(self.tree, "status", "containerStatuses"))

    @property
    def waits(self) -> bool:
        """Whether a container of it waits, as between two crashes."""
        return any(at(status, "state", "waiting") for status, is_init in self.statuses() if not is_init)


@dataclasses.dataclass(eq=False, slots=True)
class DumpedJob:
    """One job of the dump; `tree` is empty where only its children are there."""

    cluster: DumpedCluster
    kind: str
    namespace: str
    name: str
    tree: Manifest
    jobs: list[Manifest] = dataclasses.field(default_factory=list)
    pods: list[DumpedPod] = dataclasses.field(default_factory=list)
    gone: list[str] = dataclasses.field(default_factory=list)  # pods of which only events are left

    def events(self, *reasons: str) -> list[Event]:
        return self.cluster.events(self.kind, self.namespace, self.name, *reasons)

    def pod_events(self, pod: str, *reasons: str) -> list[Event]:
        return self.cluster.events("Pod", self.namespace, pod, *reasons)

    def roles(self) -> list[Manifest]:
        return maps(self.tree, "spec", "replicatedJobs") if self.kind == "JobSet" else []

    def role(self, name: str) -> Manifest:
        return next((one for one in self.roles() if text(one, "name") == name), {})

    def pod_spec(self, role: str) -> Manifest:
        """The pod template's spec of a role, of a Job its own."""
        return fields(at(self.tree, "spec", *TEMPLATE[2:]) if self.kind == "Job" else at(self.role(role), *TEMPLATE))

    def field(self, role: str, *steps: str | tuple[str, object]) -> Steps:
        """The path of a field of a role's pod template, as it stands in the JobSet."""
        return self.job_field(role, *TEMPLATE[2:], *steps)

    def resources(self, role: str, resource: str = "") -> Steps:
        """The path of what the role's pods ask for; of one resource, of the first container that names it."""
        containers, place = maps(self.pod_spec(role), "containers"), "resources"
        for container in containers if resource else ():
            for side in ("requests", "limits"):
                if at(container, place, side, resource):
                    return self.field(role, "containers", ("name", text(container, "name")), place, side, resource)
        name = text(containers[0], "name") if containers else ""
        return self.field(role, "containers", ("name", name), place)

    def job_field(self, role: str, *steps: str | tuple[str, object]) -> Steps:
        """The path of a field of a role's Job template."""
        if self.kind == "Job":
            return ("spec", *steps)
        return ("spec", "replicatedJobs", ("name", role), *TEMPLATE[:2], *steps) if role else ("spec", "replicatedJobs")

    def shown(self, pod: DumpedPod) -> str:
        """A pod as people know it: its rank in its role, and its name."""
        if (rank := self.rank(pod)) is None:
            return f"`{pod.name}`"
        return f"rank {rank} of {pod.role} (`{pod.name}`)" if len(self.roles()) > 1 else f"rank {rank} (`{pod.name}`)"

    def rank(self, pod: DumpedPod) -> int | None:
        """Its number within its role: the index of its Job times the pods of a Job, and its own index."""
        if pod.index is None:
            return None
        pods = number(self.role(pod.role), "template", "spec", "parallelism") or 1
        return pod.index + (whole_number(label(pod.tree, JOB_INDEX_LABEL)) or 0) * pods

    @property
    def queue(self) -> str:
        return labels(self.tree, "metadata", "labels").get(KUEUE_QUEUE, "")


def runs(cluster: DumpedCluster) -> list[DumpedJob]:
    """Every job that the dump shows, by namespace and name: JobSets, and Jobs of no JobSet.

    A JobSet that is not in the dump, while Jobs or pods of it are, is there with an empty tree.
    """
    by_key: dict[tuple[str, str, str], DumpedJob] = {}
    by_job: dict[tuple[str, str], DumpedJob] = {}

    def run_of(kind: str, space: str, name: str, tree: Manifest) -> DumpedJob:
        return by_key.setdefault((kind, space, name), DumpedJob(cluster, kind, space, name, tree))

    for tree in cluster.all("JobSet"):
        run_of("JobSet", namespace_of(tree), name_of(tree), tree)
    for tree in cluster.all("Job"):
        space, parent = namespace_of(tree), label(tree, JOBSET_NAME) or owner(tree, "JobSet")
        kind, name = ("JobSet", parent) if parent else ("Job", name_of(tree))
        run = run_of(kind, space, name, tree if kind == "Job" else {})
        run.jobs.append(tree)
        by_job[space, name_of(tree)] = run
    for tree in cluster.all("Pod"):
        pod = DumpedPod(tree)
        if parent := label(tree, JOBSET_NAME):
            run_of("JobSet", pod.namespace, parent, {}).pods.append(pod)
        elif pod.job:
            run = by_job.get((pod.namespace, pod.job)) or run_of("Job", pod.namespace, pod.job, {})
            run.pods.append(pod)
    # Give each job the pods that are gone but for their events, by the names that controllers give: JOB-INDEX-RANDOM.
    there = {(pod.namespace, pod.name) for run in by_key.values() for pod in run.pods}
    roles = {
        (run.namespace, f"{run.name}-{text(role, 'name')}"): run for run in by_key.values() for role in run.roles()
    }
    for space, name in cluster.pods_with_events():
        if (space, name) in there:
            continue
        job = name.rsplit("-", 2)[0]
        parent_run = by_job.get((space, job)) or roles.get((space, job.rpartition("-")[0]))
        if parent_run is not None:
            parent_run.gone.append(name)
    return [by_key[key] for key in sorted(by_key, key=lambda key: (key[1], key[2], key[0]))]
