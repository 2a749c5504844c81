"""MiniCluster of the Flux Operator (flux-framework.org/v1alpha2, 0.2.1)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from trainc.apiserver.models.core import PodSecurityContext, ResourceRequirements, SecurityContext
from trainc.apiserver.models.node import ATOMIC, ApiObject, Int32, Int64, Names, Quantity, Resource, StringMap, default


class ClusterVolume(ApiObject):
    """A volume of a container; what it is made of follows from the field that is set."""

    path: str | None = None
    """Where it is mounted."""
    host_path: str | None = None
    """Folder of the node."""
    config_map_name: str | None = None
    """ConfigMap that it shows."""
    items: StringMap | None = None
    """Keys of the ConfigMap, each with its path."""
    claim_name: str | None = None
    """PersistentVolumeClaim that exists."""
    secret_name: str | None = None
    """Secret that exists."""
    read_only: Annotated[bool, default(False)] | None = None
    """Whether nothing can be written to it."""
    empty_dir: Annotated[bool, default(False)] | None = None
    """Whether it is an empty folder of the pod, mounted at /dev/shm."""
    empty_dir_medium: str | None = None
    """`memory` for a folder in memory."""
    empty_dir_size_limit: str | None = None
    """Most that the folder holds."""
    csi_driver: Annotated[str | None, Field(alias="csiDriver")] = None
    """Driver of a CSI volume."""
    csi_driver_attributes: Annotated[StringMap | None, Field(alias="csiDriverAttributes")] = None
    """Attributes for that driver."""


class SecretVariable(ApiObject):
    """A variable that holds a key of a Secret."""

    name: str
    """The Secret."""
    key: str
    """The key."""


class ClusterLifeCycle(ApiObject):
    """Commands at the start and before the end of a container."""

    post_start_exec: str | None = None
    """Runs right after the start."""
    pre_stop_exec: str | None = None
    """Runs before the container is stopped."""


class ClusterCommands(ApiObject):
    """Pieces of shell around the command."""

    prefix: str | None = None
    """Stands before the submission."""
    script: str | None = None
    """Runs instead of `command`."""
    init: str | None = None
    """Runs before anything else."""
    pre: str | None = None
    """Runs when Flux is there."""
    post: str | None = None
    """Runs when the broker has ended."""
    worker_pre: str | None = None
    """Runs before the broker of all pods but the first."""
    broker_pre: str | None = None
    """Runs before the broker of the first pod."""
    service_pre: str | None = None
    """Runs before a service."""


class ClusterContainer(ApiObject):
    """A container of every pod; one of them runs Flux."""

    image_pull_secret: str | None = None
    """Secret for the registry."""
    image: Annotated[str, default("ghcr.io/rse-ops/accounting:app-latest")] | None = None
    """Image with the program."""
    working_dir: str | None = None
    """Folder in which the command runs."""
    name: str | None = None
    """Name; the container that runs Flux is named like the cluster."""
    command: str | None = None
    """What is submitted, its words separated by blanks; for a batch a job on each line."""
    pull_always: Annotated[bool, default(False)] | None = None
    """Whether the image is pulled at each start."""
    image_pull_policy: str | None = None
    """When the image is pulled; IfNotPresent when absent."""
    ports: Annotated[list[Int32], ATOMIC] | None = None
    """Ports that it listens on."""
    environment: StringMap | None = None
    """Variables."""
    secrets: dict[str, SecretVariable] | None = None
    """Variables from Secrets."""
    launcher: bool | None = None
    """Whether the command submits its jobs itself."""
    batch: bool | None = None
    """Whether each line of the command is a job."""
    batch_raw: bool | None = None
    """Whether the lines of a batch are run as they are, without `flux submit`."""
    logs: str | None = None
    """Folder for the output of a batch."""
    run_flux: bool | None = None
    """Whether Flux runs in this container; true where there is one container."""
    no_wrap_entrypoint: bool | None = None
    """Whether the container does not wait for Flux."""
    volumes: dict[str, ClusterVolume] | None = None
    """Volumes by name."""
    life_cycle: ClusterLifeCycle | None = None
    """Commands at its start and its end."""
    resources: ResourceRequirements | None = None
    """What it asks for."""
    commands: ClusterCommands | None = None
    """Pieces of shell around the command."""
    security_context: SecurityContext | None = None
    """Privileges of the container."""


class FluxView(ApiObject):
    """The image that brings Flux."""

    disable: Annotated[bool, default(False)] | None = None
    """Whether the program's own image has Flux."""
    name: Annotated[str, default("flux-view")] | None = None
    """Name of the init container."""
    working_dir: str | None = None
    """Folder in which it runs."""
    python_path: str | None = None
    """Python modules of Flux."""
    resources: ResourceRequirements | None = None
    """What it asks for."""
    image_pull_secret: str | None = None
    """Secret for the registry."""
    image: Annotated[str, default("ghcr.io/converged-computing/flux-view-ubuntu:tag-noble")] | None = None
    """Image with Flux."""
    pull_always: Annotated[bool, default(False)] | None = None
    """Whether the image is pulled at each start."""
    security_context: SecurityContext | None = None
    """Privileges of the init container."""
    mount_path: Annotated[str, default("/mnt/flux")] | None = None
    """Where Flux lies in all containers."""


