"""The Job of Volcano (batch.volcano.sh/v1alpha1, Volcano 1.16): tasks that are placed together, and their life cycle."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, MaxLen, MinLen
from pydantic import StringConstraints

from trainc.apiserver.models.core import PersistentVolumeClaimSpec, PodTemplateSpec
from trainc.apiserver.models.node import ApiObject, Column, Int32, Names, Resource, Time, default
from trainc.apiserver.models.volcano import NetworkTopology

_SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
Event = Literal[
    "*",
    "PodPending",
    "PodRunning",
    "PodFailed",
    "PodEvicted",
    "Unknown",
    "TaskCompleted",
    "OutOfSync",
    "CommandIssued",
    "JobUpdated",
    "TaskFailed",
]
Count = Annotated[Int32, Ge(0)]


class LifecyclePolicy(ApiObject):
    """What is done when something happens to a pod or a task."""

    action: str | None = None
    """What is done: RestartJob, RestartTask, RestartPod, AbortJob, TerminateJob, CompleteJob and others."""
    event: Event | None = None
    """What has to happen."""
    events: list[Event] | None = None
    """Several things, any of which has to happen."""
    exit_code: Int32 | None = None
    """Exit code of the first container that counts as the event; not together with events."""
    timeout: str | None = None
    """How long after the event the action follows."""


class PartitionPolicy(ApiObject):
    """Equal parts of a task, each of which is placed together."""

    total_partitions: Annotated[Int32, Ge(1)]
    """How many parts; times their size it is the number of replicas."""
    partition_size: Annotated[Int32, Ge(1)]
    """Pods of one part."""
    min_partitions: Annotated[Int32, default(0), Ge(0)] | None = None
    """Parts that must be complete before any pod starts."""
    network_topology: NetworkTopology | None = None
    """How far apart the pods of one part may end up."""


class TaskDependsOn(ApiObject):
    """Other tasks that have to be ready first."""

    name: list[str] | None = None
    """Names of those tasks."""
    iteration: str | None = None
    """Whether `any` or `all` of them have to be ready; all when absent."""


class VolcanoTask(ApiObject):
    """Equal pods that differ in their index."""

    name: Annotated[str, MaxLen(63), StringConstraints(pattern=_LABEL)] | None = None
    """Name of the task; `default` and its index when absent."""
    replicas: Count | None = None
    """How many pods; none when absent."""
    min_available: Count | None = None
    """How many of them the gang needs; all when absent."""
    template: PodTemplateSpec | None = None
    """The pod."""
    policies: list[LifecyclePolicy] | None = None
    """What is done when something happens to this task; looked at before the job's own policies."""
    topology_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] | None = None
    """How the CPUs of a pod lie on the NUMA nodes of its machine."""
    max_retry: Count | None = None
    """How many restarts of its containers make the task fail; 3 when absent."""
    depends_on: TaskDependsOn | None = None
    """Tasks whose pods must be ready before those of this one are made."""
    partition_policy: PartitionPolicy | None = None
    """Parts of the task that are placed together."""


class VolcanoVolume(ApiObject):
    """A claim that all containers of all tasks mount."""

    mount_path: Annotated[str, MinLen(1), StringConstraints(pattern=r"^[^:]+$")]
    """Where it is mounted."""
    volume_claim_name: Annotated[str, MaxLen(253)] | None = None
    """Name of a claim that exists."""
    volume_claim: PersistentVolumeClaimSpec | None = None
    """A claim that is made with the job and deleted with it."""


