"""What the API's typed structures do to a template: zero values fall away, quantities get one spelling."""

from typing import Any

from trainc.model.sourced import Origin, Sourced, known
from trainc.model.tree import Tree
from trainc.text.memo import Memo
from trainc.text.quantity import Quantity

# Go's omitempty drops a zero from a plain field and keeps it in a pointer; a field without it keeps every zero. The
# API's JSON does not tell these from one another, so what a template can reach is listed (JobSet v1alpha2, batch/v1,
# core/v1 of Kubernetes 1.36): false and 0 are kept but in the fields below, the empty text is dropped but in these.
VALUES = frozenset({
    "chapAuthDiscovery", "chapAuthSession", "failureThreshold", "hostIPC", "hostNetwork", "hostPID", "hostPort",
    "initialDelaySeconds", "jobIndex", "maxRestarts", "partition", "periodSeconds", "podIndex", "readOnly",
    "replicas", "sslEnabled", "stdin", "stdinOnce", "successThreshold", "timeoutSeconds", "tty",
})  # fmt: skip
_POINTED = {"readOnly": frozenset({"azureDisk", "csi"})}
# Texts behind pointers, in which an empty one is something, wherever they stand.
TEXT_POINTERS = frozenset({
    "apiGroup", "cachingMode", "completionMode", "fsGroupChangePolicy", "gmsaCredentialSpec",
    "gmsaCredentialSpecName", "hostnameOverride", "initiatorName", "localhostProfile", "managedBy",
    "mountPropagation", "nodeAffinityPolicy", "nodeTaintsPolicy", "podGroupName", "podReplacementPolicy",
    "preemptionPolicy", "procMount", "recursiveReadOnly", "resourceClaimName", "resourceClaimTemplateName",
    "runAsUserName", "runtimeClassName", "seLinuxChangePolicy", "service", "stopSignal", "storageClassName",
    "succeededIndexes", "supplementalGroupsPolicy", "volumeAttributesClassName", "volumeMode", "whenDeleted",
})  # fmt: skip
_KEPT_EMPTY = TEXT_POINTERS | frozenset({
    "claimName", "conditionType", "devicePath", "diskName", "diskURI", "driver", "endpoints", "fieldPath",
    "gateway", "ip", "iqn", "mountPath", "pdID", "pdName", "registry", "replicatedJob", "repository",
    "resource", "resourceName", "server", "shareName", "startupPolicyOrder", "status", "system",
    "targetPortal", "topologyKey", "volume", "volumeID", "volumePath", "whenUnsatisfiable",
})  # fmt: skip
# The same name in another place may be dropped: these are kept in the objects and lists named behind them alone.
_KEPT_BELOW = {
    "action": frozenset({"rules[]"}),
    "containerName": frozenset({"onExitCodes"}),
    "fsType": frozenset({"azureDisk", "csi"}),
    "image": frozenset({"rbd"}),
    "key": frozenset({
        "configMapKeyRef", "fileKeyRef", "items[]", "matchExpressions[]", "matchFields[]", "secretKeyRef",
    }),
    "kind": frozenset({"azureDisk", "dataSource", "dataSourceRef"}),
    "name": frozenset({
        "claims[]", "clusterTrustBundle", "containers[]", "dataSource", "dataSourceRef", "dependsOn[]", "env[]",
        "ephemeralContainers[]", "httpHeaders[]", "initContainers[]", "os", "replicatedJobs[]", "resourceClaims[]",
        "rules[]", "schedulingGates[]", "sysctls[]", "volumeDevices[]", "volumeMounts[]", "volumes[]",
    }),
    "namespace": frozenset({"dataSourceRef"}),
    "operator": frozenset({"matchExpressions[]", "matchFields[]", "onExitCodes", "successPolicy"}),
    "path": frozenset({
        "clusterTrustBundle", "fileKeyRef", "glusterfs", "hostPath", "items[]", "nfs", "serviceAccountToken",
    }),
    "port": frozenset({"httpGet", "tcpSocket"}),
    "restartPolicy": frozenset({"containers[]", "ephemeralContainers[]", "initContainers[]", "resizePolicy[]"}),
    "secretName": frozenset({"azureFile"}),
    "signerName": frozenset({"clusterTrustBundle"}),
    "type": frozenset({"appArmorProfile", "conditions[]", "hostPath", "onPodConditions[]", "seccompProfile"}),
    "value": frozenset({"httpHeaders[]", "options[]", "sysctls[]"}),
    "volumeName": frozenset({"fileKeyRef"}),
}  # fmt: skip
PATCH_POINTERS = frozenset({"serviceAccountName"})  # what a runtimePatch alone holds in a pointer
# Lists that a runtimePatch always writes: an empty or absent one takes away what is below it.
_PATCH_LISTS = {
    "cephfs": "monitors",
    "projected": "sources",
    "rbd": "monitors",
    "requiredDuringSchedulingIgnoredDuringExecution": "nodeSelectorTerms",
}
_GONE = Sourced(None, Origin(None, "list of the API without items"))
_QUANTITY_MAPS = frozenset({"limits", "requests", "overhead", "capacity"})
_QUANTITIES = frozenset({"divisor", "sizeLimit"})
_FREE = frozenset(
    {"annotations", "labels", "matchLabels", "nodeSelector", "options", "userAnnotations", "volumeAttributes"}
)
_MAPS = _FREE | {"limits", "overhead", "requests"}
# What is written even where it is absent.
_ALWAYS: dict[str, tuple[str, Tree]] = {
    "onPodConditions[]": ("status", Sourced("", Origin(None, "empty text of the API"))),
    "resourceFieldRef": ("divisor", Sourced("0", Origin(None, "zero of a quantity"))),
    "templates[]": ("spec", {}),
}


