"""What a look at a finished bundle says about the placing of its pods."""

from __future__ import annotations

from trainc.model.tree import get
from trainc.schedulers import order, pod_sets, queues, sizes, ties
from trainc.schedulers.placement import Placement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.bundle import Bundle
    from trainc.model.cluster import Cluster
    from trainc.model.report import Report

LOOKS = (order.look, ties.look, sizes.look, queues.look, pod_sets.look)


def verify(bundle: Bundle, cluster: Cluster, report: Report) -> None:
    """Whether the pods of a bundle can be placed together: groups, ties, numbers, queues and topologies."""
    if type(get(bundle.jobset, "spec")) is not dict:
        return
    placement = Placement(bundle, cluster)
    for look in LOOKS:
        look(placement, report)
