"""TrainJob, one training run (trainer.kubeflow.org/v1alpha1, Kubeflow Trainer v2.3.0).

TrainJobPatch is what is different in it on some of the clusters that run it (trainc.dev/v1alpha1).
"""

from typing import Annotated

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import ConfigDict, Field

from trainc.apiserver.models.core import Condition, EnvVar, LocalObjectReference, ResourceRequirements
from trainc.apiserver.models.inherited import Piece
from trainc.apiserver.models.node import (
    ATOMIC,
    FIELD_IMMUTABLE,
    NOT_EMPTY,
    STATE_AND_AGE,
    ApiObject,
    Count,
    Int32,
    Int64,
    Name,
    Names,
    Resource,
    Time,
    list_map,
    optional,
    rule,
    rules,
)
from trainc.apiserver.models.patches import RuntimePatch

_URI = rule(
    "self == '' || self.matches('^[A-Za-z][A-Za-z0-9+.-]*://.+$')",
    "storageUri may be empty, or it must be a valid URI (scheme://...)",
)
_MANAGER = rule(
    "self in ['trainer.kubeflow.org/trainjob-controller', 'kueue.x-k8s.io/multikueue']",
    "ManagedBy must be trainer.kubeflow.org/trainjob-controller or kueue.x-k8s.io/multikueue if set",
)
_TIMED = rule("has(self.lastUpdatedTime)", "lastUpdatedTime is required when trainerStatus is present")
_NAMED = rules(
    (
        "self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "metadata.name must match RFC 1035 DNS label format",
    ),
    ("size(self.metadata.name) <= 63", "metadata.name must be no more than 63 characters"),
)

Words = Annotated[list[Annotated[str, MaxLen(1048576)]], MaxLen(128), ATOMIC]


class RuntimeRef(ApiObject):
    """Which runtime the job starts from."""

    name: Name = Field(description="Name of the runtime.")
    kind: Annotated[str, MaxLen(253)] | None = optional(default="ClusterTrainingRuntime")
    """ClusterTrainingRuntime, or TrainingRuntime for one in the namespace of the job."""
    api_group: Annotated[str, MaxLen(253)] | None = optional(default="trainer.kubeflow.org")
    """API group of the runtime."""


class Source(ApiObject):
    """Something to fetch before training starts."""

    storage_uri: Annotated[str, MaxLen(2048), _URI] | None = None
    """Where it lies, as `scheme://...`; given to the initializer as STORAGE_URI."""
    env: Annotated[list[EnvVar], MaxLen(128), list_map("name")] | None = None
    """Variables of the initializer container; they win over the runtime's and over `storageUri`."""
    secret_ref: LocalObjectReference | None = None
    """Secret in the namespace of the job whose keys become variables of the initializer."""


class Initializer(ApiObject):
    """What is fetched before training starts; the runtime must have the jobs for it."""

    dataset: Source | None = optional("The data set.")
    model: Source | None = optional("The model to start from.")


class Trainer(ApiObject):
    """What this job changes in the container `node` of the replicated job that trains."""

    image: Annotated[str, MaxLen(500)] | None = optional("Image instead of the runtime's.")
    command: Words | None = optional("Command instead of the runtime's; an empty list removes it.")
    args: Words | None = optional("Arguments instead of the runtime's; an empty list removes them.")
    env: Annotated[list[EnvVar], MaxLen(128), list_map("name")] | None = optional("Variables to add or change.")
    num_nodes: Int32 | None = optional("How many nodes train, instead of the runtime's number.")
    resources_per_node: ResourceRequirements | None = None
    """What each node asks for, laid over the runtime's by resource name."""
    num_proc_per_node: Int32 | None = None
    """Processes on each node, instead of the number of its GPUs or the runtime's number."""


class TrainJobSpec(ApiObject):
    """Which runtime a job starts from and what it changes there."""

    runtime_ref: Annotated[RuntimeRef, FIELD_IMMUTABLE] = Field(description="Runtime that the job starts from.")
    initializer: Annotated[Initializer, FIELD_IMMUTABLE] | None = optional("What is fetched before training starts.")
    trainer: Annotated[Trainer, FIELD_IMMUTABLE] | None = optional("What changes in the container that trains.")
    runtime_patches: Annotated[list[RuntimePatch], MaxLen(16), list_map("manager")] | None = None
    """What else changes in the runtime's template, by manager, in this order."""
    suspend: bool | None = optional(default=False)
    """Whether no pod may run for now; queues such as Kueue own this field."""
    active_deadline_seconds: Annotated[Int64, Ge(1), FIELD_IMMUTABLE] | None = None
    """How long the job may take; kept by the Trainer controller and by no object that it makes."""
    managed_by: Annotated[str, MaxLen(253), _MANAGER, FIELD_IMMUTABLE] | None = optional(
        default="trainer.kubeflow.org/trainjob-controller"
    )
    """Controller that looks after this job."""


class JobStatus(ApiObject):
    """How the Jobs of one replicated job are doing."""

    name: Name = Field(description="Name of the replicated job.")
    ready: Count = Field(description="Jobs of which enough pods are ready or done.")
    succeeded: Count = Field(description="Jobs that have completed.")
    failed: Count = Field(description="Jobs that have failed.")
    active: Count = Field(description="Jobs with pods that run or wait.")
    suspended: Count = Field(description="Jobs that are suspended.")


class Metric(ApiObject):
    """One number that the training reports."""

    name: Annotated[str, MinLen(1), MaxLen(64)] = Field(description="Name of the metric.")
    value: Annotated[str, MinLen(1), MaxLen(64)] = Field(description="Its latest value, as text.")


class TrainerStatus(ApiObject):
    """How far the training says it is."""

    progress_percentage: Annotated[Int32, Ge(0), Le(100)] | None = optional("Part of the work that is done.")
    estimated_remaining_seconds: Count | None = optional("How long the rest will take.")
    metrics: Annotated[list[Metric], MaxLen(256), ATOMIC] | None = optional("Numbers of the training.")
    last_updated_time: Time | None = optional("When this was reported.")


class TrainJobStatus(ApiObject):
    """What the Trainer controller has seen; never written by people."""

    conditions: Annotated[list[Condition], MaxLen(8), list_map("type")] | None = None
    """Suspended, Complete or Failed, and why."""
    jobs_status: Annotated[list[JobStatus], MaxLen(100), list_map("name")] | None = None
    """Progress of each replicated job."""
    trainer_status: Annotated[TrainerStatus, _TIMED] | None = optional("How far the training says it is.")


class TrainJob(Resource):
    """One training run: the runtime it starts from and what it changes there."""

    model_config = ConfigDict(json_schema_extra=_NAMED.keywords)

    NAMES = Names("trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs", status=True, columns=STATE_AND_AGE)

    spec: TrainJobSpec | None = optional("What is to be trained.")
    status: Annotated[TrainJobStatus, NOT_EMPTY] | None = optional("What has been seen of the training.")


class TrainJobPatch(Resource):
    """A part of a TrainJob, merged over the TrainJob of the same name on the clusters of `trainc.dev/cluster`."""

    NAMES = Names("trainc.dev", "v1alpha1", "TrainJobPatch", "trainjobpatches")

    spec: Annotated[dict[str, object], Piece(TrainJobSpec)] | None = None
    """The fields that differ; maps and keyed lists are merged, null removes."""
