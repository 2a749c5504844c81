"""MiniCluster of the Flux Operator (flux-framework.org/v1alpha2, 0.2.1)."""

from typing import Annotated

from pydantic import Field

from trainc.apiserver.models.core import PodSecurityContext, ResourceRequirements, SecurityContext
from trainc.apiserver.models.node import ATOMIC, ApiObject, Int32, Int64, Names, Quantity, Resource, StringMap, optional


class ClusterVolume(ApiObject):
    """A volume of a container; what it is made of follows from the field that is set."""

    path: str | None = optional("Where it is mounted.")
    host_path: str | None = optional("Folder of the node.")
    config_map_name: str | None = optional("ConfigMap that it shows.")
    items: StringMap | None = optional("Keys of the ConfigMap, each with its path.")
    claim_name: str | None = optional("PersistentVolumeClaim that exists.")
    secret_name: str | None = optional("Secret that exists.")
    read_only: bool | None = optional("Whether nothing can be written to it.", default=False)
    empty_dir: bool | None = optional("Whether it is an empty folder of the pod, mounted at /dev/shm.", default=False)
    empty_dir_medium: str | None = optional("`memory` for a folder in memory.")
    empty_dir_size_limit: str | None = optional("Most that the folder holds.")
    csi_driver: str | None = optional("Driver of a CSI volume.")
    csi_driver_attributes: StringMap | None = optional("Attributes for that driver.")


class SecretVariable(ApiObject):
    """A variable that holds a key of a Secret."""

    name: str = Field(description="The Secret.")
    key: str = Field(description="The key.")


class ClusterLifeCycle(ApiObject):
    """Commands at the start and before the end of a container."""

    post_start_exec: str | None = optional("Runs right after the start.")
    pre_stop_exec: str | None = optional("Runs before the container is stopped.")


class ClusterCommands(ApiObject):
    """Pieces of shell around the command."""

    prefix: str | None = optional("Stands before the submission.")
    script: str | None = optional("Runs instead of `command`.")
    init: str | None = optional("Runs before anything else.")
    pre: str | None = optional("Runs when Flux is there.")
    post: str | None = optional("Runs when the broker has ended.")
    worker_pre: str | None = optional("Runs before the broker of all pods but the first.")
    broker_pre: str | None = optional("Runs before the broker of the first pod.")
    service_pre: str | None = optional("Runs before a service.")


class ClusterContainer(ApiObject):
    """A container of every pod; one of them runs Flux."""

    image_pull_secret: str | None = optional("Secret for the registry.")
    image: str | None = optional("Image with the program.", default="ghcr.io/rse-ops/accounting:app-latest")
    working_dir: str | None = optional("Folder in which the command runs.")
    name: str | None = optional("Name; the container that runs Flux is named like the cluster.")
    command: str | None = optional("What is submitted, its words separated by blanks; for a batch a job on each line.")
    pull_always: bool | None = optional("Whether the image is pulled at each start.", default=False)
    image_pull_policy: str | None = optional("When the image is pulled; IfNotPresent when absent.")
    ports: Annotated[list[Int32], ATOMIC] | None = optional("Ports that it listens on.")
    environment: StringMap | None = optional("Variables.")
    secrets: dict[str, SecretVariable] | None = optional("Variables from Secrets.")
    launcher: bool | None = optional("Whether the command submits its jobs itself.")
    batch: bool | None = optional("Whether each line of the command is a job.")
    batch_raw: bool | None = optional("Whether the lines of a batch are run as they are, without `flux submit`.")
    logs: str | None = optional("Folder for the output of a batch.")
    run_flux: bool | None = optional("Whether Flux runs in this container; true where there is one container.")
    no_wrap_entrypoint: bool | None = optional("Whether the container does not wait for Flux.")
    volumes: dict[str, ClusterVolume] | None = optional("Volumes by name.")
    life_cycle: ClusterLifeCycle | None = optional("Commands at its start and its end.")
    resources: ResourceRequirements | None = optional("What it asks for.")
    commands: ClusterCommands | None = optional("Pieces of shell around the command.")
    security_context: SecurityContext | None = optional("Privileges of the container.")


class FluxView(ApiObject):
    """The image that brings Flux."""

    disable: bool | None = optional("Whether the program's own image has Flux.", default=False)
    name: str | None = optional("Name of the init container.", default="flux-view")
    working_dir: str | None = optional("Folder in which it runs.")
    python_path: str | None = optional("Python modules of Flux.")
    resources: ResourceRequirements | None = optional("What it asks for.")
    image_pull_secret: str | None = optional("Secret for the registry.")
    image: str | None = optional("Image with Flux.", default="ghcr.io/converged-computing/flux-view-ubuntu:tag-noble")
    pull_always: bool | None = optional("Whether the image is pulled at each start.", default=False)
    security_context: SecurityContext | None = optional("Privileges of the init container.")
    mount_path: str | None = optional("Where all containers find Flux.", default="/mnt/flux")


class FluxScheduler(ApiObject):
    """Flux's own scheduler."""

    simple: bool | None = optional("Whether Flux's simple scheduler is used instead of Fluxion.")
    queue_policy: str | None = optional("Order of Flux's queue: fcfs when absent.")


class LeadBroker(ApiObject):
    """The first broker of another cluster."""

    address: str = Field(description="Its address.")
    name: str = Field(description="Its cluster.")
    size: Int32 = Field(description="How many pods that has.")
    port: Int32 | None = optional("Its port.", default=8050)


class BurstedCluster(ApiObject):
    """A cluster that takes over jobs."""

    name: str | None = optional("Its name.")
    size: Int32 | None = optional("How many pods it has.")


