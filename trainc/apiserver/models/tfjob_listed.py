"""TfJob of the first TensorFlow operator (mlkube.io/v1beta1), in the camel case of August 2017 and later."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainc.apiserver.models.core import PodTemplateSpec, Volume, VolumeMount
from trainc.apiserver.models.node import ApiObject, Int32, Names, Resource


class ListedReplicaSpec(ApiObject):
    """One role of the job: equal pods that differ in their index."""

    replicas: Int32 | None = None
    """How many pods; 1 when absent."""
    template: PodTemplateSpec | None = None
    """The pod; parameter servers without one run TensorFlow's own server."""
    tf_port: Int32 | None = None
    """Port that the process listens on; 2222 when absent."""
    tf_replica_type: Literal["MASTER", "PS", "WORKER"] | None = None
    """Role; MASTER when absent."""
    is_default_ps: Annotated[bool | None, Field(alias="IsDefaultPS")] = None
    """Whether the operator filled the template in; written by the operator."""


class TensorBoard(ApiObject):
    """A TensorBoard that the operator ran beside the job; trainc leaves it out."""

    log_dir: str | None = None
    """Folder of the logs."""
    volumes: list[Volume] | None = None
    """Volumes of its pod."""
    volume_mounts: list[VolumeMount] | None = None
    """Where they are mounted."""
    service_type: str | None = None
    """Type of its Service; ClusterIP when absent."""


class Chief(ApiObject):
    """The replica whose success or failure is the job's."""

    replica_name: str | None = None
    """Its role; MASTER when absent."""
    replica_index: int | None = None
    """Its index; 0 when absent."""


class TerminationPolicy(ApiObject):
    """What ends the job."""

    chief: Chief | None = None
    """The replica that decides."""


class TfJobSpec(ApiObject):
    """Processes that know each other from TF_CONFIG."""

    runtime_id: Annotated[str | None, Field(alias="RuntimeId")] = None
    """Part of the names of what the operator made; derived from the job's name when absent."""
    tensorboard: TensorBoard | None = None
    """A TensorBoard beside the job."""
    replica_specs: list[ListedReplicaSpec] | None = None
    """The roles; each type once."""
    tf_image: str | None = None
    """Image of parameter servers without a template; tensorflow/tensorflow:1.3.0 when absent."""
    termination_policy: TerminationPolicy | None = None
    """What ends the job; its MASTER when absent."""


class TfJob(Resource):
    """The first TensorFlow job on Kubernetes."""

    NAMES: ClassVar[Names] = Names("mlkube.io", "v1beta1", "TfJob", "tfjobs")

    spec: TfJobSpec | None = None
    """What is to run."""
