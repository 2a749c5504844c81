"""TrainingRuntime and ClusterTrainingRuntime, the blueprints of training jobs (trainer.kubeflow.org/v1alpha1, v2.3.0)."""

from typing import Annotated, Literal

from annotated_types import MaxLen, MinLen
from pydantic import ConfigDict, Field

from trainc.apiserver.models.jobset import JobSetSpec
from trainc.apiserver.models.node import (
    NOT_EMPTY,
    SET,
    ApiObject,
    Int32,
    Keywords,
    Name,
    Names,
    Resource,
    TemplateMeta,
    list_map,
    optional,
    rule,
)

_ONE_POLICY = rule(
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)].filter(x, x).size() <= 1",
    "Only one of the policy can be configured",
)
_NOT_NODE = rule(
    "!self.exists(c, c == 'node')",
    "containerNames must not include the main node container because PET_* envs are always injected into it",
)
_WITHOUT_REPLICAS_BOUND = Keywords({"x-without": ["replicatedJobs", "[]", "replicas", "minimum"]})
"""Trainer 2.3.0 embeds JobSet 0.12, which has no lower bound on replicas yet."""


class EnvInjectionTarget(ApiObject):
    """Containers that read the variables of torchrun beside the container `node`."""

    job_name: Name = Field(description="Replicated job that the containers are in.")
    container_names: Annotated[list[Annotated[str, MaxLen(63)]], MinLen(1), MaxLen(8), SET, _NOT_NODE]
    """Names of the containers or init containers; `node` gets the variables anyway."""


class EnvInjection(ApiObject):
    """Which further containers get the PET_* variables."""

    targets: Annotated[list[EnvInjectionTarget], MaxLen(16), list_map("jobName")] | None = None
    """Containers by replicated job."""


class TorchPolicy(ApiObject):
    """PyTorch: torchrun reads PET_* variables."""

    env_injection: EnvInjection | None = optional("Containers beside `node` that get the PET_* variables too.")


class MPIPolicy(ApiObject):
    """MPI: a launcher starts processes on the nodes over SSH."""

    num_proc_per_node: Int32 | None = optional(default=1)
    """Processes on each node, the slots in the host file; 1 lets the number of GPUs decide."""
    mpi_implementation: Literal["OpenMPI", ""] | None = optional(default="OpenMPI")
    """Which MPI the image holds; an empty string is accepted here and cannot be built."""
    ssh_auth_mount_path: Annotated[str, MaxLen(4096)] | None = optional(default="/root/.ssh")
    """Where the SSH keys are mounted in every container that takes part."""
    run_launcher_as_node: bool | None = optional(default=False)
    """Whether the launcher trains as well and counts as a node."""


class JAXPolicy(ApiObject):
    """JAX: processes meet at a coordinator named by JAX_* variables."""


class XGBoostPolicy(ApiObject):
    """XGBoost: workers meet at a tracker named by DMLC_* variables."""


class FluxPolicy(ApiObject):
    """Flux: a Flux instance spans the nodes and starts the processes."""

    num_proc_per_node: Annotated[Int32, rule("self >= 1", "NumProcPerNode in fluxPolicy must be >= 1")] | None = (
        optional(default=1)
    )
    """Processes on each node."""


class MLPolicy(ApiObject):
    """How many nodes train and how their processes meet; at most one framework."""

    model_config = ConfigDict(json_schema_extra=_ONE_POLICY.keywords)

    num_nodes: Int32 | None = optional("Nodes that train unless the job says otherwise; 1 when absent.")
    torch: TorchPolicy | None = optional("PyTorch with torchrun.")
    mpi: MPIPolicy | None = optional("MPI with a launcher.")
    jax: JAXPolicy | None = optional("JAX with a coordinator.")
    xgboost: XGBoostPolicy | None = optional("XGBoost with a tracker.")
    flux: FluxPolicy | None = optional("Flux as the launcher.")


class CoschedulingPolicy(ApiObject):
    """Gang scheduling by the coscheduling plugin."""

    schedule_timeout_seconds: Int32 | None = optional(default=60)
    """How long a pod that has found its place waits for the others."""


class VolcanoPolicyTopology(ApiObject):
    """How far apart in the network the pods may end up."""

    mode: Literal["hard", "soft"] | None = optional("Whether the limit must hold or is only preferred.", default="hard")
    highest_tier_allowed: int | None = optional("Highest tier of HyperNodes that the pods may span.", default=1)


class VolcanoPolicy(ApiObject):
    """Gang scheduling by Volcano; the queue is an annotation of the template."""

    network_topology: VolcanoPolicyTopology | None = optional("How far apart the pods may end up.")


class PodGroupPolicy(ApiObject):
    """Who places the pods together; without it each pod is placed alone."""

    coscheduling: CoschedulingPolicy | None = optional("The coscheduling plugin of scheduler-plugins.")
    volcano: VolcanoPolicy | None = optional("The Volcano scheduler.")


class JobSetTemplate(ApiObject):
    """The JobSet that a job starts from."""

    metadata: TemplateMeta | None = None
    """Labels and annotations of the JobSet; its name and namespace are those of the job."""
    spec: Annotated[JobSetSpec, _WITHOUT_REPLICAS_BOUND] | None = None
    """The JobSet itself, in which the replicated job that trains is labelled as `trainer`."""


class TrainingRuntimeSpec(ApiObject):
    """What jobs of one sort have in common."""

    ml_policy: MLPolicy | None = optional("How many nodes train and how their processes meet.")
    pod_group_policy: PodGroupPolicy | None = optional("Who places the pods together.")
    template: Annotated[JobSetTemplate, NOT_EMPTY] | None = optional("The JobSet that a job starts from.")


class TrainingRuntime(Resource):
    """A blueprint for the training jobs of one namespace."""

    NAMES = Names("trainer.kubeflow.org", "v1alpha1", "TrainingRuntime", "trainingruntimes")

    spec: Annotated[TrainingRuntimeSpec, NOT_EMPTY] | None = optional("What the jobs have in common.")


class ClusterTrainingRuntime(Resource):
    """A blueprint for the training jobs of every namespace."""

    NAMES = Names(
        "trainer.kubeflow.org", "v1alpha1", "ClusterTrainingRuntime", "clustertrainingruntimes", namespaced=False
    )

    spec: Annotated[TrainingRuntimeSpec, NOT_EMPTY] | None = optional("What the jobs have in common.")
