"""What kube-scheduler does with the pods of a job: one pod after another, each on the best node at that moment.

Why a pod cannot run on a node: the default filters of kube-scheduler 1.36.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from typing import Any

from trainc.cluster.capacity.amounts import matches_selector, pods_in, preference, untolerated
from trainc.cluster.capacity.nodes import Node, selects_node
from trainc.cluster.capacity.pods import PendingPod, hard_spreads, ports_collide, required_peers

_GATED = "Scheduling is blocked due to non-empty scheduling gates"
_MAX_SCORE = 100
# What a container without a request counts as when nodes are compared: cpu in thousandths, memory in bytes.
_UNASKED = {"cpu": 100, "memory": 200 * 1024 * 1024}
_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
UNSCHEDULABLE = "node(s) were unschedulable"
TAINT = "node(s) had untolerated taint(s)"
AFFINITY = "node(s) didn't match Pod's node affinity/selector"
PORTS = "node(s) didn't have free ports for the requested pod ports"
FULL = "Too many pods"
SPREAD = "node(s) didn't match pod topology spread constraints"
NEAR = "node(s) didn't match pod affinity rules"
AWAY = "node(s) didn't match pod anti-affinity rules"
OTHERS_AWAY = "node(s) didn't satisfy existing pods anti-affinity rules"
Refusal = tuple[tuple[str, ...], bool]  # the reasons, and whether removing other pods could help


class SimulatedScheduler:
    """Nodes that fill up while pods are placed on them."""

    def __init__(
        self, nodes: Iterable[Node], bound: Iterable[tuple[PendingPod, str]] = (), *, is_idle: bool = True
    ) -> None:
        self.places = {node.name: NodeUsage(node, node.free(is_idle=is_idle)) for node in nodes}
        for pod, name in bound:
            if name in self.places:
                self.places[name].pods.append(pod)

    def place(self, pod: PendingPod) -> tuple[str, str]:
        """The node that takes the pod, or the message with which it waits."""
        if node_name := pod.spec.get("nodeName"):
            if node_name in self.places:
                self.places[node_name].take(pod)
            return node_name, ""
        if pod.spec.get("schedulingGates"):
            return "", _GATED
        if not self.places:
            return "", "no nodes available to schedule pods"
        peers = Peers(pod, self.places.values())
        refusals = {name: place.refusal(pod) or peers.refusal(place) for name, place in self.places.items()}
        feasible = [self.places[name] for name, refusal in refusals.items() if refusal is None]
        if not feasible:
            return "", _message([refusal for refusal in refusals.values() if refusal is not None])
        place = best(pod, feasible)
        place.take(pod)
        return place.node.name, ""

    def room(self, pod: PendingPod) -> dict[str, int]:
        """How many pods equal to this one each node takes, without regard to other pods' rules; no zeros."""
        open_to = {name: place.free for name, place in self.places.items() if may_run(pod, place.node)}
        found = {name: pods_in(free, pod.requests)[0] for name, free in open_to.items()}
        return {name: most for name, most in found.items() if most}


def _message(refused: list[Refusal]) -> str:
    def listed(reasons: Iterable[str]) -> str:
        return ", ".join(sorted(f"{count} {reason}" for reason, count in Counter(reasons).items()))

    helps = ("No preemption victims found for incoming pod", "Preemption is not helpful for scheduling")
    return (
        f"0/{len(refused)} nodes are available: {listed(reason for reasons, _ in refused for reason in reasons)}. "
        f"no new claims to deallocate, preemption: 0/{len(refused)} nodes are available: "
        f"{listed(helps[0] if helped else helps[1] for _, helped in refused)}."
    )


def best(pod: PendingPod, places: "Sequence[NodeUsage]") -> "NodeUsage":
    """The place with the highest score; of several, the one that a binary heap of Go has on top."""
    if len(places) == 1:
        return places[0]
    soft = [_soft_taints(pod, place) for place in places]
    wanted = [preference(pod.spec, place.node.labels, place.node.name) for place in places]
    scores = [
        _least_allocated(pod, place)
        + _balanced(pod, place)
        + 3 * (_MAX_SCORE - _normal(soft[index], max(soft)))
        + 2 * _normal(wanted[index], max(wanted))
        for index, place in enumerate(places)
    ]
    return places[_top(scores)]


