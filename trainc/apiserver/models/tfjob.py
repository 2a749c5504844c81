"""TFJob (kubeflow.org/v1, training operator v1.9.0)."""

from __future__ import annotations

from typing import ClassVar

from trainc.apiserver.models.node import ApiObject, Names, Resource
from trainc.apiserver.models.policy import COLUMNS, LegacyJobStatus, ReplicaSpec, RunPolicy


class TFJobSpec(ApiObject):
    """Processes that know each other from TF_CONFIG."""

    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""
    success_policy: str | None = None
    """Without a Chief: AllWorkers, or worker 0 decides when absent."""
    tf_replica_specs: dict[str, ReplicaSpec]
    """The roles `Chief` or `Master`, `Worker`, `PS`, `Evaluator`; their main container is called `tensorflow`."""
    enable_dynamic_worker: bool | None = None
    """Whether workers know only themselves, so that their number could change."""


class TFJob(Resource):
    """A TensorFlow job of the training operator."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v1", "TFJob", "tfjobs", status=True, columns=COLUMNS)

    spec: TFJobSpec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""
