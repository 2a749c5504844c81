"""Where an empty text is something in the Go structs behind a JobSet, and what they always or never write.

Fields go by their name, or by the name of the field that holds them and their own where structs differ
(JobSet v1alpha2, core/v1, batch/v1).
"""

from __future__ import annotations

# Texts behind pointers, where an empty one is something, and what is a pointer though `VALUES` of the model names it.
POINTERS = frozenset(
    {
        "apiGroup",
        "azureDisk.fsType",
        "azureDisk.kind",
        "azureDisk.readOnly",
        "cachingMode",
        "clusterTrustBundle.name",
        "clusterTrustBundle.signerName",
        "completionMode",
        "containers.restartPolicy",
        "csi.fsType",
        "csi.readOnly",
        "currentVolumeAttributesClassName",
        "dataSourceRef.namespace",
        "ephemeralContainers.restartPolicy",
        "fsGroupChangePolicy",
        "gmsaCredentialSpec",
        "gmsaCredentialSpecName",
        "hostPath.type",
        "hostnameOverride",
        "initContainers.restartPolicy",
        "initiatorName",
        "localhostProfile",
        "managedBy",
        "mountPropagation",
        "nodeAffinityPolicy",
        "nodeTaintsPolicy",
        "onExitCodes.containerName",
        "options.value",
        "podGroupName",
        "podReplacementPolicy",
        "preemptionPolicy",
        "procMount",
        "recursiveReadOnly",
        "resourceClaimName",
        "resourceClaimTemplateName",
        "runAsUserName",
        "runtimeClassName",
        "seLinuxChangePolicy",
        "service",
        "stopSignal",
        "storageClassName",
        "succeededIndexes",
        "supplementalGroupsPolicy",
        "volumeAttributesClassName",
        "volumeMode",
        "whenDeleted",
    }
)
# Fields that the schema leaves out and Go always writes, and those that the schema requires and Go leaves out while empty.
WRITTEN = {
    "conditions": ("lastProbeTime", "lastTransitionTime"),
    "dataSource": ("apiGroup",),
    "dataSourceRef": ("apiGroup",),
    "onPodConditions": ("status",),
    "projected": ("sources",),
}
OMITTED = frozenset(
    {"exitCodes.operator", "podCertificate.keyType", "podCertificate.signerName", "restartPolicyRules.action"}
)
