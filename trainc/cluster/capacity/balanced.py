"""How Kueue spreads pods evenly over as few domains as hold them (its alpha gate TASBalancedPlacement)."""

from __future__ import annotations

from math import log2

from trainc.cluster.capacity.topology import Domain, Search, Topology, descendants, in_order, roll_up

MOST_STATES = 200_000  # of the search for the best set; beyond it the greedy placement is used


def evenly_filled(topology: Topology, search: Search) -> tuple[list[Domain], int] | None:
    """The domains with their shares and their level, None where nothing can be placed evenly."""
    best: list[Domain] = []
    threshold = most = 0
    if search.level:
        above = sorted(topology.domains[search.level - 1].values(), key=lambda domain: domain.values)
        groups = [domain.children for domain in above]
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
    level, needed = search.level, search.slices
    if level < search.slice_level:
        if (chosen := _optimal(best, needed, search, by_entropy=True)) is None:
            return None
        best, level = list(descendants(chosen)), level + 1
    placed = _placed(best, needed, threshold, search)
    return None if placed is None else (placed, level)


def _candidate(siblings: list[Domain], search: Search, best: int) -> tuple[list[Domain], int, int] | None:
    """Copies of sibling domains without what holds too little, the threshold, and how many domains it takes."""
    needed = search.slices
    lower = list(descendants(siblings)) if search.level < search.slice_level else siblings
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
        pruned = _pruned(siblings, least, search)
        if (after := _greedy(pruned, needed, search.leaders)) is not None:
            return pruned, least, after[0]
    return None


def _greedy(candidates: list[Domain], slices: int, leaders: int) -> tuple[int, Domain | None, Domain | None] | None:
    """How many domains a greedy placement takes, and its last one with a leader and without; None if it fails."""
    count, left, last_beside, last = 0, slices, None, None
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


def _pruned(siblings: list[Domain], least: int, search: Search) -> list[Domain]:
    copies = [domain.copied() for domain in siblings]
    for domain in copies:
        for child in domain.children:
            _prune(child, least, search)
        roll_up(domain, search.level, search, {})
        _prune(domain, least, search)
    return copies


_BESIDE = ("pods_beside", "slices_beside", "leaders")


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


Table = list[dict[int, dict[int, list["Domain"]]]]


def _optimal(candidates: list[Domain], slices: int, search: Search, *, by_entropy: bool) -> list[Domain] | None:
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


def _placed(candidates: list[Domain], needed: int, least: int, search: Search) -> list[Domain] | None:
    chosen = _optimal(candidates, needed, search, by_entropy=False)
    if chosen is None or needed < len(chosen) * least:
        return None
    chosen = in_order(chosen, beside=True, scores=search.scores)
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
