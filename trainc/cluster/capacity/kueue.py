"""Whether Kueue ever admits a JobSet: its webhooks, its reconcilers and its scheduler, in the order in which they act.

After kueue v0.20.0-devel (ff69552e79ad); the algorithm of v0.19 is the same.
"""

from collections.abc import Iterator

from trainc.apiserver.kueue.jobset_webhook import GATES, PREBUILT, PRIORITY, SECONDS, create_faults, with_defaults
from trainc.apiserver.pods.complaints import fields, items
from trainc.apiserver.profile import Profile
from trainc.cluster.capacity.amounts import matches_selector
from trainc.cluster.capacity.cluster import PROVISIONING, Snapshot
from trainc.cluster.capacity.cycle import run_cycles
from trainc.cluster.capacity.facts import ASSUMED_GATES, ClusterFacts, ClusterQueue
from trainc.cluster.capacity.limit_ranges import reserved_fault
from trainc.cluster.capacity.pods import Defaults, PodSet, jobs_of, unknown_of_pod
from trainc.cluster.capacity.verdict import RECONCILER, TOO_MUCH, WEBHOOK, WORKLOAD, KueueVerdict
from trainc.model.tree import Tree, get, plain, value
from trainc.text.object_keys import KUEUE_QUEUE, MULTIKUEUE

_MOST_PODSETS = 18  # of a Workload, by its CRD
_NAME_LABEL = "kubernetes.io/metadata.name"  # of every namespace
GATED = "AdmissionGated"


class UnknownError(Exception):
    """What a verdict rests on and the dump does not tell."""


class StoppedError(Exception):
    """Why a workload never gets its quota: Kueue's reason and message."""


