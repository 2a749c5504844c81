"""PyTorchJob (kubeflow.org/v1, training operator v1.9.0)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from trainc.apiserver.models.node import ApiObject, Int32, Names, Resource
from trainc.apiserver.models.policy import COLUMNS, ElasticRange, LegacyJobStatus, ReplicaSpec, RunPolicy


class RendezvousSetting(ApiObject):
    """One setting of the rendezvous backend."""

    key: str | None = None
    """Name of the setting."""
    value: str | None = None
    """Its value."""


class TorchElasticPolicy(ElasticRange):
    """How torchrun's agents find each other and how many there may be."""

    rdzv_backend: str | None = None
    """Backend of the rendezvous; c10d when absent."""
    rdzv_port: Int32 | None = None
    """Port of the rendezvous; that of the workers when absent."""
    rdzv_host: str | None = None
    """Host of the rendezvous; worker 0 when absent."""
    rdzv_id: str | None = None
    """Name of the rendezvous."""
    rdzv_conf: list[RendezvousSetting] | None = None
    """Settings of the backend."""
    standalone: bool | None = None
    """Whether each pod is a job of its own."""
    n_proc_per_node: Annotated[Int32 | None, Field(alias="nProcPerNode")] = None
    """Old way to say `spec.nprocPerNode`."""


class PyTorchJobSpec(ApiObject):
    """Processes that meet through MASTER_* or PET_* variables."""

    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""
    elastic_policy: TorchElasticPolicy | None = None
    """Settings of torchrun for jobs that may lose workers."""
    pytorch_replica_specs: dict[str, ReplicaSpec]
    """The roles `Master` (at most one pod) and `Worker`; their main container is called `pytorch`."""
    nproc_per_node: Annotated[str | None, Field(alias="nprocPerNode")] = None
    """Processes in each pod: auto, cpu, gpu or a number in quotes; auto when absent."""


class PyTorchJob(Resource):
    """A PyTorch job of the training operator; TrainJob is its successor."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs", status=True, columns=COLUMNS)

    spec: PyTorchJobSpec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""
