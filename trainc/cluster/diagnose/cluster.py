"""The objects of a dump by kind and name, and its events by the object that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainc.cluster.diagnose.fields import at, labels, maps, moment, number, text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from trainc.cluster.diagnose.fields import Plain

# Kinds whose names other groups use as well (Volcano's Job, Kubernetes' own Workload, Knative's Service).
_VERSIONS = {
    "Job": "batch/",
    "JobSet": "jobset.x-k8s.io/",
    "Pod": "v1",
    "Service": "v1",
    "TrainJob": "trainer.kubeflow.org/",
    "Workload": "kueue.x-k8s.io/",
}


class Event:
    """One event: its reason, its message and when it was last seen."""

    __slots__ = ("count", "first", "last", "message", "reason")

    def __init__(self, tree: Plain) -> None:
        self.reason = text(tree, "reason")
        self.message = text(tree, "message") or text(tree, "note")
        created = text(tree, "metadata", "creationTimestamp")
        self.last = (
            text(tree, "series", "lastObservedTime")
            or text(tree, "lastTimestamp")
            or text(tree, "deprecatedLastTimestamp")
            or text(tree, "eventTime")
            or created
        )
        self.first = text(tree, "firstTimestamp") or text(tree, "eventTime") or created or self.last
        self.count = number(tree, "series", "count") or number(tree, "count") or 1


class DumpedCluster:
    """What a dump tells of a cluster."""

    def __init__(self, objects: Iterable[Plain]) -> None:
        self.kinds: dict[str, int] = {}
        self._spaces: set[tuple[str, str]] = set()
        self._by_name: dict[str, dict[tuple[str, str], Plain]] = {}
        self._events: dict[tuple[str, str, str], list[Event]] = {}
        self._workloads: dict[tuple[str, str, str], list[Plain]] = {}
        for tree in objects:
            kind = _kind(tree)
            self.kinds[kind] = self.kinds.get(kind, 0) + 1
            self._spaces.add((kind, namespace_of(tree)))
            if kind == "Event":
                self._add_event(tree)
            else:
                self._by_name.setdefault(kind, {})[namespace_of(tree), name_of(tree)] = tree
        for events in self._events.values():
            events.sort(key=lambda event: moment(event.last) or 0.0)

    def _add_event(self, tree: Plain) -> None:
        about: Any = at(tree, "involvedObject") or at(tree, "regarding")
        space = text(about, "namespace") or text(tree, "metadata", "namespace")
        self._events.setdefault((text(about, "kind"), space, text(about, "name")), []).append(Event(tree))

    def has(self, kind: str, namespace: str = "") -> bool:
        """Whether the dump holds an object of this kind, in this namespace where one is named.

        A dump of one that has none cannot be told from a dump of one that was not asked for it.
        """
        return (kind, namespace) in self._spaces if namespace else kind in self.kinds

    def all(self, kind: str) -> list[Plain]:
        """The objects of a kind, by namespace and name."""
        return [tree for _, tree in sorted(self._by_name.get(kind, {}).items(), key=lambda item: item[0])]

    def workloads(self, namespace: str, kind: str, name: str) -> list[Plain]:
        """The Workloads of a job: those that it owns, else those whose name is made of its own."""
        if not self._workloads:
            for tree in self.all("Workload"):
                space = namespace_of(tree)
                for parent in maps(tree, "metadata", "ownerReferences"):
                    self._workloads.setdefault((space, text(parent, "kind"), text(parent, "name")), []).append(tree)
                self._workloads.setdefault((space, "", name_of(tree).rpartition("-")[0]), []).append(tree)
        owned = self._workloads.get((namespace, kind, name))
        return owned or self._workloads.get((namespace, "", f"{kind.lower()}-{name}"), [])

    def find(self, kind: str, namespace: str, name: str) -> Plain:
        """The object of that name, empty where the dump has none."""
        return self._by_name.get(kind, {}).get((namespace, name), {})

    def events(self, kind: str, namespace: str, name: str, *reasons: str) -> list[Event]:
        """The events about an object, the latest last; with `reasons`, of these alone."""
        own_events = self._events.get((kind, namespace, name), [])
        return [event for event in own_events if event.reason in reasons] if reasons else own_events

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
        known = [(time, stamp) for stamp in stamps if (time := moment(stamp)) is not None]
        return max(known)[1] if known else ""


def _kind(tree: Plain) -> str:
    """The object's kind, with its group where another group has a kind of the same name."""
    kind, version = text(tree, "kind"), text(tree, "apiVersion")
    if not version or version.startswith(_VERSIONS.get(kind, "")):
        return kind
    return f"{kind}.{version.partition('/')[0]}"


def name_of(tree: Plain) -> str:
    """`metadata.name`."""
    return text(tree, "metadata", "name")


def namespace_of(tree: Plain) -> str:
    """`metadata.namespace`, `default` where it is absent from an object that a job consists of."""
    held = text(tree, "metadata", "namespace")
    cluster_wide = text(tree, "kind") in ("Node", "PriorityClass", "ClusterQueue", "AdmissionCheck", "ResourceFlavor")
    return held or ("" if cluster_wide else "default")


def owner(tree: Plain, kind: str) -> str:
    """The name of the owner of this kind, empty where the object has none."""
    return next(
        (text(one, "name") for one in maps(tree, "metadata", "ownerReferences") if text(one, "kind") == kind), ""
    )


def label(tree: Plain, key: str) -> str:
    """A label's value, else that of the annotation of the same key."""
    return labels(tree, "metadata", "labels").get(key) or labels(tree, "metadata", "annotations").get(key, "")
