"""On which topology domains Kueue places the pods of one pod set, or of a leader with its workers.

After `findTopologyAssignment` of Kueue's tas_flavor_snapshot.go (v0.20.0-devel, ff69552e79ad): counts from the leaves
up, a level with domains that hold all, then down again with as few domains as it takes; with the alpha gate
TASBalancedPlacement evenly over as few as hold them.
"""

from collections.abc import Mapping
from math import log2

from trainc.cluster.capacity.amounts import Units
from trainc.cluster.capacity.pods import PodSet
from trainc.cluster.capacity.topology import Domain, Search, Topology, Values, descendants, in_order, roll_up

Assignment = list[tuple["Values", int]]  # domains by their values and the pods in each, sorted
MOST_STATES = 200_000  # of the search for the best set; beyond it the greedy placement is used
_BESIDE = ("pods_beside", "slices_beside", "leaders")
Table = list[dict[int, dict[int, list["Domain"]]]]


class PlacementError(Exception):
    """Why the pods have no place, in Kueue's words."""


def place(
    topology: Topology, workers: PodSet, leader: PodSet | None, used: Mapping[Values, Units], gates: frozenset[str]
) -> tuple[Assignment, Assignment]:
    """The domains of the workers and of the leader.

    Raises:
        PlacementError: where they have none.
    """
    search = _search(topology, workers, leader, used, gates)
    excluded = topology.fill(search)
    asked, last = workers.topology_request, len(topology.levels) - 1
    may_be_even = search.balanced and not asked.is_required and not asked.is_unconstrained
    even = _evenly_filled(topology, search) if may_be_even else None
    is_even = even is not None
    domains, level = even or _level_that_fits(topology, search.level, search, excluded)
    # Down to the leaves, at each level with as few domains as it takes.
    domains = _spread(domains, workers.count, search.leaders, search.size, search, "slices")
    while not is_even and level < min(last, search.slice_level):
        below = in_order(descendants(domains), ascending=search.ascending, scores=search.scores)
        domains = _spread(below, workers.count, search.leaders, search.size, search, "slices")
        level += 1
    for above in range(level, last):
        size = search.inner.get(above + 1, 1) if above >= search.slice_level else search.size
        chosen: list[Domain] = []
        for domain in domains:
            below = in_order(domain.children, ascending=search.ascending, scores=search.scores)
            if size > 1:
                for child in below:
                    child.slices, child.slices_beside = child.pods // size, child.pods_beside // size
            unit = "slices" if size > 1 else "pods"
            chosen += _spread(below, domain.pods, domain.leaders, size, search, unit)
        domains = chosen
    host = last if topology.by_host else 0
    leaders = [(domain.values[host:], 1) for domain in domains if domain.leaders > 0] if leader else []
    pods = sorted((domain.values, domain.pods) for domain in domains if domain.pods > 0)
    return [(values[host:], count) for values, count in pods], leaders


def _search(
    topology: Topology, workers: PodSet, leader: PodSet | None, used: Mapping[Values, Units], gates: frozenset[str]
) -> Search:
    asked, levels = workers.topology_request, topology.levels
    level = asked.main_level(levels) or (levels[-1] if asked.is_implied else "")
    if not level:
        raise PlacementError("topology level not specified")
    slices, size = asked.slices[0] if asked.slices else (levels[-1], 1)
    for key, kind in ((level, ""), (slices, " for slices")):
        if key not in levels:
            raise PlacementError(f"no requested topology level{kind}: {key}")
    search = Search(
        workers,
        leader,
        used,
        tolerations=[*workers.tolerations, *topology.tolerations],
        size=size,
        level=levels.index(level),
        slice_level=levels.index(slices),
        ascending=asked.is_unconstrained and "TASProfileMixed" in gates,
        scores="TASRespectNodeAffinityPreferred" in gates,
        balanced="TASBalancedPlacement" in gates,
    )
    if search.level > search.slice_level:
        raise PlacementError(f"podset slice topology {slices} is above the podset topology {level}")
    depth = search.slice_level
    for layer in asked.slices[1:]:
        if layer.level not in levels:
            raise PlacementError(f"no requested topology level for additional slice layer: {layer.level}")
        at, above = levels.index(layer.level), levels[depth]
        if at <= depth:
            raise PlacementError(f"additional slice layer topology {layer.level} must be at a lower level than {above}")
        if size % layer.size:
            raise PlacementError(
                f"additional slice layer size {layer.size} must evenly divide parent layer size {size}"
            )
        search.inner.update(dict.fromkeys(range(depth + 1, at + 1), layer.size))
        size, depth = layer.size, at
    return search


