"""On which topology domains Kueue places the pods of one pod set, or of a leader with its workers.

After `findTopologyAssignment` of Kueue's tas_flavor_snapshot.go (v0.20.0-devel, ff69552e79ad): counts from the leaves
up, a level with domains that hold all, then down again with as few domains as it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainc.cluster.capacity.amounts import Units
from trainc.cluster.capacity.balanced import TopologySearch, evenly_filled, leader_first, smallest_that_fits, spread
from trainc.cluster.capacity.requests import PodSet
from trainc.cluster.capacity.topology import (
    Domain,
    Exclusions,
    PlacementQuery,
    Topology,
    Values,
    descendants,
    sorted_domains,
    sorted_with_leader,
)

Assignment = list[tuple["Values", int]]  # domains by their values and the pods in each, sorted


class PlacementError(Exception):
    """Why the pods have no place, in Kueue's words."""


def place(
    topology: Topology, workers: PodSet, leader: PodSet | None, used: Mapping[Values, Units], gates: frozenset[str]
) -> tuple[Assignment, Assignment]:
    """The domains of the workers and of the leader.

    Raises:
        PlacementError: where they have none.
    """
    search = _search(topology, workers, leader, gates)
    one = {**workers.placed, "pods": workers.placed.get("pods", 0) + 1}
    lead = {**leader.placed, "pods": leader.placed.get("pods", 0) + 1} if leader else None
    tolerations = [*workers.tolerations, *topology.tolerations]
    own = (tolerations, workers.terms, search.scores, search.inner)
    query = PlacementQuery(workers.spec, one, lead, used, search.size, search.slice_level, *own)
    fitting, level, is_even = _fitting(topology, search, query, topology.fill(query))
    chosen = _descend(topology, search, fitting, level, is_even=is_even)
    host = len(topology.levels) - 1 if topology.by_host else 0
    leaders = [(domain.values[host:], 1) for domain in chosen if domain.leaders > 0] if leader else []
    pods = sorted((domain.values, domain.pods) for domain in chosen if domain.pods > 0)
    return [(values[host:], count) for values, count in pods], leaders


def _search(topology: Topology, workers: PodSet, leader: PodSet | None, gates: frozenset[str]) -> TopologySearch:
    topology_request = workers.topology_request
    level = topology_request.main_level(topology.levels) or (topology.levels[-1] if topology_request.is_implied else "")
    if not level:
        raise PlacementError("topology level not specified")
    slices = topology_request.slices[0].level if topology_request.slices else topology.levels[-1]
    for key, kind in ((level, ""), (slices, " for slices")):
        if key not in topology.levels:
            raise PlacementError(f"no requested topology level{kind}: {key}")
    search = TopologySearch(
        count=workers.count,
        leaders=1 if leader else 0,
        size=topology_request.slices[0].size if topology_request.slices else 1,
        level=topology.levels.index(level),
        slice_level=topology.levels.index(slices),
        required=topology_request.is_required,
        unconstrained=topology_request.is_unconstrained,
        ascending=topology_request.is_unconstrained and "TASProfileMixed" in gates,
        scores="TASRespectNodeAffinityPreferred" in gates,
        balanced="TASBalancedPlacement" in gates,
        layers=topology_request.slices if len(topology_request.slices) > 1 else (),
    )
    if search.level > search.slice_level:
        raise PlacementError(f"podset slice topology {slices} is above the podset topology {level}")
    # The sizes that pods are grouped by below the outermost slices, by level.
    size, depth = search.size, search.slice_level
    for layer in workers.topology_request.slices[1:]:
        if layer.level not in topology.levels:
            raise PlacementError(f"no requested topology level for additional slice layer: {layer.level}")
        at = topology.levels.index(layer.level)
        if at <= depth:
            above = topology.levels[depth]
            raise PlacementError(f"additional slice layer topology {layer.level} must be at a lower level than {above}")
        if size % layer.size:
            raise PlacementError(
                f"additional slice layer size {layer.size} must evenly divide parent layer size {size}"
            )
        search.inner.update(dict.fromkeys(range(depth + 1, at + 1), layer.size))
        size, depth = layer.size, at
    if not search.inner:
        search.layers = ()
    return search


def _fitting(
    topology: Topology, search: TopologySearch, query: PlacementQuery, excluded: Exclusions
) -> tuple[list[Domain], int, bool]:
    """The domains that hold everything, their level, and whether the pods are spread evenly over them."""
    if (
        search.balanced
        and not search.required
        and not search.unconstrained
        and (even := evenly_filled(topology, search, query)) is not None
    ):
        return (*even, True)
    level, chosen = _level_that_fits(topology, search.level, search, excluded)
    return chosen, level, False


