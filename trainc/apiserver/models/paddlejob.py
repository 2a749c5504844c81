"""PaddleJob (kubeflow.org/v1, training operator v1.9.0)."""

from __future__ import annotations

from typing import ClassVar

from trainc.apiserver.models.node import ApiObject, Names, Resource
from trainc.apiserver.models.policy import COLUMNS, ElasticRange, LegacyJobStatus, ReplicaSpec, RunPolicy


class PaddleJobSpec(ApiObject):
    """Processes that `paddle.distributed.launch` brings together."""

    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""
    elastic_policy: ElasticRange | None = None
    """Never had an effect."""
    paddle_replica_specs: dict[str, ReplicaSpec]
    """The roles `Master` (parameter servers) and `Worker`; their main container is called `paddle`."""


class PaddleJob(Resource):
    """A PaddlePaddle job of the training operator."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v1", "PaddleJob", "paddlejobs", status=True, columns=COLUMNS)

    spec: PaddleJobSpec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""
