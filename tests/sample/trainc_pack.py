"""Pack: a scheduler of its own name fills one rack before it starts the next."""

from trainc.model.cluster import Cluster
from trainc.model.patches import Contribution, Scheduler, pod
from trainc.model.plan import Plan


def gang(plan: Plan, cluster: Cluster) -> Contribution:  # noqa: ARG001 (every back end is asked about a cluster)
    """Every pod goes to the scheduler, with the number of pods that must fit."""
    size = str(sum(role.count.value for role in plan.roles))
    out = Contribution()
    for role in plan.roles:
        out += pod(role, schedulerName="pack", annotations={"pack.example.com/size": size})
    return out


SCHEDULER = Scheduler("pack", gang)
