"""Which resource objects of a kind are in the API, and which kinds live in no namespace."""

from __future__ import annotations

_IRREGULAR = {"Endpoints": "endpoints", "PodMetrics": "pods", "NodeMetrics": "nodes"}
# Kinds of Kubernetes, JobSet, the Trainer, Kueue and the schedulers that live in no namespace.
CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "AdmissionCheck",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterQueue",
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterTrainingRuntime",
        "Cohort",
        "ComponentStatus",
        "CustomResourceDefinition",
        "DeviceClass",
        "FlowSchema",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceFlavor",
        "ResourceSlice",
        "RuntimeClass",
        "StorageClass",
        "Topology",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
        "WorkloadPriorityClass",
    }
)
_VOLCANO = "scheduling.volcano.sh"


def resource(kind: str) -> str:
    """The plural of a kind, as the API machinery guesses it for kinds that say nothing else."""
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    word = kind.lower()
    if word.endswith("s"):
        return f"{word}es"
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def is_cluster_scoped(group: str, kind: str) -> bool:
    """Whether objects of a kind live in no namespace."""
    return kind in CLUSTER_SCOPED or (group == _VOLCANO and kind == "Queue")
