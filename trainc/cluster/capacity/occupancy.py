"""Jobs that hold their nodes while others are asked about."""

from __future__ import annotations

from trainc.cluster.capacity.amounts import times
from trainc.cluster.capacity.nodes import HOSTNAME
from trainc.cluster.capacity.scheduler import SimulatedScheduler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Protocol

    from trainc.cluster.capacity.cluster import Snapshot
    from trainc.cluster.capacity.facts import ClusterFacts
    from trainc.cluster.capacity.gang import GangPlacement, Occupants
    from trainc.cluster.capacity.pods import PendingPod
    from trainc.cluster.capacity.verdict import KueueVerdict

    class Answered(Protocol):
        """The parts of an answer that say where its pods are."""

        gang: GangPlacement | None
        verdict: KueueVerdict | None


def occupy(facts: ClusterFacts, snapshot: Snapshot | None, occupants: Occupants, answer: Answered) -> None:
    """Take from the nodes what the pods of an answered job take there."""
    gang, verdict = answer.gang, answer.verdict
    if gang is None:
        for name, requests in _on_hosts(facts, verdict) if verdict is not None else ():
            facts.occupy(name, requests)
        return
    if gang.run is not None:
        placed = [(pod, name, 1) for pod, name in gang.run.placed]
    else:
        placed = list(_filled(facts, gang))
        occupants.are_known = sum(count for *_, count in placed) == sum(role.podset.count for role in gang.roles)
    is_placed_by_queue = any(role.shares for role in gang.roles)
    for pod, name, count in placed:
        requests = times({**pod.requests, "pods": 1}, count)
        facts.occupy(name, requests)
        occupants.pods.append((pod, name))
        if snapshot is not None and not is_placed_by_queue:
            snapshot.take(facts.nodes[name], requests)


def _on_hosts(facts: ClusterFacts, verdict: KueueVerdict) -> Iterator[tuple[str, dict[str, int]]]:
    """The nodes that Kueue chose by their host name, and what the pods there take."""
    by_hostname = {node.labels.get(HOSTNAME): name for name, node in facts.nodes.items()}
    for member in verdict.assigned:
        one = {**member.pods.placed, "pods": 1}
        for values, count in member.domains or ():
            if values[-1] in by_hostname:
                yield by_hostname[values[-1]], times(one, count)


def _filled(facts: ClusterFacts, gang: GangPlacement) -> Iterator[tuple[PendingPod, str, int]]:
    """Places for all pods of a large job, found role by role without asking which node is best."""
    scheduler = SimulatedScheduler(facts.nodes.values(), is_idle=gang.is_idle)
    for role in gang.roles:
        for pod, count in role.parts():
            left = count
            for name, room in scheduler.room(pod).items():
                share = min(room, left)
                scheduler.places[name].take_many(pod, share)
                left -= share
                yield pod, name, share
                if not left:
                    break
