"""No gang: every pod is placed for itself."""

from trainc.model.cluster import Cluster
from trainc.model.patches import Contribution, Scheduler
from trainc.model.plan import Plan
from trainc.schedulers.gang import unbound


def gang(plan: Plan, cluster: Cluster) -> Contribution:
    """The cluster's scheduler name where it has one; a name that belongs to a gang scheduler goes."""
    return sum((unbound(role, cluster.scheduler_name) for role in plan.roles), Contribution())


SCHEDULER = Scheduler("none", gang)
