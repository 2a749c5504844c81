"""What all kinds of the training operators have in common (training operator v1.9.0, mpi-operator v0.8.2)."""

from __future__ import annotations

from typing import Annotated

from trainc.apiserver.models.conditions import Condition
from trainc.apiserver.models.core import LabelSelector, PodTemplateSpec
from trainc.apiserver.models.node import ApiObject, Column, Int32, Int64, Quantity, Time, rule

COLUMNS = (
    Column("State", ".status.conditions[-1:].type"),
    Column("Age", ".metadata.creationTimestamp", "date"),
)
_FIXED_QUEUE = rule("self == oldSelf", "spec.runPolicy.schedulingPolicy.queue is immutable")


class SchedulingPolicy(ApiObject):
    """How the pods of a job are placed together, where the operator was started with a gang scheduler."""

    min_available: Int32 | None = None
    """How many pods must find a place together; all when absent."""
    queue: Annotated[str, _FIXED_QUEUE] | None = None
    """Queue of Volcano that the job waits in."""
    min_resources: dict[str, Quantity] | None = None
    """What must be free before the job starts; summed up over the pods when absent."""
    priority_class: str | None = None
    """Priority class of the gang (Volcano)."""
    schedule_timeout_seconds: Int32 | None = None
    """How long the gang may wait for places (scheduler-plugins)."""


class RunPolicy(ApiObject):
    """When a job ends, what is cleaned up, and whether it may run now."""

    clean_pod_policy: str | None = None
    """Pods that are deleted when the job is finished: None, Running or All; None when absent."""
    ttl_seconds_after_finished: Int32 | None = None
    """How long after its end the job is deleted; never when absent."""
    active_deadline_seconds: Int64 | None = None
    """How long the job may run before it fails."""
    backoff_limit: Int32 | None = None
    """How many restarts of containers are allowed over all roles; no limit when absent."""
    scheduling_policy: SchedulingPolicy | None = None
    """How the pods are placed together."""
    suspend: bool | None = None
    """Whether the job has to wait without pods."""
    managed_by: str | None = None
    """Who looks after the job: the operator itself when absent, or kueue.x-k8s.io/multikueue."""


class ReplicaSpec(ApiObject):
    """One role of a job: equal pods that differ in their index."""

    replicas: Int32 | None = None
    """How many pods; 1 when absent, for the workers of an MPIJob none."""
    template: PodTemplateSpec | None = None
    """The pod; the operator overwrites its restart policy."""
    restart_policy: str | None = None
    """What happens to a pod that ended: Always, OnFailure, Never or ExitCode (codes from 128 on are retried)."""


class ReplicaStatus(ApiObject):
    """How the pods of one role are doing."""

    active: Int32 | None = None
    """Pods that run."""
    succeeded: Int32 | None = None
    """Pods that have succeeded."""
    failed: Int32 | None = None
    """Pods that have failed."""
    label_selector: LabelSelector | None = None
    """Old way to select these pods; use `selector`."""
    selector: str | None = None
    """Labels that select these pods, as text."""


class LegacyJobStatus(ApiObject):
    """What the operator has seen; never written by people."""

    conditions: list[Condition] | None = None
    """Created, Running, Restarting, Suspended, Succeeded and Failed."""
    replica_statuses: dict[str, ReplicaStatus] | None = None
    """Progress of each role."""
    start_time: Time | None = None
    """When the operator took the job up."""
    completion_time: Time | None = None
    """When the job was over."""
    last_reconcile_time: Time | None = None
    """When the operator looked last."""


class ElasticRange(ApiObject):
    """Between how many and how many workers a job may run."""

    min_replicas: Int32 | None = None
    """Fewest workers; `maxReplicas` or the number of workers when absent."""
    max_replicas: Int32 | None = None
    """Most workers; `minReplicas` or the number of workers when absent."""
    max_restarts: Int32 | None = None
    """How often the launcher in each pod starts its processes again."""
    metrics: list[dict[str, object]] | None = None
    """Metrics from which the operator made a HorizontalPodAutoscaler; a JobSet cannot be scaled."""
