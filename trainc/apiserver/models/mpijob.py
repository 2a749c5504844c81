"""MPIJob of the training operator (kubeflow.org/v1) and of the mpi-operator (kubeflow.org/v2beta1)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainc.apiserver.models.node import ApiObject, Int32, Names, Resource, default
from trainc.apiserver.models.policy import COLUMNS, LegacyJobStatus, ReplicaSpec, RunPolicy


class MPIJobSpec(ApiObject):
    """A launcher that starts its processes in the workers with `kubectl exec`."""

    slots_per_worker: Int32 | None = None
    """Processes for each worker in the host file; 1 when absent."""
    clean_pod_policy: str | None = None
    """Used where `runPolicy` says none."""
    mpi_replica_specs: dict[str, ReplicaSpec]
    """The roles `Launcher` (one pod) and `Worker`."""
    main_container: str | None = None
    """Container of the workers in which the processes start; the first when absent."""
    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""


class MPIJob(Resource):
    """An MPI job of the training operator; TrainJob is its successor."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v1", "MPIJob", "mpijobs", status=True, columns=COLUMNS)

    spec: MPIJobSpec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""


class MPIJobV2Spec(ApiObject):
    """A launcher that starts its processes in the workers through ssh."""

    slots_per_worker: Annotated[Int32, default(1)] | None = None
    """Processes for each worker in the host file."""
    run_launcher_as_worker: Annotated[bool, default(False)] | None = None
    """Whether the launcher is the first host too."""
    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""
    mpi_replica_specs: dict[str, ReplicaSpec]
    """The roles `Launcher` (one pod) and `Worker`."""
    ssh_auth_mount_path: Annotated[str | None, Field(alias="sshAuthMountPath")] = None
    """Where the key is mounted; /root/.ssh when absent."""
    launcher_creation_policy: Annotated[Literal["AtStartup", "WaitForWorkersReady"], default("AtStartup")] | None = None
    """Whether the launcher waits until all workers are ready."""
    mpi_implementation: Annotated[Literal["OpenMPI", "Intel", "MPICH"], default("OpenMPI")] | None = None
    """The MPI in the image."""


class MPIJobV2(Resource):
    """An MPI job of the mpi-operator; TrainJob is its successor."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v2beta1", "MPIJob", "mpijobs", status=True, columns=COLUMNS)

    spec: MPIJobV2Spec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""
