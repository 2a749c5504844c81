"""What a zero means in the Go structs behind a JobSet: nothing for plain values, a value behind pointers.

Fields go by their name, or by the name of the field that holds them and their own where structs differ
(JobSet v1alpha2, core/v1, batch/v1).
"""

from __future__ import annotations

# Numbers and booleans that are plain values: a zero is the same as nothing. All others are pointers.
VALUES = frozenset(
    {
        "chapAuthDiscovery",
        "chapAuthSession",
        "failureThreshold",
        "hostIPC",
        "hostNetwork",
        "hostPID",
        "hostPort",
        "initialDelaySeconds",
        "jobIndex",
        "maxRestarts",
        "partition",
        "periodSeconds",
        "podIndex",
        "readOnly",
        "replicas",
        "sslEnabled",
        "stdin",
        "stdinOnce",
        "successThreshold",
        "timeoutSeconds",
        "tty",
    }
)
# Texts behind pointers, where an empty one is something, and the numbers that are pointers against the rule above.
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
