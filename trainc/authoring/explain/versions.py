"""The release that each group of kinds was read from, and fields that came with a later one than their kind.

Sources: docs/upstream.md; JobSet's changelog for the fields that came later.
"""

from __future__ import annotations

from trainc import __version__

READ_FROM = {
    "trainer.kubeflow.org": "Kubeflow Trainer v2.3",
    "jobset.x-k8s.io": "JobSet 0.13",
    "kubeflow.org": "the v1 training-operator and mpi-operator",
    "mlkube.io": "the first tf-operator",
    "scheduling.x-k8s.io": "scheduler-plugins (coscheduling)",
    "flux-framework.org": "Flux Operator 0.2",
    "batch.volcano.sh": "Volcano 1.16",
    "scheduling.volcano.sh": "Volcano 1.15",
    "ray.io": "KubeRay 1.7",
    "leaderworkerset.x-k8s.io": "LeaderWorkerSet 0.10",
    "trainc.dev": f"trainc {__version__}",
}
_DEPENDS = "JobSet 0.8"
_CLAIMS = "JobSet 0.11"
SINCE = {
    "JobSet.spec.replicatedJobs.dependsOn": _DEPENDS,
    "JobSet.spec.volumeClaimPolicies": _CLAIMS,
}
