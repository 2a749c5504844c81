"""LeaderWorkerSet (leaderworkerset.x-k8s.io/v1, 0.10.0)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from trainc.apiserver.models.core import PersistentVolumeClaim, PodTemplateSpec
from trainc.apiserver.models.node import ApiObject, Int32, Names, Resource, default


class WorkerSubGroups(ApiObject):
    """Groups within a group."""

    sub_group_policy_type: Annotated[Literal["LeaderWorker", "LeaderExcluded"], default("LeaderWorker")] | None = None
    """Whether the leader belongs to the first of them."""
    sub_group_size: Int32 | None = None
    """Pods of each."""


class LeaderWorkerTemplate(ApiObject):
    """The pods of a group."""

    leader_template: PodTemplateSpec | None = None
    """The first pod; like the others when absent."""
    worker_template: PodTemplateSpec
    """The other pods."""
    size: Annotated[Int32, default(1)] | None = None
    """How many pods a group has, the leader among them."""
    restart_policy: (
        Annotated[
            Literal["Default", "RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None"],
            default("RecreateGroupOnPodRestart"),
        ]
        | None
    ) = None
    """What happens to a group of which a pod was started again."""
    sub_group_policy: WorkerSubGroups | None = None
    """Groups within a group."""
    volume_claim_templates: list[PersistentVolumeClaim] | None = None
    """Claims that each pod gets for itself."""
    persistent_volume_claim_retention_policy: dict[str, object] | None = None
    """What happens to these claims."""
    resource_claim_templates: list[dict[str, object]] | None = None
    """Claims for devices."""


class RolloutStrategy(ApiObject):
    """How a change of the template reaches the groups."""

    type: Annotated[Literal["RollingUpdate"], default("RollingUpdate")] | None = None
    """One group after the other."""
    rolling_update_configuration: dict[str, object] | None = None
    """How many at a time."""


class NetworkConfig(ApiObject):
    """Names of the pods."""

    subdomain_policy: Literal["Shared", "UniquePerReplica"] | None = None
    """One Service for all groups, or one for each."""


class LeaderWorkerSetSpec(ApiObject):
    """Groups of pods that are made and replaced together."""

    replicas: Annotated[Int32, default(1)] | None = None
    """How many groups."""
    leader_worker_template: LeaderWorkerTemplate
    """The pods of a group."""
    rollout_strategy: RolloutStrategy | None = None
    """How a change of the template reaches the groups."""
    startup_policy: Annotated[Literal["LeaderCreated", "LeaderReady"], default("LeaderCreated")] | None = None
    """Whether workers wait until their leader is ready."""
    network_config: NetworkConfig | None = None
    """Names of the pods."""


class LeaderWorkerSet(Resource):
    """Groups of pods that serve; run to completion only where its annotation says so."""

    NAMES: ClassVar[Names] = Names("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets", status=True)

    spec: LeaderWorkerSetSpec | None = None
    """What is to run."""
    status: dict[str, object] | None = None
    """What has been seen to run."""
