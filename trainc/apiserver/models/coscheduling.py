"""The PodGroup of the coscheduling plugin of scheduler-plugins (scheduling.x-k8s.io/v1alpha1)."""

from typing import Annotated

from annotated_types import Ge

from trainc.apiserver.models.node import ApiObject, Column, Int32, Names, Quantity, Resource, Time, optional


class CoschedulingPodGroupSpec(ApiObject):
    """How many pods must find a place together."""

    min_member: Annotated[Int32, Ge(1)] | None = optional("How many pods must be placeable before any of them starts.")
    min_resources: dict[str, Quantity] | None = None
    """What must be free in the whole cluster before the group is tried at all."""
    schedule_timeout_seconds: Int32 | None = None
    """How long a pod that has found its place waits for the others; 0 leaves it to the plugin."""


class CoschedulingPodGroupStatus(ApiObject):
    """What the controller has seen; never written by people."""

    phase: str | None = optional("Pending, Scheduling, Running, Finished, Failed or Unknown.")
    occupied_by: str | None = optional("The owners whose pods belong to the group.")
    running: Int32 | None = optional("Pods that run.")
    succeeded: Int32 | None = optional("Pods that have succeeded.")
    failed: Int32 | None = optional("Pods that have failed.")
    schedule_start_time: Time | None = optional("When the group was tried first.")


class CoschedulingPodGroup(Resource):
    """Pods that are placed together or not at all, by the coscheduling plugin."""

    NAMES = Names(
        "scheduling.x-k8s.io",
        "v1alpha1",
        "PodGroup",
        "podgroups",
        short=("pg", "pgs"),
        status=True,
        columns=(
            Column("Phase", ".status.phase"),
            Column("MinMember", ".spec.minMember", "integer"),
            Column("Running", ".status.running", "integer"),
            Column("Succeeded", ".status.succeeded", "integer"),
            Column("Failed", ".status.failed", "integer"),
            Column("Age", ".metadata.creationTimestamp", "date"),
        ),
    )

    spec: CoschedulingPodGroupSpec | None = optional("What has to be there before the pods start.")
    status: CoschedulingPodGroupStatus | None = optional("What has been seen of the group.")
