"""Kueue's scheduling cycles: flavors, then places; what fails goes on behind the last flavor that was tried."""

from __future__ import annotations

from trainc.cluster.capacity.attempts import NO_PLACE, Attempt, no_fit_reason
from trainc.cluster.capacity.flavors import Assigner
from trainc.cluster.capacity.placement import PlacementError, place
from trainc.cluster.capacity.quota import borrowed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainc.cluster.capacity.amounts import Units
    from trainc.cluster.capacity.cluster import Snapshot
    from trainc.cluster.capacity.queues import ClusterQueue
    from trainc.cluster.capacity.requests import Defaults, PodSet
    from trainc.cluster.capacity.topology import Values
    from trainc.cluster.capacity.verdict import Assigned, KueueVerdict

MOST_CYCLES = 8  # a queue that retries for ever is asked no longer
_GATES = ("TASBalancedPlacement", "TASRespectNodeAffinityPreferred", "TASProfileMixed")


def run_cycles(snapshot: Snapshot, queue: ClusterQueue, verdict: KueueVerdict, defaults: Defaults) -> None:
    """Fill in the verdict: the assignment of the cycle that admits the job, or of the last one that refuses it."""
    for pods in verdict.podsets:
        pods.wish.is_implied = not pods.wish.is_explicit and snapshot.is_topology_only(queue)
    tried: Sequence[Mapping[str, int]] = ()
    while True:
        verdict.cycles += 1
        assigner = Assigner(snapshot, queue.name, tried)
        assigned, is_complete = assigner.assign(verdict.podsets, ignores_undeclared=defaults.ignores_undeclared)
        if is_complete:
            _Placer(snapshot, queue).place(assigned)
        verdict.assigned = assigned
        verdict.message = _message(assigned)
        if not verdict.message:
            _admit(verdict, queue, snapshot)
            return
        verdict.messages.append(verdict.message)
        failed = [member.attempts for member in assigned if member.message]
        verdict.reason = no_fit_reason(failed, queue.groups)
        tried = [{name: choice.tried for name, choice in member.choices.items()} for member in assigned]
        pending = any(index != -1 for member in tried for index in member.values())
        if not pending or verdict.cycles == MOST_CYCLES:
            return


def _message(assigned: Sequence[Assigned]) -> str:
    for member in assigned:
        if member.error:
            return member.message
    return "; ".join(member.message for member in assigned if member.message)


def _admit(verdict: KueueVerdict, queue: ClusterQueue, snapshot: Snapshot) -> None:
    choices = [choice for member in verdict.assigned for choice in member.choices.values()]
    verdict.borrowing = max([choice.borrowing for choice in choices], default=0)
    used = {choice.flavor for choice in choices}
    pool, requests = snapshot.pools.queues[queue.name], dict[tuple[str, str], int]()
    for member in verdict.assigned:
        for name, choice in member.choices.items():
            cell = (choice.flavor, name)
            requests[cell] = requests.get(cell, 0) + member.requests.get(name, 0)
    for cell, amount in sorted(requests.items()):
        more, lender = borrowed(pool, cell, amount)
        if more and lender:
            verdict.borrowed.append((cell[1], more, lender))
    verdict.checks = sorted(name for name, flavors in queue.checks.items() if not flavors or flavors & used)
    verdict.has_quota, verdict.is_admitted = True, not verdict.checks
    verdict.message = verdict.reason = ""


class _Placer:
    """The topology part of one cycle."""

    def __init__(self, snapshot: Snapshot, queue: ClusterQueue) -> None:
        self.snapshot = snapshot
        self.queue = queue
        self.gates = frozenset(gate for gate in _GATES if snapshot.facts.gate(gate))
        self.shared: dict[Values, Units] = {}  # taken by host, whatever the flavor

    def place(self, assigned: Sequence[Assigned]) -> None:
        """Give every pod set that asks for it a place; the first that has none gets the reason."""
        by_flavor: dict[str, list[Assigned]] = {}
        for member in assigned:
            wish = member.pods.wish
            if (wish.is_explicit or wish.is_implied) and member.pods.count:
                self._classify(member)
                if member.flavor:
                    by_flavor.setdefault(member.flavor, []).append(member)
        if any(member.error for member in assigned):
            return
        for flavor in sorted(by_flavor):
            if not self._place_on(flavor, by_flavor[flavor]):
                for member in assigned:
                    member.domains = None
                return

    def _classify(self, member: Assigned) -> None:
        """Find the one flavor whose topology places the pods."""
        facts = self.snapshot.facts
        listed = [name for group in self.queue.groups for name in group.flavors if facts.flavors[name].topology]
        flavors = sorted({choice.flavor for choice in member.choices.values()} & set(listed))
        if not listed:
            member.error = "workload requires Topology, but there is no TAS cache information"
        elif not flavors:
            member.error = "no TAS flavor assigned"
        elif len(flavors) > 1:
            member.error = f"more than one TAS flavor assigned: {', '.join(flavors)}"
        elif self.snapshot.places_later(self.queue, flavors[0]):
            member.is_delayed = True
        else:
            member.flavor = flavors[0]

    def _place_on(self, flavor: str, members: Sequence[Assigned]) -> bool:
        topology = self.snapshot.topology(flavor)
        used = self.shared if topology.by_host else {}
        units: dict[object, list[Assigned]] = {}
        for index, member in enumerate(members):
            group = member.pods.wish.group
            units.setdefault(index if group is None else group, []).append(member)
        for unit in units.values():
            workers, leader = _roles(unit)
            try:
                placement = place(topology, workers.pods, leader.pods if leader else None, used, self.gates)
            except PlacementError as refusal:
                unit[0].reasons.append(str(refusal))
                unit[0].attempts = {**unit[0].attempts, flavor: Attempt(NO_PLACE, fits=False)}
                return False
            for member, domains in zip([workers, *([leader] if leader else [])], placement, strict=False):
                member.levels = topology.levels[-1:] if topology.by_host else topology.levels
                member.domains = domains
                _take(used, domains, member.pods)
        return True


def _roles(unit: Sequence[Assigned]) -> tuple[Assigned, Assigned | None]:
    """The workers and the leader of a group: the leader is the smaller of the two, the second if they are equal."""
    if len(unit) == 1:
        return unit[0], None
    first, second = unit[0], unit[1]
    return (second, first) if second.pods.count > first.pods.count else (first, second)


def _take(used: dict[Values, Units], domains: Sequence[tuple[Values, int]], pods: PodSet) -> None:
    for values, count in domains:
        taken = used.setdefault(values, {})
        for name, amount in pods.placed.items():
            taken[name] = taken.get(name, 0) + amount * count
        taken["pods"] = taken.get("pods", 0) + count
