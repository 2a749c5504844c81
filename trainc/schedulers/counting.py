"""How big a gang is: its pods and what they ask for, as a scheduler counts and as the Trainer controller does."""

from __future__ import annotations

from trainc.model.gang import pods, size
from trainc.model.requests import pod_requests, total, written
from trainc.model.sourced import derive
from trainc.model.tree import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from trainc.model.cluster import Cluster
    from trainc.model.plan import Plan, Role
    from trainc.model.sourced import Sourced

MEMBERS = "pods of the gang"
REQUESTS = "requests of the gang"


def minimum(roles: Sequence[Role]) -> Sourced[int]:
    """The number of pods that have to be placed together."""
    return size(roles, MEMBERS)


def resources(roles: Sequence[Role], cluster: Cluster) -> dict[str, Sourced[str]]:
    """What all pods of these roles ask for together; resources of which nothing is asked are left out."""
    asked = (
        (
            pod_requests(
                role.pod, overhead=cluster.overhead(value(role.pod, "runtimeClassName")), injected=cluster.injected
            ),
            pods(role),
            (role.count, role.replicas),
        )
        for role in roles
    )
    return {name: leaf for name, leaf in written(total(asked), REQUESTS).items() if leaf.value != "0"}


def controllers_minimum(plan: Plan) -> Sourced[int]:
    """The minimum as the Trainer controller has it: every role counts, initializers too, `replicas` do not."""
    counted = sum(role.count.value for role in plan.roles)
    return derive(MEMBERS, lambda *_: counted, *(role.count for role in plan.roles))


def controllers_resources(plan: Plan) -> dict[str, Sourced[str]]:
    """The sum as the Trainer controller has it: written requests alone, limits never stand in, zeros stay."""
    asked = ((pod_requests(role.pod, limits=False), role.count.value, (role.count,)) for role in plan.roles)
    return written(total(asked), REQUESTS)
