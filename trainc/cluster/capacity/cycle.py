"""Kueue's scheduling cycles: flavors, then places; what fails goes on behind the last flavor that was tried.

Which flavor each resource of each pod set gets: Kueue's pkg/scheduler/flavorassigner (ff69552e79ad).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trainc.cluster.capacity.amounts import (
    Units,
    added,
    in_labels,
    in_order,
    matches_terms,
    minus,
    plus,
    spelled,
    spelled_quota,
    times,
    untolerated,
)
from trainc.cluster.capacity.cluster import Snapshot
from trainc.cluster.capacity.facts import Cell, ClusterQueue, Flavor, ResourceGroup
from trainc.cluster.capacity.placement import PlacementError, place
from trainc.cluster.capacity.pods import Defaults, PodSet
from trainc.cluster.capacity.topology import Values
from trainc.cluster.capacity.verdict import (
    NO_FLAVOR,
    NO_PLACE,
    TOO_MUCH,
    WAITS,
    FlavorAssignment,
    KueueVerdict,
    PodSetAssignment,
)

MOST_CYCLES = 8  # a queue that retries forever is asked no longer
_SEVERITY = ("", NO_PLACE, WAITS, TOO_MUCH, NO_FLAVOR)
_GATES = ("TASBalancedPlacement", "TASRespectNodeAffinityPreferred", "TASProfileMixed")


def run_cycles(snapshot: Snapshot, queue: ClusterQueue, verdict: KueueVerdict, defaults: Defaults) -> None:
    """Fill in the verdict: the assignment of the cycle that admits the job, or of the last one that refuses it."""
    # Where every flavor of a queue has a topology, its jobs are placed whether they ask for it or not.
    flavors = snapshot.facts.flavors
    is_topology_only = all(name in flavors and flavors[name].topology for name in queue.flavors)
    for pods in verdict.podsets:
        pods.topology_request.is_implied = not pods.topology_request.is_explicit and is_topology_only
    tried: Sequence[Mapping[str, int]] = ()
    while True:
        verdict.cycles += 1
        assigner = Assigner(snapshot, queue.name, tried)
        assigned, is_complete = assigner.assign(verdict.podsets, ignores_undeclared=defaults.ignores_undeclared)
        if is_complete:
            _place(snapshot, queue, assigned)
        verdict.assigned = assigned
        failed = [member.message for member in assigned if member.error]
        verdict.message = failed[0] if failed else "; ".join(one.message for one in assigned if one.message)
        if not verdict.message:
            _admit(verdict, queue, snapshot)
            return
        verdict.messages.append(verdict.message)
        verdict.reason = _no_fit_reason([member.attempts for member in assigned if member.message], queue.groups)
        tried = [{name: choice.tried for name, choice in member.choices.items()} for member in assigned]
        pending = any(index != -1 for member in tried for index in member.values())
        if not pending or verdict.cycles == MOST_CYCLES:
            return


def _admit(verdict: KueueVerdict, queue: ClusterQueue, snapshot: Snapshot) -> None:
    choices = [choice for member in verdict.assigned for choice in member.choices.values()]
    verdict.borrowing = max([choice.borrowing for choice in choices], default=0)
    used = {choice.flavor for choice in choices}
    pool = snapshot.pools.queues[queue.name]
    for cell, amount in sorted(verdict.taken.items()):
        if lender := pool.lender(cell, amount):
            more = minus(plus(pool.usage(cell), amount), pool.subtree(cell))
            verdict.borrowed.append((cell[1], more, lender.name))
    verdict.checks = sorted(name for name, flavors in queue.checks.items() if not flavors or flavors & used)
    verdict.has_quota, verdict.is_admitted = True, not verdict.checks
    verdict.message = verdict.reason = ""


def _place(snapshot: Snapshot, queue: ClusterQueue, assigned: Sequence[PodSetAssignment]) -> None:
    """Give every pod set that asks for it a place; the first that has none gets the reason."""
    flavors, by_flavor = snapshot.facts.flavors, dict[str, list[PodSetAssignment]]()
    listed = [name for name in queue.flavors if flavors[name].topology]
    for member in assigned:
        asked = member.pods.topology_request
        if not (asked.is_explicit or asked.is_implied) or not member.pods.count:
            continue
        chosen = sorted({choice.flavor for choice in member.choices.values()} & set(listed))
        if not listed:
            member.error = "workload requires Topology, but there is no TAS cache information"
        elif not chosen:
            member.error = "no TAS flavor assigned"
        elif len(chosen) > 1:
            member.error = f"more than one TAS flavor assigned: {', '.join(chosen)}"
        elif snapshot.places_later(queue, chosen[0]):
            member.is_delayed = True
        else:
            member.flavor = chosen[0]
            by_flavor.setdefault(member.flavor, []).append(member)
    if any(member.error for member in assigned):
        return
    shared: dict[Values, Units] = {}  # taken by host, whatever the flavor
    for flavor in sorted(by_flavor):
        if not _place_on(snapshot, flavor, by_flavor[flavor], shared):
            for member in assigned:
                member.domains = None
            return


def _place_on(
    snapshot: Snapshot, flavor: str, members: Sequence[PodSetAssignment], shared: dict[Values, Units]
) -> bool:
    topology = snapshot.topology(flavor)
    used = shared if topology.by_host else {}
    gates = frozenset(gate for gate in _GATES if snapshot.facts.gate(gate))
    for unit in _units([member.pods for member in members]):
        # Of a leader and its workers the leader is the smaller one, the second if they are equal.
        workers, *leaders = sorted([members[index] for index in unit[:2]], key=lambda member: -member.pods.count)
        try:
            placement = place(topology, workers.pods, leaders[0].pods if leaders else None, used, gates)
        except PlacementError as refusal:
            first = members[unit[0]]
            first.reasons.append(str(refusal))
            first.attempts = {**first.attempts, flavor: NO_PLACE}
            return False
        for member, domains in zip([workers, *leaders], placement, strict=False):
            member.levels = topology.levels[-1:] if topology.by_host else topology.levels
            member.domains = domains
            for values, count in domains:
                used[values] = added(used.get(values, {}), times(member.pods.placed, count))
    return True


def _units(podsets: Sequence[PodSet]) -> list[list[int]]:
    """The indices of pod sets, those of a group together."""
    units: dict[object, list[int]] = {}
    for index, pods in enumerate(podsets):
        group = pods.topology_request.group
        units.setdefault(index if group is None else group, []).append(index)
    return list(units.values())


class Assigner:
    """One cycle: the pod sets of a workload in order, each group of them as one."""

    def __init__(self, snapshot: Snapshot, queue: str, tried: Sequence[Mapping[str, int]]) -> None:
        self.snapshot = snapshot
        self.queue = snapshot.facts.queues[queue]
        self.pool = snapshot.pools.queues[queue]
        self.tried = tried
        self.usage: dict[Cell, int] = {}

    def assign(self, podsets: Sequence[PodSet], *, ignores_undeclared: bool) -> tuple[list[PodSetAssignment], bool]:
        """The outcome of every pod set that was tried, and whether the search went through all of them."""
        out: list[PodSetAssignment] = []
        for unit in _units(podsets):
            members = []
            for pods in [podsets[index] for index in unit]:
                requests = times(pods.quota_cost, pods.count)
                if self.queue.group_of("pods") is not None:
                    requests["pods"] = pods.count
                members.append(PodSetAssignment(pods, requests))
            self._unit(unit[0], members, ignores_undeclared=ignores_undeclared)
            out += members
            if any(member.requests and not member.choices for member in members):
                return out, False
        return out, True

    def _unit(self, first: int, members: list[PodSetAssignment], *, ignores_undeclared: bool) -> None:
        total: dict[str, int] = {}
        for member in members:
            for name, amount in member.requests.items():
                total[name] = plus(total.get(name, 0), amount)
        assigned: dict[str, FlavorAssignment] = {}
        attempts: dict[str, str] = {}
        reasons: list[str] = []
        for name in in_order(total):
            undeclared = self.queue.group_of(name) is None
            if name in assigned or (undeclared and (total[name] == 0 or ignores_undeclared)):
                continue
            choices, reasons = self._flavor(first, [member.pods for member in members], total, name, attempts)
            if not choices:
                assigned = {}
                break
            assigned.update(choices)
        for member in members:
            member.attempts, member.reasons = attempts, list(reasons)
            if member.requests:
                member.choices = {name: choice for name, choice in assigned.items() if name in member.requests}
            elif member.pods.topology_request.group is not None:
                flavors = self.snapshot.facts.flavors
                member.choices = {
                    n: c for n, c in assigned.items() if c.flavor in flavors and flavors[c.flavor].topology
                }
            for name, choice in member.choices.items():
                cell = (choice.flavor, name)
                self.usage[cell] = plus(self.usage.get(cell, 0), member.requests.get(name, 0))

    def _flavor(
        self, first: int, podsets: list[PodSet], total: Mapping[str, int], name: str, attempts: dict[str, str]
    ) -> tuple[dict[str, FlavorAssignment], list[str]]:
        """The best flavor for all resources of the group that covers `name`, or the reasons why there is none."""
        if (group := self.queue.group_of(name)) is None:
            return {}, [f"resource {name} unavailable in ClusterQueue"]
        requests = {one: total[one] for one in in_order(total) if one in group.resources}
        best: dict[str, FlavorAssignment] = {}
        least = at = -1
        reasons: list[str] = []
        tried: dict[str, str] = {}
        for at in range(self.tried[first].get(name, -1) + 1 if first < len(self.tried) else 0, len(group.flavors)):
            flavor = group.flavors[at]
            if refusal := self._mismatch(flavor, podsets, group):
                reasons.append(refusal)
                tried[flavor] = NO_FLAVOR
                continue
            choices, height = self._fit(flavor, requests, reasons, tried)
            if choices and (not best or height < least):
                best, least = choices, height
            if choices and not (height and self.queue.tries_next_on_borrowing):
                break
        _merge(attempts, tried, group)
        stop = -1 if at == len(group.flavors) - 1 else at
        for choice in best.values():
            choice.tried = stop
        return best, [] if best else reasons

    def _fit(
        self, flavor: str, requests: Mapping[str, int], reasons: list[str], tried: dict[str, str]
    ) -> tuple[dict[str, FlavorAssignment], int]:
        """The flavor for every resource asked for and how far up that borrows, nothing where one does not fit."""
        choices: dict[str, FlavorAssignment] = {}
        reason, highest = "", 0
        for name, amount in requests.items():
            cell = (flavor, name)
            before = self.usage.get(cell, 0)
            most, wanted = self.pool.most(cell), plus(before, amount)
            if wanted > most:
                reason = _more_severe(reason, TOO_MUCH)
                reasons.append(
                    f"insufficient quota for {name} in flavor {flavor}, previously considered podsets requests "
                    f"({spelled_quota(name, before)}) + current podset request ({spelled(name, amount)}) > "
                    f"maximum capacity ({spelled_quota(name, most)})"
                )
            elif wanted > self.pool.free(cell):
                reason = _more_severe(reason, WAITS)
                more = spelled(name, wanted - self.pool.free(cell))
                reasons.append(f"insufficient unused quota for {name} in flavor {flavor}, {more} more needed")
            else:
                lender = self.pool.lender(cell, wanted)
                height = lender.height() if lender else 0
                highest = max(highest, height)
                choices[name] = FlavorAssignment(flavor, height)
        tried[flavor] = reason
        return ({}, 0) if reason else (choices, highest)

    def _mismatch(self, name: str, podsets: Iterable[PodSet], group: ResourceGroup) -> str:
        """Why a flavor is out of the question whatever its quota, empty where it is not."""
        if (flavor := self.snapshot.facts.flavors.get(name)) is None:
            return f"flavor {name} not found"
        for pods in podsets:
            if refusal := self._topology_mismatch(flavor, pods, group):
                return refusal
            if (taint := untolerated(flavor.taints, [*pods.tolerations, *flavor.tolerations])) is not None:
                text = " ".join(str(taint.get(part) or "") for part in ("key", "value", "effect"))
                return f"untolerated taint {{{text} <nil>}} in flavor {name}"
            # Of the pods' selector and affinity only what is about labels that the flavor knows counts.
            selector: dict[str, Any] = pods.spec.get("nodeSelector") or {}
            expressions = [term.get("matchExpressions") or [] for term in pods.terms or []]
            terms = [[one for one in listed if one.get("key") in flavor.labels] for listed in expressions]
            takes = in_labels({key: text for key, text in selector.items() if key in flavor.labels}, flavor.labels)
            if not takes or (
                terms and all(terms) and not matches_terms([{"matchExpressions": one} for one in terms], flavor.labels)
            ):
                return f"flavor {name} doesn't match node affinity"
        return ""

    def _topology_mismatch(self, flavor: Flavor, pods: PodSet, group: ResourceGroup) -> str:
        topology_request = pods.topology_request
        if not topology_request.is_explicit:
            if topology_request.is_implied or not flavor.topology:
                return ""
            return f'Flavor "{flavor.name}" supports only TopologyAwareScheduling'
        if not flavor.topology:
            if not any(name in group.resources for name in pods.placed if name != "pods"):
                return ""
            return f'Flavor "{flavor.name}" does not support TopologyAwareScheduling'
        if (levels := self.snapshot.facts.levels(flavor.topology)) is None:
            return f'Flavor "{flavor.name}" information missing in TAS cache'
        needed_levels = [topology_request.main_level(levels), *(layer.level for layer in topology_request.slices)]
        if not all(level in levels for level in needed_levels):
            return f'Flavor "{flavor.name}" does not contain the requested level'
        return ""


def _more_severe(first: str, second: str) -> str:
    """The reason that Kueue reports of two."""
    return max(first, second, key=_SEVERITY.index)


def _merge(attempts: dict[str, str], tried: Mapping[str, str], group: ResourceGroup) -> None:
    """Add the outcome for one resource to those before it; a flavor of the group that was not tried now lacks it."""
    for flavor, reason in tried.items():
        attempts[flavor] = _more_severe(attempts.get(flavor, ""), reason)
    if tried:
        attempts |= {flavor: NO_FLAVOR for flavor in attempts if flavor in group.flavors and flavor not in tried}


def _no_fit_reason(failed: Iterable[Mapping[str, str]], groups: Sequence[ResourceGroup]) -> str:
    """The reason that Kueue gives for a workload, by what each pod set that failed had tried."""
    overall = ""
    for attempts in failed:
        if not attempts:
            overall = _more_severe(overall, NO_FLAVOR)
        least: dict[int, str] = {}
        for index, (flavor, reason) in enumerate(sorted(attempts.items())):
            for at in [i for i, group in enumerate(groups) if flavor in group.flavors] or [-1 - index]:
                if reason:
                    least[at] = min(least.get(at, reason), reason, key=_SEVERITY.index)
        overall = max((overall, *least.values()), key=_SEVERITY.index)
    return overall
