"""Shapes of Kubernetes 1.36 that the kinds embed; written as plain dicts, described by Kubernetes itself."""

from __future__ import annotations

from typing import Annotated

from trainc.apiserver.models.node import Core

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