def _least_allocated(pod: PendingPod, place: "NodeUsage") -> int:
    scores = []
    for name, unasked in _UNASKED.items():
        capacity = place.node.allocatable.get(name, 0)
        if capacity <= 0:
            continue
        used = place.used.get(name, 0) + (pod.requests.get(name) or unasked)
        used += unasked * sum(not other.requests.get(name) for other in place.pods)
        scores.append((capacity - used) * _MAX_SCORE // capacity if used <= capacity else 0)
    return sum(scores) // len(scores) if scores else 0


def _balanced(pod: PendingPod, place: "NodeUsage") -> int:
    """How evenly cpu and memory are used with the pod; pods that ask for neither are not compared."""
    if not any(pod.requests.get(name) for name in _UNASKED):
        return 0
    shares = []
    for name in _UNASKED:
        capacity = place.node.allocatable.get(name, 0)
        if capacity > 0:
            shares.append(min(1.0, (place.used.get(name, 0) + pod.requests.get(name, 0)) / capacity))
    if len(shares) < 2:
        return _MAX_SCORE
    mean = sum(shares) / len(shares)
    return int((1 - sqrt(sum((share - mean) ** 2 for share in shares) / len(shares))) * _MAX_SCORE)


def _soft_taints(pod: PendingPod, place: "NodeUsage") -> int:
    soft = ("PreferNoSchedule", "", None)
    loose = [{**one, "effect": ""} for one in pod.tolerations if one.get("effect") in soft]
    hard = [{**taint, "effect": "NoSchedule"} for taint in place.node.taints if taint.get("effect") == soft[0]]
    return sum(untolerated([taint], loose) is not None for taint in hard)


def _normal(score: int, most: int) -> int:
    return _MAX_SCORE * score // most if most else 0


def _top(scores: list[int]) -> int:
    """The index that Go's container/heap has on top: the largest score, and what its sifting makes of equal ones."""
    heap = list(range(len(scores)))
    for start in range(len(heap) // 2 - 1, -1, -1):
        at = start
        while 2 * at + 1 < len(heap):
            child = 2 * at + 1
            if child + 1 < len(heap) and scores[heap[child + 1]] > scores[heap[child]]:
                child += 1
            if scores[heap[child]] <= scores[heap[at]]:
                break
            heap[at], heap[child] = heap[child], heap[at]
            at = child
    return heap[0]


class NodeUsage:
    """A node while pods are being placed: what is free, and the pods that are there."""

    __slots__ = ("free", "node", "pods", "used")

    def __init__(self, node: Node, free: Mapping[str, int]) -> None:
        self.node = node
        self.free = dict(free)
        self.pods: list[PendingPod] = []
        self.used = {name: node.allocatable.get(name, 0) - amount for name, amount in free.items()}

    def refusal(self, pod: PendingPod) -> Refusal | None:
        """Why the node is out of the question for a pod, wherever others of its peers are."""
        if reason := static_refusal(pod, self.node):
            return (reason,), False
        if pod.host_ports and any(ports_collide(pod.host_ports, other.host_ports) for other in self.pods):
            return (PORTS,), True
        lacking = {name: amount for name, amount in pod.requests.items() if amount > max(0, self.free.get(name, 0))}
        if not lacking:
            return None
        helps = all(amount <= self.node.allocatable.get(name, 0) for name, amount in lacking.items())
        return tuple([FULL if name == "pods" else f"Insufficient {name}" for name in lacking]), helps

    def take(self, pod: PendingPod, count: int = 1) -> None:
        """Take what so many equal pods need."""
        self.pods.append(pod)
        for name, amount in pod.requests.items():
            self.free[name] = self.free.get(name, 0) - amount * count
            self.used[name] = self.used.get(name, 0) + amount * count


def static_refusal(pod: PendingPod, node: Node) -> str:
    """Why a node is out of the question for a pod whatever runs there, empty where it is not."""
    if node.is_unschedulable and untolerated([_CORDON], pod.tolerations) is not None:
        return UNSCHEDULABLE
    if untolerated(node.taints, pod.tolerations) is not None:
        return TAINT
    return "" if selects_node(pod.spec, pod.terms, node) else AFFINITY


def may_run(pod: PendingPod, node: Node) -> bool:
    """Whether a node takes a pod as far as its labels, taints and name go."""
    return pod.spec.get("nodeName") in (None, "", node.name) and not static_refusal(pod, node)


class Peers:
    """Where other pods are, as one pod's spreading and affinity rules see them."""

    def __init__(self, pod: PendingPod, places: Iterable[NodeUsage]) -> None:
        self.pod = pod
        self.places = list(places)
        self.near = [self._counts(term) for term in required_peers(pod.spec, "podAffinity")]
        self.away = [self._counts(term) for term in required_peers(pod.spec, "podAntiAffinity")]
        self.spreads = [self._spread(one) for one in hard_spreads(pod.spec)]
        # The domains that pods keep to themselves which are already there.
        self.repelled = {
            (term.get("topologyKey", ""), place.node.labels[term.get("topologyKey", "")])
            for place in self.places
            for other in place.pods
            for term in required_peers(other.spec, "podAntiAffinity")
            if term.get("topologyKey", "") in place.node.labels and _selects(term, pod, other)
        }

    def refusal(self, place: NodeUsage) -> Refusal | None:
        """Why a node is out because of the pods on it or near it."""
        labels = place.node.labels
        for key, counts, least, skew, own in self.spreads:
            if key not in labels:
                return (f"{SPREAD} (missing required label)",), False
            if counts.get(labels[key], 0) + own - least > skew:
                return (SPREAD,), True
        if not all(key in labels for key, _ in self.near):
            return (NEAR,), False
        if not all(counts.get(labels[key], 0) for key, counts in self.near):
            # The first pod of a group that wants to be near itself has nobody to be near to.
            terms = required_peers(self.pod.spec, "podAffinity")
            if any(counts for _, counts in self.near) or not all(_selects(one, self.pod, self.pod) for one in terms):
                return (NEAR,), False
        if any(counts.get(labels.get(key, ""), 0) for key, counts in self.away if key in labels):
            return (AWAY,), True
        if any(labels.get(key) == domain for key, domain in self.repelled):
            return (OTHERS_AWAY,), True
        return None

    def _counts(self, term: Mapping[str, Any]) -> tuple[str, Counter[str]]:
        key, counts = term.get("topologyKey", ""), Counter[str]()
        for place in self.places:
            if (domain := place.node.labels.get(key)) is not None:
                counts[domain] += sum(_selects(term, other, self.pod) for other in place.pods)
        return key, +counts

    def _spread(self, one: Mapping[str, Any]) -> tuple[str, dict[str, int], int, int, int]:
        key = one.get("topologyKey", "")
        selector = dict(one.get("labelSelector") or {})
        keys = [k for k in one.get("matchLabelKeys") or [] if k in self.pod.labels]
        if keys:
            selector["matchLabels"] = {**(selector.get("matchLabels") or {}), **{k: self.pod.labels[k] for k in keys}}
        chosen = selector if "labelSelector" in one or keys else None
        counts: dict[str, int] = {}
        for place in self.places:
            if (domain := place.node.labels.get(key)) is not None and self._is_counted(place.node, one):
                mine = [other.labels for other in place.pods if other.namespace == self.pod.namespace]
                counts[domain] = counts.get(domain, 0) + sum(matches_selector(chosen, labels) for labels in mine)
        least = min(counts.values(), default=0)
        if len(counts) < int(one.get("minDomains") or 1):
            least = 0
        return key, counts, least, int(one.get("maxSkew") or 1), int(matches_selector(chosen, self.pod.labels))

    def _is_counted(self, node: Node, one: Mapping[str, Any]) -> bool:
        pod = self.pod
        if not all(spread.get("topologyKey", "") in node.labels for spread in hard_spreads(pod.spec)):
            return False
        if one.get("nodeTaintsPolicy") == "Honor" and untolerated(node.taints, pod.tolerations) is not None:
            return False
        return one.get("nodeAffinityPolicy") == "Ignore" or selects_node(pod.spec, pod.terms, node)


def _selects(term: Mapping[str, Any], pod: PendingPod, owner: PendingPod) -> bool:
    namespaces = term.get("namespaces") or []
    everywhere = term.get("namespaceSelector") is not None
    if not everywhere and pod.namespace not in (namespaces or [owner.namespace]):
        return False
    selector = term.get("labelSelector")
    expressions = [
        {"key": key, "operator": operator, "values": [owner.labels[key]]}
        for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn"))
        for key in term.get(field) or []
        if key in owner.labels
    ]
    if expressions and isinstance(selector, dict):
        selector = {**selector, "matchExpressions": [*(selector.get("matchExpressions") or []), *expressions]}
    return matches_selector(selector, pod.labels)
