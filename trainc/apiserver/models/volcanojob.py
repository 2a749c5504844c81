"""The Job of Volcano (batch.volcano.sh/v1alpha1, Volcano 1.16): tasks that are placed together, and their life cycle."""

from typing import Annotated, Literal

from annotated_types import Ge, MaxLen, MinLen
from pydantic import Field, StringConstraints

from trainc.apiserver.models.core import PersistentVolumeClaimSpec, PodTemplateSpec
from trainc.apiserver.models.node import ApiObject, Column, Count, Int32, Names, Resource, Time, optional
from trainc.apiserver.models.volcano import NetworkTopology, Subdomain

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


class LifecyclePolicy(ApiObject):
    """What is done when something happens to a pod or a task."""

    action: str | None = None
    """What is done: RestartJob, RestartTask, RestartPod, AbortJob, TerminateJob, CompleteJob and others."""
    event: Event | None = optional("What has to happen.")
    events: list[Event] | None = optional("Several things, any of which has to happen.")
    exit_code: Int32 | None = None
    """Exit code of the first container that counts as the event; not together with events."""
    timeout: str | None = optional("How long after the event the action follows.")


class PartitionPolicy(ApiObject):
    """Equal parts of a task, each of which is placed together."""

    total_partitions: Annotated[Int32, Ge(1)]
    """How many parts; times their size it is the number of replicas."""
    partition_size: Annotated[Int32, Ge(1)] = Field(description="Pods of one part.")
    min_partitions: Annotated[Int32, Ge(0)] | None = optional(default=0)
    """Parts that must be complete before any pod starts."""
    network_topology: NetworkTopology | None = optional("How far apart the pods of one part may end up.")


class TaskDependsOn(ApiObject):
    """Other tasks that have to be ready first."""

    name: list[str] | None = optional("Names of those tasks.")
    iteration: str | None = optional("Whether `any` or `all` of them have to be ready; all when absent.")


class VolcanoTask(ApiObject):
    """Equal pods that differ in their index."""

    name: Annotated[str, MaxLen(63), StringConstraints(pattern=_LABEL)] | None = None
    """Name of the task; `default` and its index when absent."""
    replicas: Count | None = optional("How many pods; none when absent.")
    min_available: Count | None = optional("How many of them the gang needs; all when absent.")
    template: PodTemplateSpec | None = optional("The pod.")
    policies: list[LifecyclePolicy] | None = None
    """What is done when something happens to this task; looked at before the job's own policies."""
    topology_policy: Literal["none", "best-effort", "restricted", "single-numa-node"] | None = None
    """How the CPUs of a pod lie on the NUMA nodes of its machine."""
    max_retry: Count | None = optional("How many restarts of its containers make the task fail; 3 when absent.")
    depends_on: TaskDependsOn | None = optional("Tasks whose pods must be ready before those of this one are made.")
    partition_policy: PartitionPolicy | None = optional("Parts of the task that are placed together.")


class VolcanoVolume(ApiObject):
    """A claim that all containers of all tasks mount."""

    mount_path: Annotated[str, MinLen(1), StringConstraints(pattern=r"^[^:]+$")]
    """Where it is mounted."""
    volume_claim_name: Annotated[str, MaxLen(253)] | None = optional("Name of a claim that exists.")
    volume_claim: PersistentVolumeClaimSpec | None = optional("A claim that is made with the job and deleted with it.")


class VolcanoJobSpec(ApiObject):
    """Tasks that are placed together, where they queue, and what is done when something happens to them."""

    scheduler_name: Annotated[str, MaxLen(63)] | None = None
    """Scheduler of all pods that name none; volcano when absent."""
    min_available: Count | None = None
    """How many pods must find a place together; the sum over the tasks when absent."""
    volumes: list[VolcanoVolume] | None = optional("Claims that all containers mount.")
    tasks: list[VolcanoTask] | None = optional("The tasks.")
    policies: list[LifecyclePolicy] | None = optional("What is done when something happens to any task.")
    plugins: dict[str, list[str]] | None = None
    """What Volcano adds to the pods, each with its flags: env, svc, ssh, pytorch, tensorflow, mpi, ray, hcclrank."""
    running_estimate: str | None = optional("How long the job is expected to run.")
    queue: Subdomain | None = optional("Queue that the job waits in.", default="default")
    max_retry: Annotated[Int32, Ge(0)] | None = optional("How many runs there are at most; 0 is read as 3.", default=3)
    ttl_seconds_after_finished: Count | None = optional("How long after its end the job is deleted; never when absent.")
    priority_class_name: Subdomain | None = optional("Priority class of the job, and of every pod that names none.")
    min_success: Annotated[Int32, Ge(1)] | None = optional("How many pods have to succeed for the job to be complete.")
    network_topology: NetworkTopology | None = optional("How far apart the pods may end up.")


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
    reason: str | None = optional("Why, as one word for machines.")
    message: str | None = optional("Why, as a sentence for people.")
    last_transition_time: Time | None = optional("When it changed.")


class VolcanoTaskState(ApiObject):
    """How the pods of one task are doing."""

    phase: dict[str, Int32] | None = optional("How many pods are in each phase.")


class VolcanoJobCondition(ApiObject):
    """One phase that the job has been in."""

    status: str = Field(description="The phase.")
    last_transition_time: Time | None = optional("When it began.")


class VolcanoJobStatus(ApiObject):
    """What Volcano has seen; never written by people."""

    state: VolcanoJobState | None = optional("How far the job is.")
    min_available: Count | None = optional("How many pods the gang needs.")
    task_status_count: dict[str, VolcanoTaskState] | None = optional("Progress of each task.")
    pending: Count | None = optional("Pods that wait.")
    running: Count | None = optional("Pods that run.")
    succeeded: Count | None = optional("Pods that have succeeded.")
    failed: Count | None = optional("Pods that have failed.")
    terminating: Count | None = optional("Pods that are ending.")
    unknown: Count | None = optional("Pods in the phase Unknown.")
    version: Count | None = optional("How often the job was changed.")
    retry_count: Count | None = optional("How often the job was restarted.")
    running_duration: str | None = optional("How long the job has run.")
    controlled_resources: dict[str, str] | None = optional("Objects that the plugins made.")
    conditions: list[VolcanoJobCondition] | None = optional("Phases that the job has been in.")


class VolcanoJob(Resource):
    """A job of Volcano; a TrainJob or a JobSet with a PodGroup is the same without its controller."""

    NAMES = Names(
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

    spec: VolcanoJobSpec | None = optional("What is to run.")
    status: VolcanoJobStatus | None = optional("What has been seen to run.")
