"""How Kueue spreads a number of pods over sorted domains: the largest first, the last one as small as it can be."""

from __future__ import annotations

from trainc.cluster.capacity.domain_search import smallest_that_fits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.cluster.capacity.domain_search import TopologySearch
    from trainc.cluster.capacity.topology import Domain


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


def over(
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
        _assign(domain, unit, share, each, is_last=is_last)
        chosen.append(domain)
        if is_last:
            return chosen
        left -= share
    return []


def _assign(domain: Domain, unit: str, share: int, each: int, *, is_last: bool) -> None:
    domain.pods = share * each
    if is_last and unit == "slices":
        domain.slices = share


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
