"""Why flavors were passed over, and the one reason that Kueue reports of them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trainc.cluster.capacity.queues import ResourceGroup

NO_FLAVOR, TOO_MUCH, NO_PLACE = "NoMatchingFlavor", "ExceedsMaxQuota", "TopologyPlacementFailed"
WAITS = "WaitingForQuota"
_SEVERITY = ("", NO_PLACE, WAITS, TOO_MUCH, NO_FLAVOR)


def more_severe(first: str, second: str) -> str:
    """The reason that Kueue reports of two."""
    return first if _SEVERITY.index(first) >= _SEVERITY.index(second) else second


class Attempt:
    """The worst that one flavor came to over all resources it was tried for."""

    __slots__ = ("fits", "reason")

    def __init__(self, reason: str, *, fits: bool) -> None:
        self.reason = reason
        self.fits = fits

    def merge(self, other: Attempt) -> None:
        """Keep the worse of two outcomes."""
        self.fits = self.fits and other.fits
        self.reason = more_severe(self.reason, other.reason)


def merge(attempts: dict[str, Attempt], tried: Mapping[str, Attempt], group: ResourceGroup) -> None:
    """Add the outcome for one resource to those before it; a flavor of the group that was not tried now lacks it."""
    for flavor, attempt in tried.items():
        if flavor in attempts:
            attempts[flavor].merge(attempt)
        else:
            attempts[flavor] = attempt
    if tried:
        for flavor, attempt in attempts.items():
            if flavor in group.flavors and flavor not in tried:
                attempt.fits, attempt.reason = False, NO_FLAVOR


def no_fit_reason(failed: Iterable[Mapping[str, Attempt]], groups: Sequence[ResourceGroup]) -> str:
    """The reason that Kueue gives for a workload, by what each pod set that failed had tried."""
    overall = ""
    for attempts in failed:
        if not attempts:
            overall = more_severe(overall, NO_FLAVOR)
            continue
        least: dict[int, str] = {}
        for index, (flavor, attempt) in enumerate(sorted(attempts.items())):
            if attempt.fits:
                continue
            for at in [i for i, group in enumerate(groups) if flavor in group.flavors] or [-1 - index]:
                known = least.get(at, attempt.reason)
                least[at] = attempt.reason if more_severe(known, attempt.reason) == known else known
        worst = ""
        for reason in least.values():
            worst = more_severe(worst, reason)
        overall = more_severe(overall, worst)
    return overall
