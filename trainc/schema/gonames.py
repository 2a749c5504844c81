"""The Go names that decoders put into their error texts (JobSet v1alpha2, core/v1, batch/v1)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path
    from trainc.schema.node import Node

# The Go type behind a field; where a name means different things, the two last steps decide.
_TYPES = {
    "affinity": "v1.Affinity",
    "capabilities": "v1.Capabilities",
    "configMapKeyRef": "v1.ConfigMapKeySelector",
    "configMapRef": "v1.ConfigMapEnvSource",
    "containers": "v1.Container",
    "coordinator": "v1alpha2.Coordinator",
    "dependsOn": "v1alpha2.DependsOn",
    "dnsConfig": "v1.PodDNSConfig",
    "emptyDir": "v1.EmptyDirVolumeSource",
    "env": "v1.EnvVar",
    "envFrom": "v1.EnvFromSource",
    "ephemeralContainers": "v1.EphemeralContainer",
    "failurePolicy": "v1alpha2.FailurePolicy",
    "failurePolicy.rules": "v1alpha2.FailurePolicyRule",
    "fieldRef": "v1.ObjectFieldSelector",
    "hostAliases": "v1.HostAlias",
    "hostPath": "v1.HostPathVolumeSource",
    "httpGet": "v1.HTTPGetAction",
    "imagePullSecrets": "v1.LocalObjectReference",
    "initContainers": "v1.Container",
    "lifecycle": "v1.Lifecycle",
    "limits": "v1.ResourceList",
    "livenessProbe": "v1.Probe",
    "metadata": "v1.ObjectMeta",
    "network": "v1alpha2.Network",
    "overhead": "v1.ResourceList",
    "persistentVolumeClaim": "v1.PersistentVolumeClaimVolumeSource",
    "podFailurePolicy": "v1.PodFailurePolicy",
    "podFailurePolicy.rules": "v1.PodFailurePolicyRule",
    "ports": "v1.ContainerPort",
    "readinessProbe": "v1.Probe",
    "replicatedJobs": "v1alpha2.ReplicatedJob",
    "requests": "v1.ResourceList",
    "resourceClaims": "v1.PodResourceClaim",
    "resourceFieldRef": "v1.ResourceFieldSelector",
    "resources": "v1.ResourceRequirements",
    "retentionPolicy": "v1alpha2.VolumeRetentionPolicy",
    "schedulingGates": "v1.PodSchedulingGate",
    "secret": "v1.SecretVolumeSource",
    "secretKeyRef": "v1.SecretKeySelector",
    "secretRef": "v1.SecretEnvSource",
    "securityContext": "v1.SecurityContext",
    "spec": "v1alpha2.JobSetSpec",
    "spec.securityContext": "v1.PodSecurityContext",
    "startupPolicy": "v1alpha2.StartupPolicy",
    "startupProbe": "v1.Probe",
    "successPolicy": "v1alpha2.SuccessPolicy",
    "template.spec": "v1.PodSpec",
    "templates": "v1.PersistentVolumeClaim",
    "templates.spec": "v1.PersistentVolumeClaimSpec",
    "tolerations": "v1.Toleration",
    "topologySpreadConstraints": "v1.TopologySpreadConstraint",
    "valueFrom": "v1.EnvVarSource",
    "volumeClaimPolicies": "v1alpha2.VolumeClaimPolicy",
    "volumeMounts": "v1.VolumeMount",
    "volumes": "v1.Volume",
}
_INTEGERS = {"int32": "int32", "int64": "int64"}


def field_name(path: Path) -> str:
    """`Struct.path.to.field` for the value at `path`: indices and map keys do not show."""
    steps = _steps(path)
    owner = _struct(steps[:-1])
    return f"{owner}.{'.'.join(steps)}"


def type_name(node: Node, path: Path) -> str:
    """The Go type of the field at `path`."""
    if node.kind == "array":
        item = node.item()
        return "[]" + (type_name(item, path) if item is not None else "interface {}")
    if node.kind == "object":
        steps = _steps(path)
        other = node.other()
        if other is not None and steps[-1] not in _TYPES:
            return f"map[string]{type_name(other, path)}"
        return _found(steps) or f"v1.{steps[-1][:1].upper()}{steps[-1][1:]}"
    if node.kind == "integer":
        return _INTEGERS.get(node.format, "int")
    return {"boolean": "bool", "number": "float64"}.get(node.kind, "string")


def _steps(path: Path) -> list[str]:
    """The named fields of a path: everything below a map belongs to the map's own field."""
    steps: list[str] = []
    for step in path:
        if type(step) is str:
            steps.append(step)
            if step in _MAPS:
                break
    return steps


_MAPS = frozenset({"labels", "annotations", "nodeSelector", "limits", "requests", "overhead", "matchLabels"})


def _struct(steps: list[str]) -> str:
    found = _found(steps)
    return found.partition(".")[2] if found else "".join(step[:1].upper() + step[1:] for step in steps[-1:])


def _found(steps: list[str]) -> str:
    if steps[-2:] == ["template", "spec"] or steps[-1:] == ["template"]:
        depth = steps.count("template")
        names = (
            ("v1.JobTemplateSpec", "v1.PodTemplateSpec") if steps[-1] == "template" else ("v1.JobSpec", "v1.PodSpec")
        )
        return names[min(depth, 2) - 1]
    return _TYPES.get(".".join(steps[-2:])) or _TYPES.get(steps[-1] if steps else "", "")
