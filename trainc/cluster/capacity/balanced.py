"""What a search for domains asks for, and how Kueue spreads a number of pods over sorted domains.

The largest domain comes first, the last one is as small as it can be; with the alpha gate TASBalancedPlacement, pods are
spread evenly over as few domains as hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log2

from trainc.cluster.capacity.requests import SliceLayer
from trainc.cluster.capacity.topology import (
    Domain,
    PlacementQuery,
    Topology,
    descendants,
    roll_up,
    sorted_domains,
    sorted_with_leader,
)

MOST_STATES = 200_000  # of the search for the best set; beyond it the greedy placement is used


def evenly_filled(topology: Topology, search: TopologySearch, query: PlacementQuery) -> tuple[list[Domain], int] | None:
    """The domains with their shares and their level, None where nothing can be placed evenly."""
    best: list[Domain] = []
    threshold = most = 0
    if search.level:
        above = sorted(topology.domains[search.level - 1].values(), key=lambda domain: domain.values)
        groups = [domain.children for domain in above]
    else:
        groups = [list(topology.domains[0].values())]
    for siblings in groups:
        if (candidate := _candidate(siblings, search, query, threshold)) is None:
            continue
        candidates, least, count = candidate
        if least > threshold or (least == threshold and count < most):
            best, threshold, most = candidates, least, count
    if threshold <= 0:
        return None
    level, needed = search.level, search.count // search.size
    if level < search.slice_level:
        if (chosen := _optimal(best, needed, search, by_entropy=True)) is None:
            return None
        best, level = list(descendants(chosen)), level + 1
    placed = _placed(best, needed, threshold, search)
    return None if placed is None else (placed, level)


def _candidate(
    siblings: list[Domain], search: TopologySearch, query: PlacementQuery, best: int
) -> tuple[list[Domain], int, int] | None:
    """Copies of sibling domains without what holds too little, the threshold, and how many domains it takes."""
    needed = search.count // search.size
    copies = [domain.copy() for domain in siblings]
    lower = list(descendants(copies)) if search.level < search.slice_level else copies
    if (fit := _greedy(lower, needed, search.leaders)) is None:
        return None
    count, last_beside, last = fit
    threshold = needed // count if count else 0
    if last_beside is not None:
        threshold = min(threshold, last_beside.slices_beside)
    if last is not None:
        threshold = min(threshold, last.slices)
    reserve = min(threshold, last.slices_beside) if search.leaders and last is not None else threshold
    if threshold < best:
        return None
    for least in dict.fromkeys((threshold, reserve)):
        if least < threshold and (least <= 0 or least < best):
            return None
        pruned = [domain.copy() for domain in siblings]
        _prune(pruned, least, search, query)
        if (after := _greedy(pruned, needed, search.leaders)) is not None:
            return pruned, least, after[0]
    return None


def _greedy(candidates: list[Domain], slices: int, leaders: int) -> tuple[int, Domain | None, Domain | None] | None:
    """How many domains a greedy placement takes, and its last one with a leader and without; None if it fails."""
    count, left, last_beside, last, at = 0, slices, None, None, 0
    ordered = candidates
    if leaders > 0:
        ordered = sorted_with_leader(candidates, ascending=False, scores=False)
        while leaders > 0 and at < len(ordered) and ordered[at].leaders > 0:
            last_beside = ordered[at]
            leaders -= last_beside.leaders
            left -= last_beside.slices_beside
            count, at = count + 1, at + 1
    if leaders > 0:
        return None
    for domain in sorted_domains(ordered[at:], ascending=False, scores=False):
        if left <= 0 or domain.slices <= 0:
            break
        count, last, left = count + 1, domain, left - domain.slices
    return None if left > 0 else (count, last_beside, last)


def _prune(candidates: list[Domain], least: int, search: TopologySearch, query: PlacementQuery) -> None:
    for domain in candidates:
        for child in domain.children:
            _prune_one(child, least, search)
    plain = query.without_layers()
    for domain in candidates:
        roll_up(domain, search.level, plain)
        _prune_one(domain, least, search)


def _prune_one(domain: Domain, least: int, search: TopologySearch) -> None:
    if domain.slices < least:
        _clear(domain)
    elif search.leaders and domain.leaders and domain.slices_beside < least:
        _clear_leader(domain)


def _clear(domain: Domain) -> None:
    score = domain.score
    domain.reset()
    domain.score = score
    for child in domain.children:
        _clear(child)


def _clear_leader(domain: Domain) -> None:
    domain.pods_beside = domain.slices_beside = domain.leaders = 0
    for child in domain.children:
        _clear_leader(child)


Table = list[dict[int, dict[int, list["Domain"]]]]


def _optimal(candidates: list[Domain], slices: int, search: TopologySearch, *, by_entropy: bool) -> list[Domain] | None:
    """The smallest set of as few domains as a greedy placement takes."""
    if (fit := _greedy(candidates, slices, search.leaders)) is None:
        return None
    count = fit[0]
    ordered = sorted(candidates, key=_by_entropy if by_entropy else lambda domain: domain.values)
    table: Table = [{} for _ in range(count + 1)]
    table[0][search.leaders] = {slices * search.size: []}
    states = 0
    for domain in ordered:
        for used in range(count, 0, -1):
            states += _extend(table, used, domain)
            if states > MOST_STATES:
                return None
    left = [pods for pods in table[count].get(0, {}) if pods <= 0]
    return table[count][0][max(left)] if left else None


def _extend(table: Table, used: int, domain: Domain) -> int:
    """Add a domain to every set of one domain less; the number of sets looked at."""
    looked = 0
    for leaders in sorted(table[used - 1]):
        for pods in sorted(table[used - 1][leaders]):
            looked += 1
            if leaders <= 0 and pods <= 0:
                continue
            longer = [*table[used - 1][leaders][pods], domain]
            if leaders > 0 and domain.leaders > 0:
                table[used].setdefault(leaders - domain.leaders, {}).setdefault(pods - domain.pods_beside, longer)
            if domain.slices > 0:
                table[used].setdefault(leaders, {}).setdefault(pods - domain.pods, longer)
    return looked


def _by_entropy(domain: Domain) -> tuple[int, int, float, tuple[str, ...]]:
    total = sum(child.pods for child in domain.children)
    shares = [child.pods / total for child in domain.children if child.pods > 0] if total else []
    return -domain.leaders, -domain.slices_beside, sum(share * log2(share) for share in shares), domain.values


def _placed(candidates: list[Domain], needed: int, least: int, search: TopologySearch) -> list[Domain] | None:
    chosen = _optimal(candidates, needed, search, by_entropy=False)
    if chosen is None or needed < len(chosen) * least:
        return None
    chosen = sorted_with_leader(chosen, ascending=False, scores=search.scores)
    extra, leaders = needed - len(chosen) * least, search.leaders
    for domain in chosen:
        more = 0
        if leaders > 0 or extra > 0:
            more = min((domain.slices_beside if leaders > 0 else domain.slices) - least, extra)
        domain.leaders = 1 if leaders > 0 else 0
        leaders -= domain.leaders
        domain.slices = domain.slices_beside = least + more
        domain.pods = domain.slices * search.size
        domain.pods_beside = domain.pods - domain.leaders
        extra -= more
    return None if extra > 0 or leaders > 0 else chosen


def leader_first(domains: list[Domain], count: int, leaders: int, size: int, *, in_slices: bool) -> list[Domain]:
    """The domains with the first one in front that takes the leader and leaves room for all workers."""
    if leaders == 0 or len(domains) < 2:
        return domains
    needed = count // size if in_slices else count
    room = sum(domain.slices if in_slices else domain.pods for domain in domains)
    for index, domain in enumerate(domains):
        lost = domain.slices - domain.slices_beside if in_slices else domain.pods - domain.pods_beside
        if domain.leaders >= leaders and room - lost >= needed:
            return [domain, *domains[:index], *domains[index + 1 :]]
    return domains


def spread(
    domains: list[Domain], count: int, leaders: int, size: int, search: TopologySearch, *, in_slices: bool
) -> list[Domain]:
    """The domains that get the pods, each with its share in `pods`; none where they do not hold them all."""
    unit = "slices" if in_slices else "pods"
    domains = leader_first(domains, count, leaders, size, in_slices=in_slices)
    left = count // size if in_slices else count
    each = size if in_slices else 1
    chosen: list[Domain] = []
    for index, first in enumerate(domains):
        if leaders > 0:
            domain, got, led = _with_leader(domains[index:], left, leaders, unit, each, search)
            chosen.append(domain)
            left, leaders = left - got, leaders - led
            if got < 0:
                return chosen
            continue
        domain = first
        if not search.ascending and getattr(first, unit) >= left:
            domain = smallest_that_fits(domains[index:], left, 0, search, unit)
        domain.leaders = 0
        share = min(getattr(domain, unit), left)
        is_last = getattr(domain, unit) >= left
        domain.pods = share * each
        if is_last and unit == "slices":
            domain.slices = share
        chosen.append(domain)
        if is_last:
            return chosen
        left -= share
    return []


def _with_leader(
    domains: list[Domain], left: int, leaders: int, unit: str, each: int, search: TopologySearch
) -> tuple[Domain, int, int]:
    """The next domain with a leader's share in it, what it takes of the rest (-1 where all of it), and its leaders."""
    domain, beside = domains[0], f"{unit}_beside"
    if not search.ascending and getattr(domain, beside) >= left and domain.leaders >= leaders:
        domain = smallest_that_fits(domains, left, leaders, search, unit)
    room: int = getattr(domain, beside)
    if room >= left and domain.leaders >= leaders:
        setattr(domain, unit, left)
        domain.leaders = leaders
        domain.pods = left * each
        return domain, -1, leaders
    room = min(room, left)
    setattr(domain, beside, room)
    domain.leaders = min(domain.leaders, leaders)
    setattr(domain, unit, room)
    domain.pods = room * each
    return domain, room, domain.leaders


@dataclass(eq=False)
class TopologySearch:
    """What one search asks for; levels are counted from the top."""

    count: int  # of the workers
    leaders: int  # 1 with a leader
    size: int  # pods of a slice
    level: int
    slice_level: int
    required: bool
    unconstrained: bool
    ascending: bool  # the fullest domains first
    scores: bool  # preferred node affinity comes before everything else
    balanced: bool  # spread over domains evenly where that is possible
    layers: Sequence[SliceLayer]  # of more than one layer of slices
    inner: dict[int, int] = field(default_factory=dict)


def smallest_that_fits(domains: list[Domain], needed: int, leaders: int, search: TopologySearch, unit: str) -> Domain:
    """The first of the domains with the smallest count that is enough; the first of all where none is."""
    field = f"{unit}_beside" if leaders > 0 else unit
    score = domains[0].score
    best, least = domains[0], -1
    for domain in domains:
        if search.scores and domain.score != score:
            break
        room: int = getattr(domain, field)
        if domain.leaders >= leaders and room >= needed and (least < 0 or room < least):
            best, least = domain, room
    return best