class Bursting(ApiObject):
    """Jobs that run in other clusters; trainc compiles none."""

    lead_broker: LeadBroker | None = optional("The cluster that this one helps.")
    hostlist: str | None = optional("Hosts of all clusters.")
    clusters: Annotated[list[BurstedCluster], ATOMIC] | None = optional("Clusters that help this one.")


class FluxOptions(ApiObject):
    """How Flux runs."""

    container: FluxView | None = optional("The image that brings Flux.")
    arch: str | None = optional("Architecture of the nodes.")
    submit_command: str | None = optional("Used instead of `flux submit`.")
    wrap: str | None = optional("Program around the broker.")
    connect_timeout: str | None = optional("How long brokers wait for each other.", default="5s")
    option_flags: str | None = optional("Flags of the submission.")
    minimal_service: bool | None = optional("Whether only the first pod has a DNS name; here all have.")
    disable_socket: bool | None = optional("Whether there is no local socket.")
    topology: str | None = optional("Shape of the tree of brokers.")
    no_wait_socket: bool | None = optional("Whether to start without waiting for the socket.")
    complete_workers: bool | None = optional("Whether a pod ends with its broker, whatever the status.")
    log_level: Int32 | None = optional("How much the brokers say.", default=6)
    curve_cert: str | None = optional("A certificate in clear; trainc refuses it.")
    scheduler: FluxScheduler | None = optional("Flux's own scheduler.")
    munge_secret: str | None = optional("Key for bursting.")
    bursting: Bursting | None = optional("Jobs that run in other clusters.")
    broker_config: str | None = optional("The whole configuration of the brokers.")
    environment: StringMap | None = optional("Variables of Flux.")


class ClusterLogging(ApiObject):
    """What the containers print."""

    quiet: bool | None = optional("The program's output alone.", default=False)
    strict: bool | None = optional("Any command that fails ends the script.", default=False)
    debug: bool | None = optional("More of Flux's own output.", default=False)
    zeromq: bool | None = optional("What the sockets do.", default=False)
    timed: bool | None = optional("How long each part takes.", default=False)


class ClusterNetwork(ApiObject):
    """The headless Service."""

    headless_name: str | None = optional("Its name; the cluster's when absent.")
    disable_affinity: bool | None = optional("Whether pods need not prefer nodes of their own.")


class ClusterArchive(ApiObject):
    """State of an earlier cluster."""

    path: str | None = optional("File that is loaded at the start, where it is there.")


class ClusterToleration(ApiObject):
    """A taint that the pods tolerate."""

    key: str | None = optional("Key of the taint.")
    effect: str | None = optional("Effect of the taint.")
    operator: str | None = optional("Equal or Exists.")
    value: str | None = optional("Value of the taint.")


class ClusterPod(ApiObject):
    """What all pods have in common."""

    annotations: StringMap | None = optional("Annotations of each pod.")
    labels: StringMap | None = optional("Labels of each pod.")
    restart_policy: str | None = optional("OnFailure when absent.")
    service_account_name: str | None = optional("Account of the pods.")
    runtime_class_name: str | None = optional("Runtime of the containers.")
    automount_service_account_token: bool | None = optional("Whether a token is mounted; false when absent.")
    scheduler_name: str | None = optional("Who places the pods.")
    node_selector: StringMap | None = optional("Labels that a node must have.")
    node_affinity: dict[str, list[str]] | None = None
    """Labels that a node must have, each with the values that will do."""
    tolerations: list[ClusterToleration] | None = optional("Taints that the pods tolerate.")
    dns_policy: str | None = optional("How names are resolved.")
    host_ipc: bool | None = optional("Whether pods share the IPC namespace of their nodes.", alias="hostIPC")
    host_pid: bool | None = optional("Whether pods share the process namespace of their nodes.", alias="hostPID")
    resources: dict[str, Quantity] | None = optional("Overhead of each pod.")
    security_context: PodSecurityContext | None = None
    """Group of the files, `fsGroup`; the operator reads nothing else of it."""


class MiniClusterSpec(ApiObject):
    """Pods whose brokers form one Flux instance, and what runs in it."""

    containers: Annotated[list[ClusterContainer], ATOMIC]
    """Containers of every pod; one of them runs Flux."""
    services: Annotated[list[ClusterContainer], ATOMIC] | None = None
    """Containers of a pod of their own beside the cluster."""
    network: ClusterNetwork | None = optional("The headless Service.")
    job_labels: StringMap | None = optional("Labels of the Job.")
    interactive: bool | None = optional("Whether the cluster waits for people.", default=False)
    flux: FluxOptions | None = optional("How Flux runs.")
    logging: ClusterLogging | None = optional("What the containers print.")
    archive: ClusterArchive | None = optional("State of an earlier cluster.")
    share_process_namespace: bool | None = optional("Whether the containers of a pod see each other's processes.")
    cleanup: bool | None = optional("Whether the operator deletes everything at the end.", default=False)
    size: Int32 | None = optional("How many pods.", default=1)
    max_size: Int32 | None = optional("Most pods; a cluster that grows is not compiled.")
    min_size: Int32 | None = optional("Fewest pods; a cluster that starts with some of them is not compiled.")
    backoff_limit: Int32 | None = optional("How often pods are started again; 100 when absent.")
    tasks: Int32 | None = optional("How many tasks of the command run over all pods.", default=1)
    deadline_seconds: Int64 | None = optional("How long the job may run.", default=31500000)
    pod: ClusterPod | None = optional("What all pods have in common.")


class MiniCluster(Resource):
    """An HPC cluster with Flux for one program; TrainJob with a `flux` runtime is its nearest relative."""

    NAMES = Names("flux-framework.org", "v1alpha2", "MiniCluster", "miniclusters", status=True)

    spec: MiniClusterSpec | None = optional("What is to run.")
    status: dict[str, object] | None = optional("What the operator has seen; never written by people.")