class Kueue:
    """Kueue with the objects of one dump."""

    def __init__(self, facts: ClusterFacts, *, is_idle: bool = True) -> None:
        self.facts = facts
        self.snapshot = Snapshot(facts, is_idle=is_idle)
        state = {kind: dict(self._seen(kind)) for kind in ("LocalQueue", "WorkloadPriorityClass")}
        self._manages_all = facts.configuration.get("manageJobsWithoutQueueName") is True
        self.profile = Profile(kueue=True, state=state, unqueued=self._manages_all)
        self._defaults: dict[str, Defaults] = {}

    def _seen(self, kind: str) -> Iterator[tuple[tuple[str, str], Tree]]:
        """The objects that Kueue's defaulting webhook looks for; a default queue counts only while it takes jobs."""
        if kind == "WorkloadPriorityClass" and not self.facts.gate("WorkloadPriorityClassDefaulting"):
            return
        for key, tree in self.facts.objects.get(kind, {}).items():
            namespace, slash, name = key.rpartition("/")
            is_stopped = (value(tree, "spec", "stopPolicy") or "None") != "None"
            if not slash or (not is_stopped and self._is_covered(namespace) is not False):
                yield (namespace, name), tree

    def judge(self, jobset: Tree) -> KueueVerdict:
        verdict = KueueVerdict()
        try:
            self._judge(jobset, verdict)
        except UnknownError as unknown:
            verdict.missing = str(unknown)
        except StoppedError as stopped:
            verdict.reason, verdict.message = stopped.args
        return verdict

    def _judge(self, jobset: Tree, verdict: KueueVerdict) -> None:
        namespace = value(jobset, "metadata", "namespace") or "default"
        jobset = with_defaults(jobset, self.profile)
        labels = fields(plain(get(jobset, "metadata", "labels")))
        verdict.queue = labels.get(KUEUE_QUEUE) or ""
        verdict.is_managed = bool(verdict.queue) or (self._manages_all and self._is_opted_in(namespace))
        if faults := list(dict.fromkeys(fault.message for fault in create_faults(jobset))):
            verdict.refused_by = WEBHOOK
            verdict.refusal = faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"
            return
        if not verdict.is_managed:
            return
        chosen = self.facts.gates
        if gates := sorted(gate for gate, assumed in ASSUMED_GATES.items() if chosen.get(gate, assumed) is not assumed):
            raise UnknownError(f"trainc does not model Kueue with feature gate {gates[0]} set as it is")
        if not self._is_opted_in(namespace):
            # The webhook suspends what names a queue; the reconciler passes over the namespace.
            raise StoppedError("Misconfigured", f"namespace {namespace} is not opted in for Kueue management")
        if not self._has_workload(jobset, labels, verdict):
            return
        queue = self._queue(verdict, namespace)
        for pods in verdict.podsets:
            if unknown := unknown_of_pod(self.facts, pods.tree):
                raise UnknownError(unknown)
        if namespace not in self._defaults:
            self._defaults[namespace] = Defaults(self.facts, namespace)
        defaults = self._defaults[namespace]
        exact = [(pods.tree, defaults.fill(pods)) for pods in verdict.podsets]
        namespace_labels = self.facts.namespace_labels(namespace)
        if namespace_labels is None and queue.selector and not self.facts.closed:
            raise UnknownError(f"Namespace {namespace} is not in the dump")
        if not matches_selector(queue.selector, namespace_labels or {}):
            raise StoppedError("Misconfigured", "workload namespace doesn't match ClusterQueue selector")
        if message := defaults.limits.kueue_refusal(exact):
            verdict.cycles, verdict.messages = 1, [message]
            raise StoppedError("Misconfigured", message)
        run_cycles(self.snapshot, queue, verdict, defaults)
        # Cohorts that the dump does not show may have quota of their own, or a cohort above them.
        is_bounded = not queue.parent or all(quota.borrowing is not None for quota in queue.quotas.values())
        if verdict.reason == TOO_MUCH and not is_bounded and not self.facts.is_listed("Cohort"):
            raise UnknownError(f"no Cohort is in the dump, and cohort {queue.parent} may have more to lend")
        if (gates := value(jobset, "metadata", "annotations", GATES)) and verdict.has_quota:
            verdict.has_quota = verdict.is_admitted = False
            raise StoppedError(GATED, f"Admission is gated by: {gates}")

    def _is_covered(self, namespace: str) -> bool | None:
        """Whether Kueue manages jobs of a namespace, None where the dump does not tell."""
        selector = self.facts.configuration.get("managedJobsNamespaceSelector")
        if type(selector) is not dict:
            return True
        labels = self.facts.namespace_labels(namespace)
        if labels is None:
            expressions = selector.get("matchExpressions") or []
            keys = {*(selector.get("matchLabels") or {}), *(one.get("key") for one in expressions)}
            if keys - {_NAME_LABEL}:
                return None
            labels = {_NAME_LABEL: namespace}
        return matches_selector(selector, labels)

    def _is_opted_in(self, namespace: str) -> bool:
        if (covered := self._is_covered(namespace)) is None:
            raise UnknownError(
                f"Namespace {namespace} is not in the dump, and Kueue manages namespaces by their labels"
            )
        return covered

    def _has_workload(self, jobset: Tree, labels: dict[str, str], verdict: KueueVerdict) -> bool:
        """Whether Kueue makes a Workload of the job; its pod sets and priority."""
        verdict.podsets = [PodSet(job) for job in jobs_of(jobset)]
        annotations = plain(get(jobset, "metadata", "annotations")) or {}
        prebuilt = annotations.get(PREBUILT) or labels.get(PREBUILT)
        verdict.message = self._priority(labels.get(PRIORITY) or "", verdict)
        namespace = value(jobset, "metadata", "namespace") or "default"
        if prebuilt and self.facts.find("Workload", prebuilt, namespace) is None:
            self._known("Workload")
            verdict.message = f'workloads.kueue.x-k8s.io "{prebuilt}" not found'
        elif len(verdict.podsets) > _MOST_PODSETS and not verdict.message:
            verdict.message = f"spec.podSets: Too many: {len(verdict.podsets)}: must have at most {_MOST_PODSETS} items"
        if verdict.message:
            verdict.refused_by = RECONCILER
            return False
        verdict.refusal = reserved_fault(pods.tree for pods in verdict.podsets)
        verdict.refused_by = WORKLOAD if verdict.refusal else ""
        verdict.seconds = int(labels.get(SECONDS) or "0")
        return not verdict.refusal

    def _priority(self, label: str, verdict: KueueVerdict) -> str:
        """Set the priority; the message of the class that does not exist, empty where all do."""
        kind, name = "WorkloadPriorityClass" if label else "PriorityClass", label
        if not label:
            name = next(filter(None, (pods.spec.get("priorityClassName") for pods in verdict.podsets)), "")
        if not name:
            classes = self.facts.objects.get("PriorityClass", {}).items()
            name = next((name for name, tree in classes if value(tree, "globalDefault") is True), "")
        declared = self.facts.find(kind, name) if name else None
        verdict.priority_class = name
        if name and declared is None:
            if not self.facts.is_listed(kind) or name.startswith("system-"):
                return ""
            plural = "workloadpriorityclasses.kueue.x-k8s.io" if label else "priorityclasses.scheduling.k8s.io"
            return f'{plural} "{name}" not found'
        number = value(declared, "value")
        verdict.priority = number if type(number) is int else 0
        return ""

    def _queue(self, verdict: KueueVerdict, namespace: str) -> ClusterQueue:
        name = verdict.queue
        local = self.facts.find("LocalQueue", name, namespace)
        if local is None:
            self._known("LocalQueue")
            raise StoppedError("Misconfigured", f"LocalQueue {name} doesn't exist")
        if (value(local, "spec", "stopPolicy") or "None") != "None":
            raise StoppedError("Suspended", f"LocalQueue {name} is inactive")
        chosen = value(local, "spec", "clusterQueue") or ""
        if (queue := self.facts.queues.get(chosen)) is None:
            self._known("ClusterQueue")
            raise StoppedError("Misconfigured", f"ClusterQueue {chosen} doesn't exist")
        verdict.cluster_queue = chosen
        if reason := inactive_reason(self.snapshot, queue):
            verdict.detail = reason
            raise StoppedError("Suspended", f"ClusterQueue {chosen} is inactive")
        return queue

    def _known(self, kind: str) -> None:
        if not self.facts.is_listed(kind):
            raise UnknownError(f"no {kind} is in the dump")


