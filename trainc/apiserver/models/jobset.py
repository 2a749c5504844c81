"""JobSet, the object that a training job becomes (jobset.x-k8s.io/v1alpha2, JobSet 0.12 and 0.13)."""

from typing import Annotated, Literal

from annotated_types import MaxLen
from pydantic import ConfigDict, Field

from trainc.apiserver.models.core import Condition, JobTemplateSpec, PersistentVolumeClaim
from trainc.apiserver.models.node import (
    ATOMIC,
    VALUE_IMMUTABLE,
    ApiObject,
    Column,
    Count,
    Int32,
    Names,
    Resource,
    list_map,
    minimum,
    optional,
    rule,
)

_ONE_ORDER = rule(
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder'"
    " && self.replicatedJobs.exists(x, has(x.dependsOn)))",
    "StartupPolicy and DependsOn APIs are mutually exclusive",
)
_NO_NAMESPACE = rule(
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)",
    "namespace cannot be set for VolumeClaimPolicies templates",
)


class DependsOn(ApiObject):
    """Another replicated job that has to get somewhere first."""

    name: str = Field(description="Name of a replicated job that stands earlier in the list.")
    status: Literal["Ready", "Complete"]
    """How far it has to be: all its pods ready, or all its jobs complete."""


class ReplicatedJob(ApiObject):
    """Equal Jobs under one name."""

    name: str
    """Name of this group of Jobs; a part of the name of every Job, pod and host that it makes."""
    template: JobTemplateSpec = Field(description="The batch/v1 Job that is made `replicas` times.")
    replicas: Annotated[Int32, minimum(0)] | None = optional("How many Jobs are made from the template.", default=1)
    group_name: str | None = optional(default="default")
    """Name of a set of replicated jobs that share group labels and a common job index."""
    depends_on: Annotated[list[DependsOn], MaxLen(5), list_map("name"), VALUE_IMMUTABLE] | None = None
    """Replicated jobs that must be ready or complete before the Jobs of this one are made."""


class Network(ApiObject):
    """How the pods of a JobSet find each other."""

    enable_dns_hostnames: bool | None = optional(alias="enableDNSHostnames")
    """Whether every pod gets a stable host name through a headless Service; the webhook writes true."""
    subdomain: str | None = None
    """Name of that Service and the domain below the namespace; the name of the JobSet when absent."""
    publish_not_ready_addresses: bool | None = None
    """Whether host names resolve before their pods are ready; the webhook writes true."""


class SuccessPolicy(ApiObject):
    """When a JobSet has succeeded."""

    operator: Literal["All", "Any"]
    """Whether all the targeted Jobs or any one of them must complete."""
    target_replicated_jobs: Annotated[list[str], ATOMIC] | None = None
    """Replicated jobs that count; all when empty."""


class FailureRule(ApiObject):
    """What to do about one sort of failed Job; the first rule that matches is taken."""

    name: str
    """Name of the rule, unique in the policy; the webhook writes `failurePolicyRule` and the index when absent."""
    action: Literal[
        "FailJobSet",
        "RestartJobSet",
        "RestartJobSetAndIgnoreMaxRestarts",
        "RestartJob",
        "RestartJobAndIgnoreMaxRestarts",
    ]
    """What happens; the two `RestartJob` actions need the feature gate RestartJob."""
    on_job_failure_reasons: list[str] | None = None
    """Reasons of the Job's Failed condition that match; any when empty."""
    on_job_failure_message_patterns: list[str] | None = None
    """RE2 patterns, one of which must be found in the message of the Failed condition; any message when empty."""
    target_replicated_jobs: Annotated[list[str], ATOMIC] | None = None
    """Replicated jobs whose Jobs match; all when empty."""


class FailurePolicy(ApiObject):
    """What happens when a Job fails; without it the first failure fails the JobSet."""

    max_restarts: Int32 | None = optional("How many times the JobSet may start again; 0 when absent.")
    restart_strategy: Literal["Recreate", "BlockingRecreate", "InPlaceRestart"] | None = optional(default="Recreate")
    """How it starts again: all Jobs made anew, made anew once the old pods are gone, or containers in place."""
    rules: list[FailureRule] | None = None
    """Rules in the order in which they are tried; a failure that none matches restarts the JobSet."""


class StartupPolicy(ApiObject):
    """The order in which replicated jobs start; `dependsOn` is its successor."""

    startup_policy_order: Literal["AnyOrder", "InOrder"]
    """Whether each replicated job waits for the one before it to be ready."""


class Coordinator(ApiObject):
    """The pod whose host name is written on every Job and pod as an annotation."""

    replicated_job: str = Field(description="Replicated job that holds the pod.")
    job_index: int | None = optional("Index of the Job in the replicated job; 0 when absent.")
    pod_index: int | None = optional("Completion index of the pod in the Job; 0 when absent.")