class VolcanoJobSpec(ApiObject):
    """Tasks that are placed together, where they queue, and what is done when something happens to them."""

    scheduler_name: Annotated[str, MaxLen(63)] | None = None
    """Scheduler of all pods that name none; volcano when absent."""
    min_available: Count | None = None
    """How many pods must find a place together; the sum over the tasks when absent."""
    volumes: list[VolcanoVolume] | None = None
    """Claims that all containers mount."""
    tasks: list[VolcanoTask] | None = None
    """The tasks."""
    policies: list[LifecyclePolicy] | None = None
    """What is done when something happens to any task."""
    plugins: dict[str, list[str]] | None = None
    """What Volcano adds to the pods, each with its flags: env, svc, ssh, pytorch, tensorflow, mpi, ray, hcclrank."""
    running_estimate: str | None = None
    """How long the job is expected to run."""
    queue: Annotated[str, default("default"), MaxLen(253), StringConstraints(pattern=_SUBDOMAIN)] | None = None
    """Queue that the job waits in."""
    max_retry: Annotated[Int32, default(3), Ge(0)] | None = None
    """How many runs there are at most; 0 is read as 3."""
    ttl_seconds_after_finished: Count | None = None
    """How long after its end the job is deleted; never when absent."""
    priority_class_name: Annotated[str, MaxLen(253), StringConstraints(pattern=_SUBDOMAIN)] | None = None
    """Priority class of the job, and of every pod that names none."""
    min_success: Annotated[Int32, Ge(1)] | None = None
    """How many pods have to succeed for the job to be complete."""
    network_topology: NetworkTopology | None = None
    """How far apart the pods may end up."""


class VolcanoJobState(ApiObject):
    """How far the job is."""

    phase: (
        Literal[
            "Pending",
            "Aborting",
            "Aborted",
            "Running",
            "Restarting",
            "Completing",
            "Completed",
            "Terminating",
            "Terminated",
            "Failed",
        ]
        | None
    ) = None
    """The phase, as one word."""
    reason: str | None = None
    """Why, as one word for machines."""
    message: str | None = None
    """Why, as a sentence for people."""
    last_transition_time: Time | None = None
    """When it changed."""


class VolcanoTaskState(ApiObject):
    """How the pods of one task are doing."""

    phase: dict[str, Int32] | None = None
    """How many pods are in each phase."""


class VolcanoJobCondition(ApiObject):
    """One phase that the job has been in."""

    status: str
    """The phase."""
    last_transition_time: Time | None = None
    """When it began."""


class VolcanoJobStatus(ApiObject):
    """What Volcano has seen; never written by people."""

    state: VolcanoJobState | None = None
    """How far the job is."""
    min_available: Count | None = None
    """How many pods the gang needs."""
    task_status_count: dict[str, VolcanoTaskState] | None = None
    """Progress of each task."""
    pending: Count | None = None
    """Pods that wait."""
    running: Count | None = None
    """Pods that run."""
    succeeded: Count | None = None
    """Pods that have succeeded."""
    failed: Count | None = None
    """Pods that have failed."""
    terminating: Count | None = None
    """Pods that are ending."""
    unknown: Count | None = None
    """Pods nobody hears of."""
    version: Count | None = None
    """How often the job was changed."""
    retry_count: Count | None = None
    """How often the job was restarted."""
    running_duration: str | None = None
    """How long the job has run."""
    controlled_resources: dict[str, str] | None = None
    """Objects that the plugins made."""
    conditions: list[VolcanoJobCondition] | None = None
    """Phases that the job has been in."""


class VolcanoJob(Resource):
    """A job of Volcano; a TrainJob or a JobSet with a PodGroup is the same without its controller."""

    NAMES: ClassVar[Names] = Names(
        "batch.volcano.sh",
        "v1alpha1",
        "Job",
        "jobs",
        short=("vcjob", "vj"),
        status=True,
        columns=(
            Column("STATUS", ".status.state.phase"),
            Column("minAvailable", ".status.minAvailable", "integer"),
            Column("RUNNINGS", ".status.running", "integer"),
            Column("AGE", ".metadata.creationTimestamp", "date"),
            Column("QUEUE", ".spec.queue", priority=1),
        ),
    )

    spec: VolcanoJobSpec | None = None
    """What is to run."""
    status: VolcanoJobStatus | None = None
    """What has been seen to run."""
