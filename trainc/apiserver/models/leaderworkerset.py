"""LeaderWorkerSet (leaderworkerset.x-k8s.io/v1, 0.10.0)."""

from typing import Literal

from pydantic import Field

from trainc.apiserver.models.core import PersistentVolumeClaim, PodTemplateSpec
from trainc.apiserver.models.node import ApiObject, Int32, Names, Resource, optional


class WorkerSubGroups(ApiObject):
    """Groups within a group."""

    sub_group_policy_type: Literal["LeaderWorker", "LeaderExcluded"] | None = optional(default="LeaderWorker")
    """Whether the leader belongs to the first of them."""
    sub_group_size: Int32 | None = optional("Pods of each.")


class LeaderWorkerTemplate(ApiObject):
    """The pods of a group."""

    leader_template: PodTemplateSpec | None = optional("The first pod; like the others when absent.")
    worker_template: PodTemplateSpec = Field(description="The other pods.")
    size: Int32 | None = optional("How many pods a group has, the leader among them.", default=1)
    restart_policy: Literal["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"] | None = (
        optional(default="RecreateGroupOnPodRestart")
    )
    """What happens to a group of which a pod was started again."""
    sub_group_policy: WorkerSubGroups | None = optional("Groups within a group.")
    volume_claim_templates: list[PersistentVolumeClaim] | None = optional("Claims that each pod gets for itself.")
    persistent_volume_claim_retention_policy: dict[str, object] | None = optional("What happens to these claims.")
    resource_claim_templates: list[dict[str, object]] | None = optional("Claims for devices.")


class RolloutStrategy(ApiObject):
    """How a change of the template reaches the groups."""

    type: Literal["RollingUpdate"] | None = optional("One group after the other.", default="RollingUpdate")
    rolling_update_configuration: dict[str, object] | None = optional("How many at a time.")


class NetworkConfig(ApiObject):
    """Names of the pods."""

    subdomain_policy: Literal["Shared", "UniquePerReplica"] | None = None
    """One Service for all groups, or one for each."""


class LeaderWorkerSetSpec(ApiObject):
    """Groups of pods that are made and replaced together."""

    replicas: Int32 | None = optional("How many groups.", default=1)
    leader_worker_template: LeaderWorkerTemplate = Field(description="The pods of a group.")
    rollout_strategy: RolloutStrategy | None = optional("How a change of the template reaches the groups.")
    startup_policy: Literal["LeaderCreated", "LeaderReady"] | None = optional(default="LeaderCreated")
    """Whether workers wait until their leader is ready."""
    network_config: NetworkConfig | None = optional("Names of the pods.")


class LeaderWorkerSet(Resource):
    """Groups of pods that serve; run to completion only where its annotation says so."""

    NAMES = Names("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", status=True)

    spec: LeaderWorkerSetSpec | None = optional("What is to run.")
    status: dict[str, object] | None = optional("What has been seen to run.")
