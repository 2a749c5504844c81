"""The feature gates of a Kubernetes API server that decide which fields of Jobs and pods it reads.

Source: pkg/features/kube_features.go, Kubernetes 1.36. A field whose gate is off is dropped before it is validated.
"""

from collections.abc import Hashable

from trainc.apiserver.versions import KUBERNETES
from trainc.model.cluster import Cluster
from trainc.text.memo import Memo

NEVER = (99, 0)
# The version from which a gate is on unless somebody says otherwise.
ON_SINCE = {
    "ClusterTrustBundleProjection": NEVER, "ContainerRestartRules": (1, 35), "ContainerStopSignals": NEVER,
    "DynamicResourceAllocation": (1, 34), "EnvFiles": (1, 35), "GenericWorkload": NEVER, "HostnameOverride": (1, 35),
    "ImageVolume": (1, 35), "InPlacePodVerticalScaling": (1, 33), "JobManagedBy": (1, 32),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": (1, 34), "PodCertificateRequest": NEVER,
    "PodLevelResources": (1, 34), "PodLifecycleSleepAction": (1, 30), "PodLifecycleSleepActionAllowZero": (1, 33),
    "ProcMountType": (1, 33), "RelaxedDNSSearchValidation": (1, 33), "RelaxedEnvironmentVariableValidation": (1, 32),
    "RestartAllContainersOnContainerExits": (1, 36), "SELinuxChangePolicy": (1, 33), "SELinuxMount": NEVER,
    "StrictIPCIDRValidation": (1, 36), "SupplementalGroupsPolicy": (1, 33),
    "TaintTolerationComparisonOperators": NEVER, "UserNamespacesHostNetworkSupport": NEVER,
    "UserNamespacesSupport": (1, 33),
}  # fmt: skip
_MAX_FRAMES = 1_000


class Features:
    """The gates that are on at one server, and the frames of JobSets whose Jobs and pods it was found to take."""

    def __init__(self, version: tuple[int, int], gates: frozenset[str]) -> None:
        self.enabled = frozenset(name for name, since in ON_SINCE.items() if version >= since) | gates
        self.taken: set[Hashable] = set()

    def has(self, gate: str) -> bool:
        """Whether a gate is on."""
        return gate in self.enabled

    def take(self, frame: Hashable) -> None:
        """Note that JobSets of a frame are taken."""
        if len(self.taken) >= _MAX_FRAMES:
            self.taken.clear()
        self.taken.add(frame)


def features_of(cluster: Cluster) -> Features:
    """The features of a cluster's API server; those of equal servers are one object."""
    return _FEATURES[cluster.kubernetes or KUBERNETES, frozenset(cluster.gates)]


_FEATURES: Memo[tuple[tuple[int, int], frozenset[str]], Features] = Memo(lambda server: Features(*server))