def _level_that_fits(
    topology: Topology, level: int, search: TopologySearch, excluded: Exclusions
) -> tuple[int, list[Domain]]:
    """The lowest level at or above the one asked for whose domains hold all slices, and those domains."""
    if not topology.domains[level]:
        raise PlacementError(f"no topology domains at level: {topology.levels[level]}")
    ordered = sorted_with_leader(topology.domains[level].values(), ascending=search.ascending, scores=search.scores)
    needed, leaders = search.count // search.size, search.leaders
    if search.ascending:
        for domain in ordered:
            room = domain.slices_beside if leaders else domain.slices
            if domain.leaders >= leaders and room >= needed:
                return level, [domain]
    top = ordered[0]
    if top.slices_beside >= needed and top.leaders >= leaders:
        if not search.ascending:
            top = smallest_that_fits(ordered, needed, leaders, search, "slices")
        return level, [top]
    if search.required:
        if search.scores:
            for index, domain in enumerate(ordered):
                if domain.slices_beside >= needed and domain.leaders >= leaders:
                    return level, [smallest_that_fits(ordered[index:], needed, leaders, search, "slices")]
        raise PlacementError(_refusal(topology, level, search, excluded, ordered[0].slices))
    if level > 0 and not search.unconstrained:
        return _level_that_fits(topology, level - 1, search, excluded)
    return level, _several(topology, level, search, excluded, ordered)


def _several(
    topology: Topology, level: int, search: TopologySearch, excluded: Exclusions, ordered: list[Domain]
) -> list[Domain]:
    """Domains in order until they hold everything: first one that takes the leader, then those for workers alone."""
    needed = left = search.count // search.size
    leaders = search.leaders
    ordered = leader_first(ordered, search.count, leaders, search.size, in_slices=True)
    chosen: list[Domain] = []
    at = 0
    while leaders > 0 and at < len(ordered) and ordered[at].leaders > 0:
        domain = ordered[at]
        if not search.ascending and domain.slices_beside >= left:
            domain = smallest_that_fits(ordered[at:], left, leaders, search, "slices")
        chosen.append(domain)
        leaders -= domain.leaders
        left -= domain.slices_beside
        at += 1
    if leaders > 0:
        raise PlacementError(_refusal(topology, level, search, excluded, search.leaders - leaders))
    ordered = sorted_domains(ordered[at:], ascending=search.ascending, scores=search.scores)
    for index, first in enumerate(ordered):
        if left <= 0:
            break
        domain = first
        if not search.ascending and first.slices >= left:
            domain = smallest_that_fits(ordered[index:], left, 0, search, "slices")
        chosen.append(domain)
        left -= domain.slices
    if left > 0:
        raise PlacementError(_refusal(topology, level, search, excluded, needed - left))
    return chosen


def _descend(
    topology: Topology, search: TopologySearch, chosen: list[Domain], level: int, *, is_even: bool
) -> list[Domain]:
    """Go down to the leaves, at each level with as few domains as it takes."""
    last = len(topology.levels) - 1
    chosen = spread(chosen, search.count, search.leaders, search.size, search, in_slices=True)
    while not is_even and level < min(last, search.slice_level):
        below = sorted_domains(descendants(chosen), ascending=search.ascending, scores=search.scores)
        chosen = spread(below, search.count, search.leaders, search.size, search, in_slices=True)
        level += 1
    while level < last:
        size = search.inner.get(level + 1, 1) if level >= search.slice_level else search.size
        chosen = [one for domain in chosen for one in _below(domain, size, search)]
        level += 1
    return chosen


def _below(domain: Domain, size: int, search: TopologySearch) -> Iterable[Domain]:
    below = sorted_domains(domain.children, ascending=search.ascending, scores=search.scores)
    if size > 1:
        for child in below:
            child.slices, child.slices_beside = child.pods // size, child.pods_beside // size
    return spread(below, domain.pods, domain.leaders, size, search, in_slices=size > 1)


def _refusal(topology: Topology, level: int, search: TopologySearch, excluded: Exclusions, fitting: int) -> str:
    if search.layers:
        best = min(topology.domains[level].values(), key=lambda domain: (-domain.slices, ",".join(domain.values)))
        parts = [f'topology "{topology.name}" doesn\'t allow to fit']
        for layer in search.layers:
            fitting = _slices_below(best, level, topology.levels.index(layer.level), layer.size)
            parts.append(f"{fitting}/{search.count // layer.size} slice(s) fit on level {layer.level}")
        return "; ".join(parts) + str(excluded)
    unit = "pod(s)" if search.size == 1 else "slice(s)"
    needed = search.count // search.size
    if fitting == 0:
        return f'topology "{topology.name}" doesn\'t allow to fit any of {needed} {unit}{excluded}'
    return f'topology "{topology.name}" allows to fit only {fitting} out of {needed} {unit}{excluded}'


def _slices_below(domain: Domain, level: int, target: int, size: int) -> int:
    if level == target:
        return domain.pods // size
    return sum(_slices_below(child, level + 1, target, size) for child in domain.children)
