"""What kube-scheduler does with the pods of a job: one pod after another, each on the best node at that moment."""

from __future__ import annotations

from collections import Counter
from math import sqrt

from trainc.cluster.capacity.filters import NodeUsage, Peers, port_refusal, resource_refusal, static_refusal
from trainc.cluster.capacity.matching import preference, untolerated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainc.cluster.capacity.filters import Refusal
    from trainc.cluster.capacity.nodes import Node
    from trainc.cluster.capacity.pods import PendingPod

_GATED = "Scheduling is blocked due to non-empty scheduling gates"


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
        node_name = pod.spec.get("nodeName")
        if node_name:
            if node_name in self.places:
                self.places[node_name].take(pod)
            return node_name, ""
        if pod.spec.get("schedulingGates"):
            return "", _GATED
        if not self.places:
            return "", "no nodes available to schedule pods"
        feasible, refused = self._filter(pod)
        if not feasible:
            return "", _message(refused)
        place = best(pod, feasible)
        place.take(pod)
        return place.node.name, ""

    def _filter(self, pod: PendingPod) -> tuple[list[NodeUsage], list[Refusal]]:
        peers = Peers(pod, self.places.values())
        feasible, refused = [], []
        for place in self.places.values():
            reason = static_refusal(pod, place.node)
            refusal: Refusal | None = ((reason,), False) if reason else None
            refusal = refusal or port_refusal(pod, place) or resource_refusal(pod, place) or peers.refusal(place)
            if refusal is None:
                feasible.append(place)
            else:
                refused.append(refusal)
        return feasible, refused

    def room(self, pod: PendingPod) -> dict[str, int]:
        """How many pods equal to this one each node takes, without regard to other pods' rules; no zeros."""
        free = {}
        for name, place in self.places.items():
            if static_refusal(pod, place.node) or pod.spec.get("nodeName") not in (None, "", name):
                continue
            most = place.room
            for resource, amount in pod.requests.items():
                if amount > 0:
                    most = min(most, place.free.get(resource, 0) // amount)
            if most > 0:
                free[name] = most
        return free


def _message(refused: list[Refusal]) -> str:
    """The message of kube-scheduler for a pod that no node takes."""
    total = len(refused)
    reasons = Counter(reason for listed, _ in refused for reason in listed)
    helps = Counter(
        "No preemption victims found for incoming pod" if helped else "Preemption is not helpful for scheduling"
        for _, helped in refused
    )
    return (
        f"0/{total} nodes are available: {_listed(reasons)}. no new claims to deallocate, "
        f"preemption: 0/{total} nodes are available: {_listed(helps)}."
    )


def _listed(reasons: Counter[str]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))


_MAX_SCORE = 100
# What a container without a request counts as when nodes are compared: cpu in thousandths, memory in bytes.
_UNASKED = {"cpu": 100, "memory": 200 * 1024 * 1024}
_WEIGHTS = {"taints": 3, "affinity": 2}


def best(pod: PendingPod, places: Sequence[NodeUsage]) -> NodeUsage:
    """The place with the highest score; of several, the one that a binary heap of Go has on top."""
    if len(places) == 1:
        return places[0]
    soft = [_soft_taints(pod, place) for place in places]
    wanted = [preference(pod.spec, place.node.labels, place.node.name) for place in places]
    scores = [
        _least_allocated(pod, place)
        + _balanced(pod, place)
        + _WEIGHTS["taints"] * _normal(soft[index], max(soft), reverse=True)
        + _WEIGHTS["affinity"] * _normal(wanted[index], max(wanted), reverse=False)
        for index, place in enumerate(places)
    ]
    return places[_top(scores)]


def _least_allocated(pod: PendingPod, place: NodeUsage) -> int:
    scores = []
    for name, unasked in _UNASKED.items():
        capacity = place.node.allocatable.get(name, 0)
        if capacity <= 0:
            continue
        used = place.used.get(name, 0) + (pod.requests.get(name) or unasked)
        used += unasked * sum(not other.requests.get(name) for other in place.pods)
        scores.append((capacity - used) * _MAX_SCORE // capacity if used <= capacity else 0)
    return sum(scores) // len(scores) if scores else 0


def _balanced(pod: PendingPod, place: NodeUsage) -> int:
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


def _soft_taints(pod: PendingPod, place: NodeUsage) -> int:
    soft = [taint for taint in place.node.taints if taint.get("effect") == "PreferNoSchedule"]
    tolerations = [one for one in pod.tolerations if one.get("effect") in (None, "", "PreferNoSchedule")]
    hard = [{**taint, "effect": "NoSchedule"} for taint in soft]
    loose = [{**one, "effect": ""} for one in tolerations]
    return sum(untolerated([taint], loose) is not None for taint in hard)


def _normal(score: int, most: int, *, reverse: bool) -> int:
    if most == 0:
        return _MAX_SCORE if reverse else 0
    scaled = _MAX_SCORE * score // most
    return _MAX_SCORE - scaled if reverse else scaled


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