def _level_that_fits(topology: Topology, level: int, search: Search, excluded: str) -> tuple[list[Domain], int]:
    """The domains of the lowest level at or above the one asked for that hold all slices, and that level."""
    if not topology.domains[level]:
        raise PlacementError(f"no topology domains at level: {topology.levels[level]}")
    domains = topology.domains[level].values()
    ordered = in_order(domains, beside=True, ascending=search.ascending, scores=search.scores)
    asked, needed, leaders = search.workers.topology_request, search.slices, search.leaders
    if search.ascending:
        for domain in ordered:
            room = domain.slices_beside if leaders else domain.slices
            if domain.leaders >= leaders and room >= needed:
                return [domain], level
    top = ordered[0]
    if top.slices_beside >= needed and top.leaders >= leaders:
        if not search.ascending:
            top = _smallest_that_fits(ordered, needed, leaders, search, "slices")
        return [top], level
    if asked.is_required:
        if search.scores:
            for index, domain in enumerate(ordered):
                if domain.slices_beside >= needed and domain.leaders >= leaders:
                    return [_smallest_that_fits(ordered[index:], needed, leaders, search, "slices")], level
        raise PlacementError(_refusal(topology, level, search, excluded, top.slices))
    if level > 0 and not asked.is_unconstrained:
        return _level_that_fits(topology, level - 1, search, excluded)
    return _several(topology, level, search, excluded, ordered), level


def _several(topology: Topology, level: int, search: Search, excluded: str, ordered: list[Domain]) -> list[Domain]:
    """Domains in order until they hold everything: first one that takes the leader, then those for workers alone."""
    left, leaders = search.slices, search.leaders
    ordered = _leader_first(ordered, left, leaders, "slices")
    chosen: list[Domain] = []
    while leaders > 0 and len(chosen) < len(ordered) and ordered[len(chosen)].leaders > 0:
        domain = ordered[len(chosen)]
        if not search.ascending and domain.slices_beside >= left:
            domain = _smallest_that_fits(ordered[len(chosen) :], left, leaders, search, "slices")
        chosen.append(domain)
        leaders -= domain.leaders
        left -= domain.slices_beside
    if leaders > 0:
        raise PlacementError(_refusal(topology, level, search, excluded, search.leaders - leaders))
    rest = in_order(ordered[len(chosen) :], ascending=search.ascending, scores=search.scores)
    for index, first in enumerate(rest):
        if left <= 0:
            break
        domain = first
        if not search.ascending and first.slices >= left:
            domain = _smallest_that_fits(rest[index:], left, 0, search, "slices")
        chosen.append(domain)
        left -= domain.slices
    if left > 0:
        raise PlacementError(_refusal(topology, level, search, excluded, search.slices - left))
    return chosen


def _spread(domains: list[Domain], count: int, leaders: int, size: int, search: Search, unit: str) -> list[Domain]:
    """The domains that get the pods, each with its share in `pods`; none where they do not hold them all."""
    left, chosen = count // size, []
    domains = _leader_first(domains, left, leaders, unit)
    for index, first in enumerate(domains):
        domain, room = first, f"{unit}_beside" if leaders > 0 else unit
        if not search.ascending and getattr(first, room) >= left and first.leaders >= leaders:
            domain = _smallest_that_fits(domains[index:], left, leaders, search, unit)
        is_last = getattr(domain, room) >= left and domain.leaders >= leaders
        share = min(getattr(domain, room), left)
        domain.leaders = min(domain.leaders, leaders)
        domain.pods = share * size
        chosen.append(domain)
        if is_last:
            return chosen
        left, leaders = left - share, leaders - domain.leaders
    return []


def _leader_first(domains: list[Domain], needed: int, leaders: int, unit: str) -> list[Domain]:
    """The domains with the first one in front that takes the leader and leaves room for all workers."""
    if leaders == 0 or len(domains) < 2:
        return domains
    room = sum(getattr(domain, unit) for domain in domains)
    for index, domain in enumerate(domains):
        lost = getattr(domain, unit) - getattr(domain, f"{unit}_beside")
        if domain.leaders >= leaders and room - lost >= needed:
            return [domain, *domains[:index], *domains[index + 1 :]]
    return domains


def _smallest_that_fits(domains: list[Domain], needed: int, leaders: int, search: Search, unit: str) -> Domain:
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


