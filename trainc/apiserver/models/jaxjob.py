"""JAXJob (kubeflow.org/v1, training operator v1.9.0)."""

from __future__ import annotations

from typing import ClassVar

from trainc.apiserver.models.node import ApiObject, Names, Resource
from trainc.apiserver.models.policy import COLUMNS, LegacyJobStatus, ReplicaSpec, RunPolicy


class JAXJobSpec(ApiObject):
    """Processes that call `jax.distributed.initialize` with what the operator tells them."""

    run_policy: RunPolicy | None = None
    """When the job ends and what is cleaned up."""
    jax_replica_specs: dict[str, ReplicaSpec]
    """The role `Worker`; its main container is called `jax`."""


class JAXJob(Resource):
    """A JAX job of the training operator; TrainJob is its successor."""

    NAMES: ClassVar[Names] = Names("kubeflow.org", "v1", "JAXJob", "jaxjobs", status=True, columns=COLUMNS)

    spec: JAXJobSpec | None = None
    """What is to run."""
    status: LegacyJobStatus | None = None
    """What has been seen to run."""
