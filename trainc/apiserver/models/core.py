"""Shapes of Kubernetes 1.36 that the kinds embed; written as plain dicts, described by Kubernetes itself."""

from typing import Annotated, Literal

from annotated_types import Ge, MaxLen, MinLen
from pydantic import Field, StringConstraints

from trainc.apiserver.models.node import ApiObject, Core, Int64, Time

Affinity = Annotated[dict[str, object], Core("Affinity")]
EnvVar = Annotated[dict[str, object], Core("EnvVar")]
JobTemplateSpec = Annotated[dict[str, object], Core("JobTemplateSpec")]
LabelSelector = Annotated[dict[str, object], Core("LabelSelector")]
LocalObjectReference = Annotated[dict[str, object], Core("LocalObjectReference")]
PersistentVolumeClaim = Annotated[dict[str, object], Core("PersistentVolumeClaim")]
PersistentVolumeClaimSpec = Annotated[dict[str, object], Core("PersistentVolumeClaimSpec")]
PodSchedulingGate = Annotated[dict[str, object], Core("PodSchedulingGate")]
PodSecurityContext = Annotated[dict[str, object], Core("PodSecurityContext")]
PodTemplateSpec = Annotated[dict[str, object], Core("PodTemplateSpec")]
ResourceRequirements = Annotated[dict[str, object], Core("ResourceRequirements")]
SecurityContext = Annotated[dict[str, object], Core("SecurityContext")]
Toleration = Annotated[dict[str, object], Core("Toleration")]
Volume = Annotated[dict[str, object], Core("Volume")]
VolumeMount = Annotated[dict[str, object], Core("VolumeMount")]


_TYPE = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
_REASON = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"


class Condition(ApiObject):
    """One thing that is true or false of the object at present."""

    type: Annotated[str, MaxLen(316), StringConstraints(pattern=_TYPE)]
    """What the condition is about; unique in the list."""
    status: Literal["True", "False", "Unknown"] = Field(description="Whether it holds.")
    reason: Annotated[str, MinLen(1), MaxLen(1024), StringConstraints(pattern=_REASON)]
    """Why, as one word for machines."""
    message: Annotated[str, MaxLen(32768)] = Field(description="Why, as a sentence for people.")
    last_transition_time: Time = Field(description="When the status changed last.")
    observed_generation: Annotated[Int64, Ge(0)] | None = None
    """Generation of the object that the condition speaks of."""