class RetentionPolicy(ApiObject):
    """What becomes of the claims afterwards."""

    when_deleted: Literal["Delete", "Retain"] | None = optional(default="Delete")
    """Whether the claims are deleted or kept when the JobSet is deleted."""


class VolumeClaimPolicy(ApiObject):
    """Claims that the JobSet makes for its own pods."""

    model_config = ConfigDict(json_schema_extra=_NO_NAMESPACE.keywords)

    templates: Annotated[list[PersistentVolumeClaim], MaxLen(50), ATOMIC] | None = None
    """Claims to make; a pod mounts one under its name."""
    retention_policy: RetentionPolicy | None = optional("What becomes of the claims when the JobSet is deleted.")


class JobSetSpec(ApiObject):
    """Which Jobs run together, how they find each other and when they are done."""

    model_config = ConfigDict(json_schema_extra=_ONE_ORDER.keywords)

    replicated_jobs: Annotated[list[ReplicatedJob], list_map("name")] | None = None
    """The groups of equal Jobs that make up this JobSet."""
    network: Annotated[Network, VALUE_IMMUTABLE] | None = optional("Host names of the pods.")
    success_policy: Annotated[SuccessPolicy, VALUE_IMMUTABLE] | None = None
    """When the JobSet has succeeded; when all Jobs are complete if absent."""
    failure_policy: Annotated[FailurePolicy, VALUE_IMMUTABLE] | None = optional("What happens when a Job fails.")
    startup_policy: Annotated[StartupPolicy, VALUE_IMMUTABLE] | None = None
    """Order of start; prefer `dependsOn` on the replicated jobs."""
    suspend: bool | None = optional("Whether no pod may run for now; queues such as Kueue own this field.")
    coordinator: Coordinator | None = optional("Pod whose host name every pod can read from an annotation.")
    managed_by: str | None = optional("Controller that looks after this JobSet; the JobSet controller when absent.")
    ttl_seconds_after_finished: Count | None = None
    """How long after its end the JobSet is deleted; never when absent."""
    volume_claim_policies: Annotated[list[VolumeClaimPolicy], MaxLen(50), ATOMIC, VALUE_IMMUTABLE] | None = None
    """Claims that are made with the JobSet."""


class ReplicatedJobStatus(ApiObject):
    """How the Jobs of one replicated job are doing."""

    name: str = Field(description="Name of the replicated job.")
    ready: Int32 = Field(description="Jobs of which enough pods are ready or done.")
    succeeded: Int32 = Field(description="Jobs that have completed.")
    failed: Int32 = Field(description="Jobs that have failed.")
    active: Int32 = Field(description="Jobs with pods that run or wait.")
    suspended: Int32 = Field(description="Jobs that are suspended.")
    job_restarts: Annotated[list[Int32], MaxLen(1024), ATOMIC] | None = None
    """For each Job, how often it was started again on its own."""
    job_restarts_count_towards_max: Annotated[list[Int32], MaxLen(1024), ATOMIC] | None = None
    """For each Job, how many of those restarts count towards `maxRestarts`."""


class JobSetStatus(ApiObject):
    """What the JobSet controller has seen; never written by people."""

    conditions: Annotated[list[Condition], list_map("type")] | None = None
    """Completed, Failed, Suspended and the progress of the start."""
    restarts: Int32 | None = optional("How often the whole JobSet has started again.")
    restarts_count_towards_max: Int32 | None = optional("How many of these restarts count towards `maxRestarts`.")
    replicated_jobs_status: Annotated[list[ReplicatedJobStatus], list_map("name")] | None = None
    """Progress of each replicated job."""
    terminal_state: str | None = optional("Completed or Failed once it is over.")
    current_in_place_restart_attempt: Count | None = None
    """Restart that the agents in the pods are to be at, with in-place restarts."""
    previous_in_place_restart_attempt: Count | None = None
    """Restart that the agents in the pods have to leave, with in-place restarts."""


class JobSet(Resource):
    """Jobs that run together as one piece of work."""

    NAMES = Names(
        "jobset.x-k8s.io",
        "v1alpha2",
        "JobSet",
        "jobsets",
        status=True,
        columns=(
            Column("TerminalState", ".status.terminalState"),
            Column("Restarts", ".status.restarts"),
            Column("Completed", '.status.conditions[?(@.type=="Completed")].status'),
            Column("Suspended", ".spec.suspend"),
            Column("Age", ".metadata.creationTimestamp", "date"),
        ),
    )

    spec: JobSetSpec | None = optional("What is to run.")
    status: JobSetStatus | None = optional("What has been seen to run.")
