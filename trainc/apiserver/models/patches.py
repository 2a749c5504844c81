"""Runtime patches: what a TrainJob, or a controller on its behalf, changes in the template of its runtime."""

from typing import Annotated

from annotated_types import Ge, MaxLen
from pydantic import Field

from trainc.apiserver.models.core import (
    Affinity,
    EnvVar,
    LocalObjectReference,
    PodSchedulingGate,
    PodSecurityContext,
    SecurityContext,
    Toleration,
    Volume,
    VolumeMount,
)
from trainc.apiserver.models.node import (
    ATOMIC,
    FIELD_IMMUTABLE,
    ApiObject,
    Int64,
    Name,
    StringMap,
    TemplateMeta,
    Time,
    list_map,
    optional,
)

Secrets = Annotated[list[LocalObjectReference], MaxLen(64), list_map("name"), FIELD_IMMUTABLE]


class ContainerPatch(ApiObject):
    """What changes in one container; image, command, arguments and resources belong to `spec.trainer`."""

    name: Name = Field(description="Name of the container in the runtime.")
    env: Annotated[list[EnvVar], MaxLen(128), list_map("name")] | None = optional("Variables to add or change.")
    volume_mounts: Annotated[list[VolumeMount], MaxLen(128), list_map("name")] | None = None
    """Mounts to add or change; a volume may be mounted only once in one patch."""
    security_context: SecurityContext | None = optional("Security settings of the container.")


class PodSpecPatch(ApiObject):
    """What changes in the pods of one replicated job."""

    service_account_name: Annotated[str, MaxLen(253), FIELD_IMMUTABLE] | None = optional("Service account of the pods.")
    volumes: Annotated[list[Volume], MaxLen(128), list_map("name"), FIELD_IMMUTABLE] | None = None
    """Volumes to add or change."""
    init_containers: Annotated[list[ContainerPatch], MaxLen(64), list_map("name"), FIELD_IMMUTABLE] | None = None
    """Changes to init containers."""
    containers: Annotated[list[ContainerPatch], MaxLen(64), list_map("name"), FIELD_IMMUTABLE] | None = None
    """Changes to containers."""
    image_pull_secrets: Secrets | None = optional("Secrets for pulling images.")
    security_context: Annotated[PodSecurityContext, FIELD_IMMUTABLE] | None = optional("Security settings of the pods.")
    node_selector: StringMap | None = optional("Labels that a node must have.")
    affinity: Affinity | None = optional("Which nodes and neighbours the pods want.")
    tolerations: Annotated[list[Toleration], MaxLen(128), ATOMIC] | None = None
    """Taints that the pods put up with; the list replaces the runtime's."""
    scheduling_gates: Annotated[list[PodSchedulingGate], MaxLen(16), list_map("name")] | None = None
    """Gates that hold the pods back until someone removes them."""
    termination_grace_period_seconds: Annotated[Int64, Ge(0), FIELD_IMMUTABLE] | None = None
    """How long the pods have between the signal to stop and being killed."""


class PodTemplatePatch(ApiObject):
    """What changes in a pod template."""

    metadata: TemplateMeta | None = optional("Labels and annotations to add to the pods.")
    spec: PodSpecPatch | None = optional("Changes to the pods.")


class JobSpecPatch(ApiObject):
    """What changes in a Job."""

    template: PodTemplatePatch | None = optional("Changes to its pods.")


class JobTemplatePatch(ApiObject):
    """What changes in a Job template."""

    metadata: TemplateMeta | None = optional("Labels and annotations to add to the Jobs.")
    spec: JobSpecPatch | None = optional("Changes to the Jobs.")


class ReplicatedJobPatch(ApiObject):
    """What changes in one replicated job."""

    name: Name = Field(description="Name of the replicated job in the runtime.")
    template: JobTemplatePatch | None = optional("Changes to its Jobs.")


class JobSetSpecPatch(ApiObject):
    """What changes in the JobSet."""

    replicated_jobs: Annotated[list[ReplicatedJobPatch], MaxLen(100), list_map("name")] | None = None
    """Changes by replicated job."""


class JobSetTemplatePatch(ApiObject):
    """What changes in the template of the JobSet."""

    metadata: TemplateMeta | None = optional("Labels and annotations to add to the JobSet.")
    spec: JobSetSpecPatch | None = optional("Changes to the JobSet.")


class TrainingRuntimeSpecPatch(ApiObject):
    """What changes in the runtime, for this job alone."""

    template: JobSetTemplatePatch | None = optional("Changes to the template.")


class RuntimePatch(ApiObject):
    """The changes that one manager makes; later patches in the list win."""

    manager: Annotated[Name, FIELD_IMMUTABLE]
    """Who makes the changes: a domain, a slash and a path, such as `team.example.org/cache`."""
    time: Time | None = optional("When the patch was made; written by the webhook.")
    training_runtime_spec: TrainingRuntimeSpecPatch | None = optional("The changes.")
