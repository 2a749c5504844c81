"""The PodGroup of Volcano (scheduling.volcano.sh/v1beta1, Volcano 1.15)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, MaxLen
from pydantic import Field, StringConstraints

from trainc.apiserver.models.core import LabelSelector
from trainc.apiserver.models.node import ATOMIC, ApiObject, Column, Int32, Names, Quantity, Resource, Time, default

_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"


class NetworkTopology(ApiObject):
    """How far apart in the network the pods may end up."""

    mode: Annotated[Literal["hard", "soft"], default("hard")] | None = None
    """Whether the limit must hold or is only preferred."""
    highest_tier_allowed: Annotated[int, Ge(0)] | None = None
    """Highest tier of HyperNodes that the pods may span, as a number; not together with the name."""
    highest_tier_name: Annotated[str, MaxLen(253)] | None = None
    """Highest tier of HyperNodes that the pods may span, by name; not together with the number."""


class SubGroupPolicy(ApiObject):
    """A gang inside the gang."""

    name: Annotated[str, MaxLen(253)] | None = None
    """Name of the policy."""
    sub_group_size: Annotated[Int32, default(1), Ge(1)] | None = None
    """Pods in each sub-group."""
    min_sub_groups: Annotated[Int32, default(0), Ge(0)] | None = None
    """Sub-groups that must be complete before any pod starts."""
    label_selector: LabelSelector | None = None
    """Pods that the policy is for."""
    match_label_keys: Annotated[list[str], ATOMIC] | None = None
    """Labels whose values divide those pods into sub-groups."""
    network_topology: NetworkTopology | None = None
    """How far apart the pods of one sub-group may end up."""


class VolcanoPodGroupSpec(ApiObject):
    """How many pods must find a place together, and where they queue."""

    min_member: Annotated[Int32, Ge(0)] | None = None
    """How many pods must be placeable before any of them starts; 0 makes no gang."""
    min_task_member: dict[str, Int32] | None = None
    """The same for each task; sub-group policies are its successor."""
    queue: Annotated[str, default("default"), MaxLen(253), StringConstraints(pattern=_SUBDOMAIN)] | None = None
    """Queue that the group waits in; it must exist and be open."""
    priority_class_name: Annotated[str, MaxLen(253)] | None = None
    """Priority class that orders the groups of a queue."""
    min_resources: dict[str, Quantity] | None = None
    """What must be free before the group leaves the queue."""
    network_topology: NetworkTopology | None = None
    """How far apart the pods may end up."""
    sub_group_policy: list[SubGroupPolicy] | None = None
    """Gangs inside this gang."""


class VolcanoCondition(ApiObject):
    """One thing that Volcano says about the group."""

    type: str | None = None
    """What the condition is about."""
    status: str | None = None
    """Whether it holds."""
    transition_id: Annotated[str | None, Field(alias="transitionID")] = None
    """Scheduling round in which it changed."""
    last_transition_time: Time | None = None
    """When it changed."""
    reason: str | None = None
    """Why, as one word for machines."""
    message: str | None = None
    """Why, as a sentence for people."""


class VolcanoPodGroupStatus(ApiObject):
    """What Volcano has seen; never written by people."""

    phase: Literal["Pending", "Running", "Unknown", "Inqueue", "Completed"] | None = None
    """How far the group is."""
    conditions: list[VolcanoCondition] | None = None
    """Why it is not further."""
    running: Annotated[Int32, Ge(0)] | None = None
    """Pods that run."""
    succeeded: Annotated[Int32, Ge(0)] | None = None
    """Pods that have succeeded."""
    failed: Annotated[Int32, Ge(0)] | None = None
    """Pods that have failed."""


class VolcanoPodGroup(Resource):
    """Pods that are placed together or not at all, by Volcano."""

    NAMES: ClassVar[Names] = Names(
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

    spec: VolcanoPodGroupSpec | None = None
    """What has to be there before the pods start."""
    status: VolcanoPodGroupStatus | None = None
    """What has been seen of the group."""
