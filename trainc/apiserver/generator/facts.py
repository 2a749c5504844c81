"""What the CRDs of Trainer 2.3.0 and JobSet know of Kubernetes' own shapes and its OpenAPI document does not say.

The CRD generator reads these defaults from markers in the Go types; the published OpenAPI document leaves them out.
Everything else that Kubernetes defaults (a probe's period, a restart policy) is defaulted later, in the Job or the pod.
"""

from __future__ import annotations

DEFAULTS: dict[tuple[str, str], str | bool] = {
    ("AzureDiskVolumeSource", "fsType"): "ext4",
    ("AzureDiskVolumeSource", "readOnly"): False,
    ("ConfigMapEnvSource", "name"): "",
    ("ConfigMapKeySelector", "name"): "",
    ("ConfigMapProjection", "name"): "",
    ("ConfigMapVolumeSource", "name"): "",
    ("ContainerPort", "protocol"): "TCP",
    ("FileKeySelector", "optional"): False,
    ("GRPCAction", "service"): "",
    ("ISCSIVolumeSource", "iscsiInterface"): "default",
    ("LocalObjectReference", "name"): "",
    ("RBDVolumeSource", "keyring"): "/etc/ceph/keyring",
    ("RBDVolumeSource", "pool"): "rbd",
    ("RBDVolumeSource", "user"): "admin",
    ("ScaleIOVolumeSource", "fsType"): "xfs",
    ("ScaleIOVolumeSource", "storageMode"): "ThinProvisioned",
    ("SecretEnvSource", "name"): "",
    ("SecretKeySelector", "name"): "",
    ("SecretProjection", "name"): "",
}

ATOMIC_MAPS = frozenset(
    {"ConfigMapEnvSource", "ConfigMapProjection", "ConfigMapVolumeSource", "SecretEnvSource", "SecretProjection"}
)
"""Shapes that server-side apply replaces whole; the OpenAPI document marks only the others."""

TEMPLATE_META = ("annotations", "finalizers", "labels", "name", "namespace")
"""The metadata fields that a CRD keeps inside a template."""