class FluxScheduler(ApiObject):
    """Flux's own scheduler."""

    simple: bool | None = None
    """Whether Flux's simple scheduler is used instead of Fluxion."""
    queue_policy: str | None = None
    """Order of Flux's queue: fcfs when absent."""


class LeadBroker(ApiObject):
    """The first broker of another cluster."""

    address: str
    """Its address."""
    name: str
    """Its cluster."""
    size: Int32
    """How many pods that has."""
    port: Annotated[Int32, default(8050)] | None = None
    """Its port."""


class BurstedCluster(ApiObject):
    """A cluster that takes over jobs."""

    name: str | None = None
    """Its name."""
    size: Int32 | None = None
    """How many pods it has."""


class Bursting(ApiObject):
    """Jobs that run in other clusters; trainc compiles none."""

    lead_broker: LeadBroker | None = None
    """The cluster that this one helps."""
    hostlist: str | None = None
    """Hosts of all clusters."""
    clusters: Annotated[list[BurstedCluster], ATOMIC] | None = None
    """Clusters that help this one."""


class FluxOptions(ApiObject):
    """How Flux runs."""

    container: FluxView | None = None
    """The image that brings Flux."""
    arch: str | None = None
    """Architecture of the nodes."""
    submit_command: str | None = None
    """Used instead of `flux submit`."""
    wrap: str | None = None
    """Program around the broker."""
    connect_timeout: Annotated[str, default("5s")] | None = None
    """How long brokers wait for each other."""
    option_flags: str | None = None
    """Flags of the submission."""
    minimal_service: bool | None = None
    """Whether only the first pod has a DNS name; here all have."""
    disable_socket: bool | None = None
    """Whether there is no local socket."""
    topology: str | None = None
    """Shape of the tree of brokers."""
    no_wait_socket: bool | None = None
    """Whether nobody waits for the socket."""
    complete_workers: bool | None = None
    """Whether a pod ends with its broker, whatever the status."""
    log_level: Annotated[Int32, default(6)] | None = None
    """How much the brokers say."""
    curve_cert: str | None = None
    """A certificate in clear; trainc refuses it."""
    scheduler: FluxScheduler | None = None
    """Flux's own scheduler."""
    munge_secret: str | None = None
    """Key for bursting."""
    bursting: Bursting | None = None
    """Jobs that run in other clusters."""
    broker_config: str | None = None
    """The whole configuration of the brokers."""
    environment: StringMap | None = None
    """Variables of Flux."""


class ClusterLogging(ApiObject):
    """What the containers print."""

    quiet: Annotated[bool, default(False)] | None = None
    """The program's output alone."""
    strict: Annotated[bool, default(False)] | None = None
    """Any command that fails ends the script."""
    debug: Annotated[bool, default(False)] | None = None
    """More of Flux's own output."""
    zeromq: Annotated[bool, default(False)] | None = None
    """What the sockets do."""
    timed: Annotated[bool, default(False)] | None = None
    """How long each part takes."""


