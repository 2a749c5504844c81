"""The PodGroup of Volcano (scheduling.volcano.sh/v1beta1, Volcano 1.15)."""

from typing import Annotated, Literal

from annotated_types import Ge, MaxLen
from pydantic import StringConstraints

from trainc.apiserver.models.core import LabelSelector
from trainc.apiserver.models.node import (
    ATOMIC,
    ApiObject,
    Column,
    Count,
    Int32,
    Names,
    Quantity,
    Resource,
    Time,
    optional,
)

_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
Subdomain = Annotated[str, MaxLen(253), StringConstraints(pattern=_SUBDOMAIN)]


class NetworkTopology(ApiObject):
    """How far apart in the network the pods may end up."""

    mode: Literal["hard", "soft"] | None = optional("Whether the limit must hold or is only preferred.", default="hard")
    highest_tier_allowed: Annotated[int, Ge(0)] | None = None
    """Highest tier of HyperNodes that the pods may span, as a number; not together with the name."""
    highest_tier_name: Annotated[str, MaxLen(253)] | None = None
    """Highest tier of HyperNodes that the pods may span, by name; not together with the number."""


class SubGroupPolicy(ApiObject):
    """A gang inside the gang."""

    name: Annotated[str, MaxLen(253)] | None = optional("Name of the policy.")
    sub_group_size: Annotated[Int32, Ge(1)] | None = optional("Pods in each sub-group.", default=1)
    min_sub_groups: Annotated[Int32, Ge(0)] | None = optional(default=0)
    """Sub-groups that must be complete before any pod starts."""
    label_selector: LabelSelector | None = optional("Pods that the policy is for.")
    match_label_keys: Annotated[list[str], ATOMIC] | None = None
    """Labels whose values divide those pods into sub-groups."""
    network_topology: NetworkTopology | None = optional("How far apart the pods of one sub-group may end up.")


class VolcanoPodGroupSpec(ApiObject):
    """How many pods must find a place together, and where they queue."""

    min_member: Count | None = optional("How many pods must be placeable before any of them starts; 0 makes no gang.")
    min_task_member: dict[str, Int32] | None = optional("The same for each task; sub-group policies are its successor.")
    queue: Subdomain | None = optional("Queue that the group waits in; it must exist and be open.", default="default")
    priority_class_name: Annotated[str, MaxLen(253)] | None = None
    """Priority class that orders the groups of a queue."""
    min_resources: dict[str, Quantity] | None = optional("What must be free before the group leaves the queue.")
    network_topology: NetworkTopology | None = optional("How far apart the pods may end up.")
    sub_group_policy: list[SubGroupPolicy] | None = optional("Gangs inside this gang.")


class VolcanoCondition(ApiObject):
    """One thing that Volcano says about the group."""

    type: str | None = optional("What the condition is about.")
    status: str | None = optional("Whether it holds.")
    transition_id: str | None = optional("Scheduling round in which it changed.", alias="transitionID")
    last_transition_time: Time | None = optional("When it changed.")
    reason: str | None = optional("Why, as one word for machines.")
    message: str | None = optional("Why, as a sentence for people.")


class VolcanoPodGroupStatus(ApiObject):
    """What Volcano has seen; never written by people."""

    phase: Literal["Pending", "Running", "Unknown", "Inqueue", "Completed"] | None = optional("How far the group is.")
    conditions: list[VolcanoCondition] | None = optional("Why it is not further.")
    running: Count | None = optional("Pods that run.")
    succeeded: Count | None = optional("Pods that have succeeded.")
    failed: Count | None = optional("Pods that have failed.")


class VolcanoPodGroup(Resource):
    """Pods that are placed together or not at all, by Volcano."""

    NAMES = Names(
        "scheduling.volcano.sh",
        "v1beta1",
        "PodGroup",
        "podgroups",
        short=("pg", "podgroup-v1beta1"),
        columns=(
            Column("Status", ".status.phase"),
            Column("MinMember", ".spec.minMember", "integer"),
            Column("Running", ".status.running", "integer"),
            Column("Age", ".metadata.creationTimestamp", "date"),
            Column("Queue", ".spec.queue", priority=1),
        ),
    )

    spec: VolcanoPodGroupSpec | None = optional("What has to be there before the pods start.")
    status: VolcanoPodGroupStatus | None = optional("What has been seen of the group.")
