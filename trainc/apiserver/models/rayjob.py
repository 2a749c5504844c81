"""The RayJob of KubeRay (ray.io/v1, KubeRay 1.7): a Ray cluster of its own and the program that is submitted to it."""

from typing import Annotated

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
    optional,
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


class RayGroup(ApiObject):
    """Pods that are nodes of a Ray cluster."""

    ray_start_params: StringMap | None = optional("Flags of `ray start`, by name.")
    resources: StringMap | None = optional("What Ray is told that the pod has, instead of flags.")
    labels: StringMap | None = optional("Labels of the pod and of the Ray node.")
    template: PodTemplateSpec = Field(description="The pod; Ray runs in its first container.")


class RayHeadGroup(RayGroup):
    """The pod in which Ray's control store, its dashboard and one node of the cluster run."""

    service_type: str | None = optional("Type of the head's Service.")
    head_service: Anything | None = optional("A Service to use instead of the one that is made.")
    enable_ingress: bool | None = optional("Whether an Ingress leads to the dashboard.")
    ingress_options: Anything | None = optional("How that Ingress is made.")


class RayWorkerGroup(RayGroup):
    """Equal pods, each of which is a node of the Ray cluster."""

    group_name: str = Field(description="Name of the group.")
    suspend: bool | None = optional("Whether the group has no pods.")
    replicas: Int32 | None = optional("How many replicas, between the two bounds.", default=0)
    min_replicas: Int32 = Field(description="Fewest replicas.", json_schema_extra={"default": 0})
    max_replicas: Int32 = Field(description="Most replicas.", json_schema_extra={"default": 2147483647})
    num_of_hosts: Int32 | None = optional("Pods of one replica.", default=1)
    idle_timeout_seconds: Int32 | None = optional("How long the autoscaler leaves an idle node.")
    priority: Int32 | None = optional("Which group the autoscaler prefers.", default=0)
    scale_strategy: Anything | None = optional("Workers that the autoscaler wants removed.")


class RayClusterSpec(ApiObject):
    """A head and groups of workers."""

    suspend: bool | None = optional("Whether the cluster has no pods.")
    managed_by: Annotated[str, _MANAGER] | None = optional("Who looks after the cluster.")
    auth_options: Anything | None = optional("Whether a token is needed to talk to the cluster.")
    tls_options: Anything | None = optional("Whether its nodes talk through TLS.")
    autoscaler_options: Anything | None = optional("How the autoscaler runs.")
    head_service_annotations: StringMap | None = optional("Annotations of the head's Service.")
    enable_in_tree_autoscaling: bool | None = optional("Whether Ray adds and removes workers.")
    gcs_fault_tolerance_options: Anything | None = optional("Where the state of the cluster outlives its head.")
    history_server_options: Anything | None = optional("Whether logs and events are kept elsewhere.")
    network_policy: Anything | None = optional("Who may reach the pods.")
    upgrade_strategy: Anything | None = optional("What a changed specification does to the cluster.")
    head_group_spec: RayHeadGroup = Field(description="The head.")
    ray_version: str | None = optional("Version of Ray in the images.")
    worker_group_specs: list[RayWorkerGroup] | None = optional("The groups of workers.")


class RaySubmitter(ApiObject):
    """The pod that submits the program."""

    backoff_limit: Int32 | None = optional("How often it is tried again; 2 when absent.")


class RayJobSpec(ApiObject):
    """A program, and the cluster that it is submitted to."""

    active_deadline_seconds: Int32 | None = optional("How long the job may run, over all retries.")
    pre_running_deadline_seconds: Annotated[Int32, Ge(1)] | None = None
    """How long it may take until the program runs."""
    backoff_limit: Int32 | None = optional("How many more clusters are tried when the job fails.", default=0)
    ray_cluster_spec: RayClusterSpec | None = optional("The cluster that is made for the job.")
    submitter_pod_template: PodTemplateSpec | None = None
    """The pod that submits the program; the head's image when absent."""
    metadata: StringMap | None = optional("What Ray remembers about the job.")
    cluster_selector: StringMap | None = optional("Labels of a cluster that exists, to use instead of a new one.")
    submitter_config: RaySubmitter | None = optional("How the pod that submits is tried again.")
    managed_by: Annotated[str, _MANAGER] | None = optional("Who looks after the job.")
    deletion_strategy: Anything | None = optional("What is deleted when the job is over.")
    entrypoint: str | None = optional("The program, as a line of shell.")
    runtime_env_yaml: str | None = optional(alias="runtimeEnvYAML")
    """Files, packages and variables of the program, as YAML."""
    job_id: str | None = optional("Name of the submission in Ray.")
    submission_mode: str | None = optional(default="K8sJobMode")
    """Who submits: a pod of its own (K8sJobMode), the operator (HTTPMode), a container of the head, or a person."""
    entrypoint_resources: str | None = optional("Custom resources that the program itself holds, as JSON.")
    entrypoint_num_cpus: float | None = optional("CPUs that the program itself holds.")
    entrypoint_num_gpus: float | None = optional("GPUs that the program itself holds.")
    ttl_seconds_after_finished: Int32 | None = optional("How long after its end the cluster is deleted.", default=0)
    shutdown_after_job_finishes: bool | None = optional("Whether the cluster is deleted with the job.")
    suspend: bool | None = optional("Whether the job has to wait without pods.")


class RayJobStatus(ApiObject):
    """What the operator has seen; never written by people."""

    job_id: str | None = optional("Name of the submission in Ray.")
    ray_cluster_name: str | None = optional("The cluster that was made.")
    dashboard_url: str | None = optional("Where the dashboard is.", alias="dashboardURL")
    job_status: str | None = optional("What Ray says of the program.")
    job_deployment_status: str | None = optional("How far the operator is.")
    reason: str | None = optional("Why it failed, as one word for machines.")
    message: str | None = optional("Why it failed, as a sentence for people.")
    start_time: Time | None = optional("When the operator took the job up.")
    end_time: Time | None = optional("When the job was over.")
    job_status_check_failure_start_time: Time | None = optional("Since when the dashboard does not answer.")
    succeeded: Int32 | None = optional("Attempts that succeeded.", default=0)
    failed: Int32 | None = optional("Attempts that failed.", default=0)
    ray_cluster_status: Anything | None = optional("What has been seen of the cluster.")
    ray_job_info: Anything | None = optional("When the program started and ended.")
    observed_generation: Int64 | None = optional("The specification that this is about.")


class RayJob(Resource):
    """A program for Ray with a cluster of its own."""

    NAMES = Names(
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

    spec: RayJobSpec | None = optional("What is to run.")
    status: RayJobStatus | None = optional("What has been seen to run.")
