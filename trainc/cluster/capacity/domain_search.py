"""What a search for domains asks for, and the best fit among some of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.cluster.capacity.requests import SliceLayer
    from trainc.cluster.capacity.topology import Domain


class TopologySearch:
    """What one search asks for; levels are counted from the top."""

    __slots__ = (
        "ascending",
        "balanced",
        "count",
        "inner",
        "layers",
        "leaders",
        "level",
        "required",
        "scores",
        "size",
        "slice_level",
        "unconstrained",
    )

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
    inner: dict[int, int]

    def __init__(self, **fields: object) -> None:
        self.inner = {}
        for field, content in fields.items():
            setattr(self, field, content)


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
