"""Everything there is to say about the placing of pods, in the order in which it is said."""

from __future__ import annotations

from trainc.lint.facts.placement import Placement
from trainc.lint.rules.scheduling import gang_sizes, order, pod_sets, queues, ties, unqueued, versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report


def look(bundle: Bundle, cluster: Cluster, report: Report, *, gang: bool, queued: bool) -> None:
    """Look at groups and ties where there may be a `gang`, at what Kueue is asked for where a job is `queued`."""
    placement = Placement(bundle, cluster)
    if gang:
        order.look(placement, report)
        ties.look(placement, report)
        gang_sizes.look(placement, report)
        versions.look(placement, report)
    queues.look(placement, report)
    unqueued.look(placement, report)
    if queued:
        pod_sets.look(placement, report)
