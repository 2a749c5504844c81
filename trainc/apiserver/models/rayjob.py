"""The RayJob of KubeRay (ray.io/v1, KubeRay 1.7): a Ray cluster of its own and the program that is submitted to it."""

from __future__ import annotations

from typing import Annotated, ClassVar

from annotated_types import Ge
from pydantic import Field

from trainc.apiserver.models.core import PodTemplateSpec
from trainc.apiserver.models.node import (
    ApiObject,
    Column,
    Int32,
    Int64,
    Names,
    Resource,
    StringMap,
    Time,
    default,
    rules,
)

_MANAGER = rules(
    ("self == oldSelf", "the managedBy field is immutable"),
    (
        "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']",
        "the managedBy field value must be either 'ray.io/kuberay-operator' or 'kueue.x-k8s.io/multikueue'",
    ),
)
Anything = dict[str, object]


class RayHeadGroup(ApiObject):
    """The pod in which Ray's control store, its dashboard and one node of the cluster run."""

    service_type: str | None = None
    """Type of the head's Service."""
    head_service: Anything | None = None
    """A Service to use instead of the one that is made."""
    enable_ingress: bool | None = None
    """Whether an Ingress leads to the dashboard."""
    ingress_options: Anything | None = None
    """How that Ingress is made."""
    ray_start_params: StringMap | None = None
    """Flags of `ray start`, by name."""
    resources: StringMap | None = None
    """What Ray is told that the pod has, instead of flags."""
    labels: StringMap | None = None
    """Labels of the pod and of the Ray node."""
    template: PodTemplateSpec
    """The pod; Ray runs in its first container."""


class RayWorkerGroup(ApiObject):
    """Equal pods, each of which is a node of the Ray cluster."""

    group_name: str
    """Name of the group."""
    suspend: bool | None = None
    """Whether the group has no pods."""
    replicas: Annotated[Int32, default(0)] | None = None
    """How many replicas, between the two bounds."""
    min_replicas: Annotated[Int32, default(0)]
    """Fewest replicas."""
    max_replicas: Annotated[Int32, default(2147483647)]
    """Most replicas."""
    num_of_hosts: Annotated[Int32, default(1)] | None = None
    """Pods of one replica."""
    idle_timeout_seconds: Int32 | None = None
    """How long the autoscaler leaves an idle node."""
    priority: Annotated[Int32, default(0)] | None = None
    """Which group the autoscaler prefers."""
    scale_strategy: Anything | None = None
    """Workers that the autoscaler wants removed."""
    ray_start_params: StringMap | None = None
    """Flags of `ray start`, by name."""
    resources: StringMap | None = None
    """What Ray is told that the pod has, instead of flags."""
    labels: StringMap | None = None
    """Labels of the pod and of the Ray node."""
    template: PodTemplateSpec
    """The pod; Ray runs in its first container."""


class RayClusterSpec(ApiObject):
    """A head and groups of workers."""

    suspend: bool | None = None
    """Whether the cluster has no pods."""
    managed_by: Annotated[str, _MANAGER] | None = None
    """Who looks after the cluster."""
    auth_options: Anything | None = None
    """Whether a token is needed to talk to the cluster."""
    tls_options: Anything | None = None
    """Whether its nodes talk through TLS."""
    autoscaler_options: Anything | None = None
    """How the autoscaler runs."""
    head_service_annotations: StringMap | None = None
    """Annotations of the head's Service."""
    enable_in_tree_autoscaling: bool | None = None
    """Whether Ray adds and removes workers."""
    gcs_fault_tolerance_options: Anything | None = None
    """Where the state of the cluster outlives its head."""
    history_server_options: Anything | None = None
    """Whether logs and events are kept elsewhere."""
    network_policy: Anything | None = None
    """Who may reach the pods."""
    upgrade_strategy: Anything | None = None
    """What a changed specification does to the cluster."""
    head_group_spec: RayHeadGroup
    """The head."""
    ray_version: str | None = None
    """Version of Ray in the images."""
    worker_group_specs: list[RayWorkerGroup] | None = None
    """The groups of workers."""