def _refusal(topology: Topology, level: int, search: Search, excluded: str, fitting: int) -> str:
    if search.inner:
        best = min(topology.domains[level].values(), key=lambda domain: (-domain.slices, ",".join(domain.values)))
        parts = [f'topology "{topology.name}" doesn\'t allow to fit']
        for layer in search.workers.topology_request.slices:
            below = [best]
            for _ in range(level, topology.levels.index(layer.level)):
                below = list(descendants(below))
            fitting = sum(domain.pods // layer.size for domain in below)
            parts.append(f"{fitting}/{search.workers.count // layer.size} slice(s) fit on level {layer.level}")
        return "; ".join(parts) + excluded
    unit = "pod(s)" if search.size == 1 else "slice(s)"
    if fitting == 0:
        return f'topology "{topology.name}" doesn\'t allow to fit any of {search.slices} {unit}{excluded}'
    return f'topology "{topology.name}" allows to fit only {fitting} out of {search.slices} {unit}{excluded}'


def _evenly_filled(topology: Topology, search: Search) -> tuple[list[Domain], int] | None:
    """The domains with their shares and their level, None where nothing can be placed evenly."""
    best: list[Domain] = []
    threshold = most = 0
    if search.level:
        parents = sorted(topology.domains[search.level - 1].values(), key=lambda domain: domain.values)
        groups = [domain.children for domain in parents]
    else:
        groups = [list(topology.domains[0].values())]
    for siblings in groups:
        if (candidate := _candidate(siblings, search, threshold)) is None:
            continue
        candidates, least, count = candidate
        if least > threshold or (least == threshold and count < most):
            best, threshold, most = candidates, least, count
    if threshold <= 0:
        return None
    level = search.level
    if level < search.slice_level:
        if (above := _optimal(best, search, by_entropy=True)) is None:
            return None
        best, level = list(descendants(above)), level + 1
    if (chosen := _optimal(best, search, by_entropy=False)) is None:
        return None
    extra, leaders = search.slices - len(chosen) * threshold, search.leaders
    if extra < 0:
        return None
    chosen = in_order(chosen, beside=True, scores=search.scores)
    for domain in chosen:
        room = (domain.slices_beside if leaders > 0 else domain.slices) - threshold
        more = min(room, extra) if leaders > 0 or extra > 0 else 0
        domain.leaders = 1 if leaders > 0 else 0
        leaders -= domain.leaders
        domain.slices = domain.slices_beside = threshold + more
        domain.pods = domain.slices * search.size
        domain.pods_beside = domain.pods - domain.leaders
        extra -= more
    return None if extra > 0 or leaders > 0 else (chosen, level)


def _candidate(siblings: list[Domain], search: Search, best: int) -> tuple[list[Domain], int, int] | None:
    """Copies of sibling domains without what holds too little, the threshold, and how many domains it takes."""
    lower = list(descendants(siblings)) if search.level < search.slice_level else siblings
    if (fit := _greedy(lower, search)) is None:
        return None
    count, last_beside, last = fit
    threshold = search.slices // count if count else 0
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
        pruned = [domain.copied() for domain in siblings]
        for domain in pruned:
            for child in domain.children:
                _prune(child, least, search)
            roll_up(domain, search.level, search, {})
            _prune(domain, least, search)
        if (after := _greedy(pruned, search)) is not None:
            return pruned, least, after[0]
    return None


def _greedy(candidates: list[Domain], search: Search) -> tuple[int, Domain | None, Domain | None] | None:
    """How many domains a greedy placement takes, and its last one with a leader and without; None if it fails."""
    left, leaders, count, last_beside, last = search.slices, search.leaders, 0, None, None
    ordered = in_order(candidates, beside=True) if leaders > 0 else candidates
    while leaders > 0 and count < len(ordered) and ordered[count].leaders > 0:
        last_beside = ordered[count]
        leaders -= last_beside.leaders
        left -= last_beside.slices_beside
        count += 1
    if leaders > 0:
        return None
    for domain in in_order(ordered[count:]):
        if left <= 0 or domain.slices <= 0:
            break
        count, last, left = count + 1, domain, left - domain.slices
    return None if left > 0 else (count, last_beside, last)


def _prune(domain: Domain, least: int, search: Search) -> None:
    if domain.slices < least:
        _clear(domain, "pods", "slices", *_BESIDE)
    elif search.leaders and domain.leaders and domain.slices_beside < least:
        _clear(domain, *_BESIDE)


def _clear(domain: Domain, *counts: str) -> None:
    for count in counts:
        setattr(domain, count, 0)
    for child in domain.children:
        _clear(child, *counts)


def _optimal(candidates: list[Domain], search: Search, *, by_entropy: bool) -> list[Domain] | None:
    """The smallest set of as few domains as a greedy placement takes."""
    if (fit := _greedy(candidates, search)) is None:
        return None
    count = fit[0]
    ordered = sorted(candidates, key=_by_entropy if by_entropy else lambda domain: domain.values)
    table: Table = [{} for _ in range(count + 1)]
    table[0][search.leaders] = {search.slices * search.size: []}
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