def inactive_reason(snapshot: Snapshot, queue: ClusterQueue) -> str:
    """Why a queue is inactive, empty for an active one."""
    if queue.is_stopped:
        return "is stopped"
    if queue.name in snapshot.pools.cyclic:
        return "is in a cycle of cohorts"
    missing = [name for name in queue.flavors if name not in snapshot.facts.flavors]
    if missing and not snapshot.facts.is_listed("ResourceFlavor"):
        raise UnknownError(f"ResourceFlavor {', '.join(missing)} of ClusterQueue {queue.name} is not in the dump")
    if missing:
        return f"references missing ResourceFlavor(s): {','.join(missing)}"
    return _checks(snapshot, queue) or _topologies(snapshot, queue)


def _checks(snapshot: Snapshot, queue: ClusterQueue) -> str:
    facts = snapshot.facts
    found = {check: facts.find("AdmissionCheck", check) for check in sorted(queue.checks)}
    missing = [check for check, tree in found.items() if tree is None]
    if missing and not facts.is_listed("AdmissionCheck"):
        raise UnknownError(f"AdmissionCheck {', '.join(missing)} of ClusterQueue {queue.name} is not in the dump")
    if missing:
        return f"references missing AdmissionCheck(s): {','.join(missing)}"
    conditions = {check: items(get(tree, "status", "conditions")) for check, tree in found.items()}
    silent = [check for check, listed in conditions.items() if not listed]
    if silent and not facts.closed:
        raise UnknownError(
            f"AdmissionCheck {', '.join(silent)} of ClusterQueue {queue.name} has no conditions in the dump"
        )
    inactive = [
        check
        for check, listed in conditions.items()
        if not any(value(one, "type") == "Active" and value(one, "status") == "True" for one in listed)
    ]
    if inactive:
        return f"references inactive AdmissionCheck(s): {','.join(inactive)}"
    remote = snapshot.checks_of(queue, MULTIKUEUE)
    if len(remote) > 1:
        return f"uses several MultiKueue AdmissionChecks: {','.join(remote)}"
    partial = [check for check in remote if queue.checks[check] and queue.checks[check] != frozenset(queue.flavors)]
    if partial:
        return f"uses a MultiKueue AdmissionCheck for some flavors only: {','.join(partial)}"
    both = remote and snapshot.checks_of(queue, PROVISIONING)
    return "uses both MultiKueue and ProvisioningRequest AdmissionChecks" if both else ""


def _topologies(snapshot: Snapshot, queue: ClusterQueue) -> str:
    """Flavors whose topology is missing; with MultiKueue that is the business of the worker clusters."""
    facts, is_remote = snapshot.facts, bool(snapshot.checks_of(queue, MULTIKUEUE))
    for name in queue.flavors:
        topology = facts.flavors[name].topology
        if topology and facts.levels(topology) is None:
            if not facts.is_listed("Topology"):
                raise UnknownError(f"Topology {topology} of flavor {name} is not in the dump")
            if not is_remote:
                return f'there is no Topology "{topology}" for TAS flavor "{name}"'
        if topology and not facts.has_nodes and not is_remote:
            raise UnknownError(f"no Node is in the dump, and flavor {name} places pods by topology")
    return ""
