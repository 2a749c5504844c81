"""What kube-scheduler does with the pods of a job: one pod after another, each on the best node at that moment."""

from __future__ import annotations

from collections import Counter

from trainc.cluster.capacity.filters import NodeUsage, Peers, port_refusal, resource_refusal, static_refusal
from trainc.cluster.capacity.scores import best

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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