def normalise(tree: Tree, field: str = "", *, patch: bool = False) -> Tree:
    """The tree as typed structures would write it; shares every part that needs no change.

    The structures of a runtimePatch (`patch`) are not quite those of what it is merged into.
    """
    if type(tree) is dict:
        if field in _FREE:
            return tree
        if field in _QUANTITY_MAPS:
            return {key: canonical(leaf) for key, leaf in tree.items()}
        out = {}
        for key, raw in tree.items():
            if type(raw) is Sourced:
                node = canonical(raw) if key in _QUANTITIES else raw
                if not node.value and _omitted(key, node.value, field) and not (patch and key in PATCH_POINTERS):
                    continue
            else:
                node = normalise(raw, key, patch=patch)
                if not node and (type(node) is list or key in _MAPS):
                    continue
            out[key] = node
        if field in _ALWAYS:
            out.setdefault(*_ALWAYS[field])
        if patch and field in _PATCH_LISTS:
            out.setdefault(_PATCH_LISTS[field], _GONE)
        return out
    if type(tree) is list:
        return [normalise(item, field + "[]", patch=patch) for item in tree]
    return canonical(tree) if field in _QUANTITIES else tree


def _omitted(key: str, value: object, parent: str) -> bool:
    """Whether a value that Go calls a zero is left out."""
    if value == "" and type(value) is str:
        return key not in _KEPT_EMPTY and parent not in _KEPT_BELOW.get(key, ())
    if value is False:
        return key in VALUES and parent not in _POINTED.get(key, ())
    if value == 0 and type(value) is int:
        return key in VALUES
    return value is None


def canonical(leaf: Tree) -> Tree:
    """A quantity as the API machinery writes it; leaves that are not a quantity stay as they are."""
    if type(leaf) is not Sourced:
        return leaf
    value = leaf.value
    text = _SPELLINGS[value] if type(value) is str or type(value) is int else _spelling(value)
    return leaf if text is None or text == value else known(text, "canonical quantity", (leaf,))


def _spelling(value: Any) -> str | None:
    """A quantity as the API machinery writes it, None for what is none."""
    try:
        return str(Quantity.parse(value))
    except ValueError:
        return None


_SPELLINGS: Memo[str | int, str | None] = Memo(_spelling, most=10_000)  # amounts met before
