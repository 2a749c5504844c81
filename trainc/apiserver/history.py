"""Fields that an older API had or that people expect, and what stands for them (Kubeflow Trainer up to v2.2)."""

from collections.abc import Sequence

from trainc.model.tree import Path

_PATCHES = "since v2.2 it is `runtimePatches`: one entry per manager, target jobs by name below it"
_OF_V1 = (
    "belongs to jobs of Training Operator v1: write `spec.trainer` and `spec.runtimeRef`; `trainc migrate` rewrites "
    "such jobs"
)
_V1_FRAMEWORKS = ("pytorch", "tf", "mpi", "xgb", "paddle", "jax")
_TRAINJOB: dict[Path, str] = {
    ("spec", "trainingRuntimeRef"): "since October 2024 it is `runtimeRef`",
    ("spec", "datasetConfig"): "since March 2025 it is `spec.initializer.dataset`",
    ("spec", "modelConfig"): "since March 2025 its `input` is `spec.initializer.model`; `output` is gone",
    ("spec", "podSpecOverrides"): _PATCHES,
    ("spec", "podTemplateOverrides"): _PATCHES,
    ("spec", "labels"): "since v2.2 it is `runtimePatches[].trainingRuntimeSpec.template.metadata.labels`",
    ("spec", "annotations"): "since v2.2 it is `runtimePatches[].trainingRuntimeSpec.template.metadata.annotations`",
    ("spec", "runtimeRef", "namespace"): "a TrainingRuntime is looked up in the job's own namespace",
    ("spec", "trainer", "replicas"): "the number of pods is `numNodes`",
    ("spec", "replicas"): "the number of pods is `spec.trainer.numNodes`",
    ("spec", "nodes"): "the number of pods is `spec.trainer.numNodes`",
    **{
        ("spec", field): f"`{field}` {_OF_V1}"
        for field in (*(f"{framework}ReplicaSpecs" for framework in _V1_FRAMEWORKS), "elasticPolicy")
    },
    ("spec", "runPolicy"): "its fields are JobSet's in a runtime: `spec.template.spec.failurePolicy.maxRestarts` for "
    "`backoffLimit`, `ttlSecondsAfterFinished` beside it",
    ("spec", "trainer", "numWorkers"): "the number of pods is `numNodes`",
    ("spec", "numWorkers"): "the number of pods is `spec.trainer.numNodes`",
    ("spec", "trainer", "envFrom"): "write each variable in `env`, with `valueFrom.secretKeyRef` or `configMapKeyRef`; "
    "`envFrom` goes into the runtime",
    **{
        ("spec", "trainer", field): f"write it in `runtimePatches`, below `containers: [{{name: node, {field}: ...}}]`"
        for field in ("volumeMounts", "securityContext", "ports", "livenessProbe", "readinessProbe")
    },
    ("spec", "runtimeRef", "version"): "write the group alone, as `apiGroup`",
}
_RUNTIME: dict[Path, str] = {
    ("spec", "mlSpec"): "it is `spec.mlPolicy`",
    ("spec", "podGroupSpec"): "it is `spec.podGroupPolicy`",
    ("spec", "numNodes"): "it is `spec.mlPolicy.numNodes`",
    ("spec", "replicatedJobs"): "it is `spec.template.spec.replicatedJobs`",
    ("spec", "mlPolicy", "torch", "numProcPerNode"): "gone since v2.2: it follows from the resources, or set "
    "`spec.trainer.numProcPerNode` in the job",
    ("spec", "mlPolicy", "torch", "elasticPolicy"): "gone since v2.2; it never had an effect on what was built",
    ("spec", "mlPolicy", "torch", "standalone"): "gone before v2.0",
    ("spec", "mlPolicy", "mpi", "SSHAuthMountPath"): "it is `sshAuthMountPath`",
}
# The field by which a reference names another object; each kind of reference has one of them.
REFERENCES = ("name", "secretName", "claimName")
_SOURCES = ("secret", "configMap", "persistentVolumeClaim")
_TOP = 2  # steps to a field of `spec`
_OLDER_GROUPS = ("kubeflow.org", "tensorflow.org", "mlkube.io")  # of the operators before the Trainer
_OF_TRAINJOB = "a TrainJob has it: `apiVersion: trainer.kubeflow.org/v1alpha1` and `kind: TrainJob`"
_LEGACY: dict[str | int, str] = {
    **dict.fromkeys(("numNodes", "nodes", "replicas"), "the number of pods is `replicas` of each role"),
    **dict.fromkeys(("trainer", "runtimeRef"), _OF_TRAINJOB),
}


# Old names whose value means the same under the new one.
_RENAMED: dict[str, dict[Path, str]] = {
    "TrainJob": {
        ("spec", "trainingRuntimeRef"): "runtimeRef",
        ("spec", "trainer", "replicas"): "numNodes",
        ("spec", "trainer", "numWorkers"): "numNodes",
        ("spec", "trainer", "nprocPerNode"): "numProcPerNode",
        ("spec", "trainer", "nProcPerNode"): "numProcPerNode",
    },
    "TrainingRuntime": {
        ("spec", "mlSpec"): "mlPolicy",
        ("spec", "podGroupSpec"): "podGroupPolicy",
        ("spec", "mlPolicy", "mpi", "SSHAuthMountPath"): "sshAuthMountPath",
    },
}


def successor(kind: str, path: Path) -> str:
    """The name of today's field for an old one with the same value, empty where there is none."""
    return _RENAMED.get(kind.removeprefix("Cluster"), {}).get(path, "")


def replacement(api_version: str, kind: str, path: Path) -> str:
    """What to write instead of an old field, empty for one that never was."""
    if kind == "TrainJob":
        return _TRAINJOB.get(path, "")
    if api_version.partition("/")[0] in _OLDER_GROUPS:
        return _LEGACY.get(path[-1], "") if len(path) == _TOP else ""
    return _RUNTIME.get(path, "")


def reference_field(path: Path, candidates: Sequence[str]) -> str:
    """The field that names the object here, where a path gives the name in the field of another kind of reference.

    `candidates` are the fields that there are. A variable reads `secretKeyRef.name`, a volume `secret.secretName`.
    """
    if len(path) < 2 or path[-1] not in REFERENCES or not (str(path[-2]).endswith("Ref") or path[-2] in _SOURCES):
        return ""
    return next((one for one in REFERENCES if one in candidates), "")