class RaySubmitter(ApiObject):
    """The pod that submits the program."""

    backoff_limit: Int32 | None = None
    """How often it is tried again; 2 when absent."""


class RayJobSpec(ApiObject):
    """A program, and the cluster that it is submitted to."""

    active_deadline_seconds: Int32 | None = None
    """How long the job may run, over all retries."""
    pre_running_deadline_seconds: Annotated[Int32, Ge(1)] | None = None
    """How long it may take until the program runs."""
    backoff_limit: Annotated[Int32, default(0)] | None = None
    """How many more clusters are tried when the job fails."""
    ray_cluster_spec: RayClusterSpec | None = None
    """The cluster that is made for the job."""
    submitter_pod_template: PodTemplateSpec | None = None
    """The pod that submits the program; the head's image when absent."""
    metadata: StringMap | None = None
    """What Ray remembers about the job."""
    cluster_selector: StringMap | None = None
    """Labels of a cluster that exists, to use instead of a new one."""
    submitter_config: RaySubmitter | None = None
    """How the pod that submits is tried again."""
    managed_by: Annotated[str, _MANAGER] | None = None
    """Who looks after the job."""
    deletion_strategy: Anything | None = None
    """What is deleted when the job is over."""
    entrypoint: str | None = None
    """The program, as a line of shell."""
    runtime_env_yaml: Annotated[str | None, Field(alias="runtimeEnvYAML")] = None
    """Files, packages and variables of the program, as YAML."""
    job_id: str | None = None
    """Name of the submission in Ray."""
    submission_mode: Annotated[str, default("K8sJobMode")] | None = None
    """Who submits: a pod of its own (K8sJobMode), the operator (HTTPMode), a container of the head, or a person."""
    entrypoint_resources: str | None = None
    """Custom resources that the program itself holds, as JSON."""
    entrypoint_num_cpus: float | None = None
    """CPUs that the program itself holds."""
    entrypoint_num_gpus: float | None = None
    """GPUs that the program itself holds."""
    ttl_seconds_after_finished: Annotated[Int32, default(0)] | None = None
    """How long after its end the cluster is deleted."""
    shutdown_after_job_finishes: bool | None = None
    """Whether the cluster is deleted with the job."""
    suspend: bool | None = None
    """Whether the job has to wait without pods."""


class RayJobStatus(ApiObject):
    """What the operator has seen; never written by people."""

    job_id: str | None = None
    """Name of the submission in Ray."""
    ray_cluster_name: str | None = None
    """The cluster that was made."""
    dashboard_url: Annotated[str | None, Field(alias="dashboardURL")] = None
    """Where the dashboard is."""
    job_status: str | None = None
    """What Ray says of the program."""
    job_deployment_status: str | None = None
    """How far the operator is."""
    reason: str | None = None
    """Why it failed, as one word for machines."""
    message: str | None = None
    """Why it failed, as a sentence for people."""
    start_time: Time | None = None
    """When the operator took the job up."""
    end_time: Time | None = None
    """When the job was over."""
    job_status_check_failure_start_time: Time | None = None
    """Since when the dashboard does not answer."""
    succeeded: Annotated[Int32, default(0)] | None = None
    """Attempts that succeeded."""
    failed: Annotated[Int32, default(0)] | None = None
    """Attempts that failed."""
    ray_cluster_status: Anything | None = None
    """What has been seen of the cluster."""
    ray_job_info: Anything | None = None
    """When the program started and ended."""
    observed_generation: Int64 | None = None
    """The specification that this is about."""


class RayJob(Resource):
    """A program for Ray with a cluster of its own."""

    NAMES: ClassVar[Names] = Names(
        "ray.io",
        "v1",
        "RayJob",
        "rayjobs",
        status=True,
        columns=(
            Column("job status", ".status.jobStatus"),
            Column("deployment status", ".status.jobDeploymentStatus"),
            Column("ray cluster name", ".status.rayClusterName"),
            Column("start time", ".status.startTime"),
            Column("end time", ".status.endTime"),
            Column("age", ".metadata.creationTimestamp", "date"),
        ),
    )

    spec: RayJobSpec | None = None
    """What is to run."""
    status: RayJobStatus | None = None
    """What has been seen to run."""