class ClusterNetwork(ApiObject):
    """The headless Service."""

    headless_name: str | None = None
    """Its name; the cluster's when absent."""
    disable_affinity: bool | None = None
    """Whether pods need not prefer nodes of their own."""


class ClusterArchive(ApiObject):
    """State of an earlier cluster."""

    path: str | None = None
    """File that is loaded at the start, where it is there."""


class ClusterToleration(ApiObject):
    """A taint that the pods tolerate."""

    key: str | None = None
    """Key of the taint."""
    effect: str | None = None
    """Effect of the taint."""
    operator: str | None = None
    """Equal or Exists."""
    value: str | None = None
    """Value of the taint."""


class ClusterPod(ApiObject):
    """What all pods have in common."""

    annotations: StringMap | None = None
    """Annotations of each pod."""
    labels: StringMap | None = None
    """Labels of each pod."""
    restart_policy: str | None = None
    """OnFailure when absent."""
    service_account_name: str | None = None
    """Account of the pods."""
    runtime_class_name: str | None = None
    """Runtime of the containers."""
    automount_service_account_token: bool | None = None
    """Whether a token is mounted; false when absent."""
    scheduler_name: str | None = None
    """Who places the pods."""
    node_selector: StringMap | None = None
    """Labels that a node must have."""
    node_affinity: dict[str, list[str]] | None = None
    """Labels that a node must have, each with the values that will do."""
    tolerations: list[ClusterToleration] | None = None
    """Taints that the pods tolerate."""
    dns_policy: str | None = None
    """How names are resolved."""
    host_ipc: Annotated[bool | None, Field(alias="hostIPC")] = None
    """Whether pods share the IPC namespace of their nodes."""
    host_pid: Annotated[bool | None, Field(alias="hostPID")] = None
    """Whether pods share the process namespace of their nodes."""
    resources: dict[str, Quantity] | None = None
    """Overhead of each pod."""
    security_context: PodSecurityContext | None = None
    """Group of the files, `fsGroup`; the operator reads nothing else of it."""


class MiniClusterSpec(ApiObject):
    """Pods whose brokers form one Flux instance, and what runs in it."""

    containers: Annotated[list[ClusterContainer], ATOMIC]
    """Containers of every pod; one of them runs Flux."""
    services: Annotated[list[ClusterContainer], ATOMIC] | None = None
    """Containers of a pod of their own beside the cluster."""
    network: ClusterNetwork | None = None
    """The headless Service."""
    job_labels: StringMap | None = None
    """Labels of the Job."""
    interactive: Annotated[bool, default(False)] | None = None
    """Whether the cluster waits for people."""
    flux: FluxOptions | None = None
    """How Flux runs."""
    logging: ClusterLogging | None = None
    """What the containers print."""
    archive: ClusterArchive | None = None
    """State of an earlier cluster."""
    share_process_namespace: bool | None = None
    """Whether the containers of a pod see each other's processes."""
    cleanup: Annotated[bool, default(False)] | None = None
    """Whether the operator deletes everything at the end."""
    size: Annotated[Int32, default(1)] | None = None
    """How many pods."""
    max_size: Int32 | None = None
    """Most pods; a cluster that grows is not compiled."""
    min_size: Int32 | None = None
    """Fewest pods; a cluster that starts with some of them is not compiled."""
    backoff_limit: Int32 | None = None
    """How often pods are started again; 100 when absent."""
    tasks: Annotated[Int32, default(1)] | None = None
    """How many tasks of the command run over all pods."""
    deadline_seconds: Annotated[Int64, default(31500000)] | None = None
    """How long the job may run."""
    pod: ClusterPod | None = None
    """What all pods have in common."""


class MiniCluster(Resource):
    """An HPC cluster with Flux for one program; TrainJob with a `flux` runtime is its nearest relative."""

    NAMES: ClassVar[Names] = Names("flux-framework.org", "v1alpha2", "MiniCluster", "miniclusters", status=True)

    spec: MiniClusterSpec | None = None
    """What is to run."""
    status: dict[str, object] | None = None
    """What the operator has seen; never written by people."""
