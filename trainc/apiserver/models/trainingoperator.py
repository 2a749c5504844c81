"""The kinds of the training operators, and what they have in common.

kubeflow.org/v1 of the training operator v1.9.0 (an XGBoostJob is for LightGBM too), MPIJob kubeflow.org/v2beta1 of the
mpi-operator v0.8.2, and TfJob of the first TensorFlow operator (mlkube.io/v1beta1) in the camel case of August 2017 and
later.
"""

from typing import Annotated, Literal

from pydantic import Field

from trainc.apiserver.models.core import Condition, LabelSelector, PodTemplateSpec, Volume, VolumeMount
from trainc.apiserver.models.node import (
    STATE_AND_AGE,
    ApiObject,
    Int32,
    Int64,
    Names,
    Quantity,
    Resource,
    Time,
    optional,
    rule,
)

_FIXED_QUEUE = rule("self == oldSelf", "spec.runPolicy.schedulingPolicy.queue is immutable")


class SchedulingPolicy(ApiObject):
    """How the pods of a job are placed together, where the operator was started with a gang scheduler."""

    min_available: Int32 | None = optional("How many pods must find a place together; all when absent.")
    queue: Annotated[str, _FIXED_QUEUE] | None = optional("Queue of Volcano that the job waits in.")
    min_resources: dict[str, Quantity] | None = None
    """What must be free before the job starts; summed up over the pods when absent."""
    priority_class: str | None = optional("Priority class of the gang (Volcano).")
    schedule_timeout_seconds: Int32 | None = optional("How long the gang may wait for places (scheduler-plugins).")


class RunPolicy(ApiObject):
    """When a job ends, what is cleaned up, and whether it may run now."""

    clean_pod_policy: str | None = None
    """Pods that are deleted when the job is finished: None, Running or All; None when absent."""
    ttl_seconds_after_finished: Int32 | None = optional("How long after its end the job is deleted; never when absent.")
    active_deadline_seconds: Int64 | None = optional("How long the job may run before it fails.")
    backoff_limit: Int32 | None = None
    """How many restarts of containers are allowed over all roles; no limit when absent."""
    scheduling_policy: SchedulingPolicy | None = optional("How the pods are placed together.")
    suspend: bool | None = optional("Whether the job has to wait without pods.")
    managed_by: str | None = None
    """Who looks after the job: the operator itself when absent, or kueue.x-k8s.io/multikueue."""


class ReplicaSpec(ApiObject):
    """One role of a job: equal pods that differ in their index."""

    replicas: Int32 | None = optional("How many pods; 1 when absent, for the workers of an MPIJob none.")
    template: PodTemplateSpec | None = optional("The pod; the operator overwrites its restart policy.")
    restart_policy: str | None = None
    """What happens to a pod that ended: Always, OnFailure, Never or ExitCode (codes from 128 on are retried)."""


class ReplicaStatus(ApiObject):
    """How the pods of one role are doing."""

    active: Int32 | None = optional("Pods that run.")
    succeeded: Int32 | None = optional("Pods that have succeeded.")
    failed: Int32 | None = optional("Pods that have failed.")
    label_selector: LabelSelector | None = optional("Old way to select these pods; use `selector`.")
    selector: str | None = optional("Labels that select these pods, as text.")


class LegacyJobStatus(ApiObject):
    """What the operator has seen; never written by people."""

    conditions: list[Condition] | None = optional("Created, Running, Restarting, Suspended, Succeeded and Failed.")
    replica_statuses: dict[str, ReplicaStatus] | None = optional("Progress of each role.")
    start_time: Time | None = optional("When the operator took the job up.")
    completion_time: Time | None = optional("When the job was over.")
    last_reconcile_time: Time | None = optional("When the operator looked last.")


class OperatorJobSpec(ApiObject):
    """What is to run, whatever the framework."""

    run_policy: RunPolicy | None = optional("When the job ends and what is cleaned up.")


class OperatorJob(Resource):
    """A job of one of the operators, whatever the framework."""

    status: LegacyJobStatus | None = optional("What has been seen to run.")


class ElasticRange(ApiObject):
    """Between how many and how many workers a job may run."""

    min_replicas: Int32 | None = optional("Fewest workers; `maxReplicas` or the number of workers when absent.")
    max_replicas: Int32 | None = optional("Most workers; `minReplicas` or the number of workers when absent.")
    max_restarts: Int32 | None = optional("How often the launcher in each pod starts its processes again.")
    metrics: list[dict[str, object]] | None = None
    """Metrics from which the operator made a HorizontalPodAutoscaler; a JobSet cannot be scaled."""


