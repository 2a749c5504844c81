"""Containers of a MiniCluster (Flux Operator 0.2.1)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from trainc.apiserver.models.core import ResourceRequirements, SecurityContext
from trainc.apiserver.models.node import ATOMIC, ApiObject, Int32, StringMap, default


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