class RendezvousSetting(ApiObject):
    """One setting of the rendezvous backend."""

    key: str | None = optional("Name of the setting.")
    value: str | None = optional("Its value.")


class TorchElasticPolicy(ElasticRange):
    """How torchrun's agents find each other and how many there may be."""

    rdzv_backend: str | None = optional("Backend of the rendezvous; c10d when absent.")
    rdzv_port: Int32 | None = optional("Port of the rendezvous; that of the workers when absent.")
    rdzv_host: str | None = optional("Host of the rendezvous; worker 0 when absent.")
    rdzv_id: str | None = optional("Name of the rendezvous.")
    rdzv_conf: list[RendezvousSetting] | None = optional("Settings of the backend.")
    standalone: bool | None = optional("Whether each pod is a job of its own.")
    n_proc_per_node: Int32 | None = optional("Old way to say `spec.nprocPerNode`.")


class PyTorchJobSpec(OperatorJobSpec):
    """Processes that meet through MASTER_* or PET_* variables."""

    elastic_policy: TorchElasticPolicy | None = optional("Settings of torchrun for jobs that may lose workers.")
    pytorch_replica_specs: dict[str, ReplicaSpec]
    """The roles `Master` (at most one pod) and `Worker`; their main container is called `pytorch`."""
    nproc_per_node: str | None = None
    """Processes in each pod: auto, cpu, gpu or a number in quotes; auto when absent."""


class PyTorchJob(OperatorJob):
    """A PyTorch job of the training operator; TrainJob is its successor."""

    NAMES = Names("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs", status=True, columns=STATE_AND_AGE)

    spec: PyTorchJobSpec | None = optional("What is to run.")


class TFJobSpec(OperatorJobSpec):
    """Processes that know each other from TF_CONFIG."""

    success_policy: str | None = optional("Without a Chief: AllWorkers, or worker 0 decides when absent.")
    tf_replica_specs: dict[str, ReplicaSpec]
    """The roles `Chief` or `Master`, `Worker`, `PS`, `Evaluator`; their main container is called `tensorflow`."""
    enable_dynamic_worker: bool | None = None
    """Whether workers know only themselves, so that their number could change."""


class TFJob(OperatorJob):
    """A TensorFlow job of the training operator."""

    NAMES = Names("kubeflow.org", "v1", "TFJob", "tfjobs", status=True, columns=STATE_AND_AGE)

    spec: TFJobSpec | None = optional("What is to run.")


class JAXJobSpec(OperatorJobSpec):
    """Processes that call `jax.distributed.initialize` with what the operator tells them."""

    jax_replica_specs: dict[str, ReplicaSpec]
    """The role `Worker`; its main container is called `jax`."""


class JAXJob(OperatorJob):
    """A JAX job of the training operator; TrainJob is its successor."""

    NAMES = Names("kubeflow.org", "v1", "JAXJob", "jaxjobs", status=True, columns=STATE_AND_AGE)

    spec: JAXJobSpec | None = optional("What is to run.")


class PaddleJobSpec(OperatorJobSpec):
    """Processes that `paddle.distributed.launch` brings together."""

    elastic_policy: ElasticRange | None = optional("Never had an effect.")
    paddle_replica_specs: dict[str, ReplicaSpec]
    """The roles `Master` (parameter servers) and `Worker`; their main container is called `paddle`."""


class PaddleJob(OperatorJob):
    """A PaddlePaddle job of the training operator."""

    NAMES = Names("kubeflow.org", "v1", "PaddleJob", "paddlejobs", status=True, columns=STATE_AND_AGE)

    spec: PaddleJobSpec | None = optional("What is to run.")


class XGBoostJobSpec(OperatorJobSpec):
    """Processes that meet at their master, by rabit or as LightGBM's machines."""

    xgb_replica_specs: dict[str, ReplicaSpec]
    """The roles `Master` (one pod) and `Worker`; their main container is called `xgboost`."""


class XGBoostJob(OperatorJob):
    """An XGBoost or LightGBM job of the training operator; TrainJob is its successor."""

    NAMES = Names("kubeflow.org", "v1", "XGBoostJob", "xgboostjobs", status=True, columns=STATE_AND_AGE)

    spec: XGBoostJobSpec | None = optional("What is to run.")


class MPIJobSpec(OperatorJobSpec):
    """A launcher that starts its processes in the workers with `kubectl exec`."""

    slots_per_worker: Int32 | None = optional("Processes for each worker in the host file; 1 when absent.")
    clean_pod_policy: str | None = optional("Used where `runPolicy` says none.")
    mpi_replica_specs: dict[str, ReplicaSpec] = Field(description="The roles `Launcher` (one pod) and `Worker`.")
    main_container: str | None = None
    """Container of the workers in which the processes start; the first when absent."""


class MPIJob(OperatorJob):
    """An MPI job of the training operator; TrainJob is its successor."""

    NAMES = Names("kubeflow.org", "v1", "MPIJob", "mpijobs", status=True, columns=STATE_AND_AGE)

    spec: MPIJobSpec | None = optional("What is to run.")


class MPIJobV2Spec(OperatorJobSpec):
    """A launcher that starts its processes in the workers through ssh."""

    slots_per_worker: Int32 | None = optional("Processes for each worker in the host file.", default=1)
    run_launcher_as_worker: bool | None = optional("Whether the launcher is the first host too.", default=False)
    mpi_replica_specs: dict[str, ReplicaSpec] = Field(description="The roles `Launcher` (one pod) and `Worker`.")
    ssh_auth_mount_path: str | None = optional("Where the key is mounted; /root/.ssh when absent.")
    launcher_creation_policy: Literal["AtStartup", "WaitForWorkersReady"] | None = optional(default="AtStartup")
    """Whether the launcher waits until all workers are ready."""
    mpi_implementation: Literal["OpenMPI", "Intel", "MPICH"] | None = optional(default="OpenMPI")
    """The MPI in the image."""


class MPIJobV2(OperatorJob):
    """An MPI job of the mpi-operator; TrainJob is its successor."""

    NAMES = Names("kubeflow.org", "v2beta1", "MPIJob", "mpijobs", status=True, columns=STATE_AND_AGE)

    spec: MPIJobV2Spec | None = optional("What is to run.")


class ListedReplicaSpec(ApiObject):
    """One role of the job: equal pods that differ in their index."""

    replicas: Int32 | None = optional("How many pods; 1 when absent.")
    template: PodTemplateSpec | None = optional("The pod; parameter servers without one run TensorFlow's own server.")
    tf_port: Int32 | None = optional("Port that the process listens on; 2222 when absent.")
    tf_replica_type: Literal["MASTER", "PS", "WORKER"] | None = optional("Role; MASTER when absent.")
    is_default_ps: bool | None = optional(alias="IsDefaultPS")
    """Whether the operator filled the template in; written by the operator."""


class TensorBoard(ApiObject):
    """A TensorBoard that the operator ran beside the job; trainc leaves it out."""

    log_dir: str | None = optional("Folder of the logs.")
    volumes: list[Volume] | None = optional("Volumes of its pod.")
    volume_mounts: list[VolumeMount] | None = optional("Where they are mounted.")
    service_type: str | None = optional("Type of its Service; ClusterIP when absent.")


class Chief(ApiObject):
    """The replica whose success or failure is the job's."""

    replica_name: str | None = optional("Its role; MASTER when absent.")
    replica_index: int | None = optional("Its index; 0 when absent.")


class TerminationPolicy(ApiObject):
    """What ends the job."""

    chief: Chief | None = optional("The replica that decides.")


class TfJobSpec(ApiObject):
    """Processes that know each other from TF_CONFIG."""

    runtime_id: str | None = optional(alias="RuntimeId")
    """Part of the names of what the operator made; derived from the job's name when absent."""
    tensorboard: TensorBoard | None = optional("A TensorBoard beside the job.")
    replica_specs: list[ListedReplicaSpec] | None = optional("The roles; each type once.")
    tf_image: str | None = None
    """Image of parameter servers without a template; tensorflow/tensorflow:1.3.0 when absent."""
    termination_policy: TerminationPolicy | None = optional("What ends the job; its MASTER when absent.")


class TfJob(Resource):
    """The first TensorFlow job on Kubernetes."""

    NAMES = Names("mlkube.io", "v1beta1", "TfJob", "tfjobs")

    spec: TfJobSpec | None = optional("What is to run.")
