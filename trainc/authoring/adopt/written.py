"""An object as a person would have written it: without what servers, controllers and delivery tools add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainc.apiserver.schema.node import SchemaNode, load
from trainc.model.bundle import KEEP
from trainc.model.tree import plain

_KEPT = ("name", "namespace", "labels", "annotations")  # of the metadata
_ANNOTATIONS = (
    "kubectl.kubernetes.io/", "argocd.argoproj.io/tracking-id", "argocd.argoproj.io/installation-id",
    "kustomize.toolkit.fluxcd.io/checksum", "kustomize.toolkit.fluxcd.io/reconcile", "meta.helm.sh/",
    "batch.kubernetes.io/job-tracking",
)  # fmt: skip
_LABELS = (
    "kustomize.toolkit.fluxcd.io/", "helm.toolkit.fluxcd.io/", "controller-uid", "job-name",
    "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name",
)  # fmt: skip
_QUEUE = "kueue.x-k8s.io/queue-name"
_MANAGED_BY_QUEUE = "kueue.x-k8s.io/"  # how the manager of a patch begins that Kueue writes into a TrainJob
# What is absent and what is empty are one for every reader of these.
_HOLLOW = ("metadata", "resources", "status")
# What Kubernetes fills in for Jobs and their pods (pkg/apis/batch/v1 and core/v1 defaults.go, 1.36).
_JOB = {
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "manualSelector": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "suspend": False,
}
_POD = {
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
}
_CONTAINER = {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
_PROBE = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_MODE = 0o644  # of files in volumes
_SOURCES = ("configMap", "secret", "downwardAPI", "projected")


def applied_by(tree: dict[str, Any]) -> str:
    """The tool that applies an object already, with what it calls its source; empty where no mark says so."""
    metadata = _map(tree, "metadata")
    labels, annotations = _map(metadata, "labels"), _map(metadata, "annotations")
    if tracked := annotations.get("argocd.argoproj.io/tracking-id"):
        return f"Argo CD application {str(tracked).partition(':')[0]}"
    if name := labels.get("kustomize.toolkit.fluxcd.io/name"):
        return f"Flux Kustomization {name}"
    if name := labels.get("helm.toolkit.fluxcd.io/name"):
        return f"Flux HelmRelease {name}"
    if name := annotations.get("meta.helm.sh/release-name"):
        return f"Helm release {name}"
    return ""


def live(tree: dict[str, Any]) -> dict[str, Any]:
    """An object without what its server keeps of it; defaults stay."""
    kept = {key: _sound(node) for key, node in tree.items() if key != "status"}
    metadata = _map(tree, "metadata")
    kept["metadata"] = {key: _sound(metadata[key]) for key in _KEPT if metadata.get(key) not in (None, {}, "")}
    for field, prefixes in (("annotations", _ANNOTATIONS), ("labels", _LABELS)):
        _without(kept["metadata"], field, prefixes)
    if (kept.get("apiVersion"), kept.get("kind")) == ("batch/v1", "Job"):
        _as_job(kept)
    # `suspend` is the queue's where a job has one; false is the default.
    is_queued, spec = _QUEUE in _map(_map(kept, "metadata"), "labels"), _map(kept, "spec")
    for holder in (spec, _map(spec, "runPolicy")):
        if holder.get("suspend") is False or (is_queued and holder.get("suspend") is True):
            del holder["suspend"]
    return kept


def as_kept_job(tree: dict[str, Any]) -> dict[str, Any]:
    """A plain Job that says of itself that it stays one."""
    metadata = _map(tree, "metadata")
    return {**tree, "metadata": {**metadata, "annotations": {**_map(metadata, "annotations"), KEEP: "job"}}}


def written(tree: dict[str, Any], flavors: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """An object as a person would have written it; a server makes the same of both forms.

    What a queue put into the pods of an admitted job is left out as well: its patches of a TrainJob, and of other jobs
    the node labels and tolerations of the ResourceFlavors of the dump.
    """
    kept = live(tree)
    if _QUEUE in _map(_map(kept, "metadata"), "labels"):
        _without_admission(kept, flavors)
    api, kind = kept.get("apiVersion"), kept.get("kind")
    if (root := load().root(f"{api}/{kind}")) is not None and (api, kind) != ("batch/v1", "Job"):
        kept = _unfilled(root, kept)
    if kind == "JobSet":
        _without_webhook_defaults(_map(kept, "spec"))
    return kept


def _sound(node: Any) -> Any:
    """A copy without the nulls that Go writes for times, and without maps that say nothing."""
    if isinstance(node, dict):
        out = {key: _sound(child) for key, child in node.items() if not (key == "creationTimestamp" and child is None)}
        return {key: child for key, child in out.items() if not (key in _HOLLOW and child in ({}, None))}
    return [_sound(item) for item in node] if isinstance(node, list) else node


def _without(metadata: dict[str, Any], field: str, prefixes: tuple[str, ...]) -> None:
    held = _map(metadata, field)
    kept = {key: text for key, text in held.items() if not str(key).startswith(prefixes)}
    if field in metadata and kept:
        metadata[field] = kept
    else:
        metadata.pop(field, None)


def _without_admission(tree: dict[str, Any], flavors: Sequence[dict[str, Any]]) -> None:
    spec = _map(tree, "spec")
    patches = _items(spec, "runtimePatches")
    own = [patch for patch in patches if not str(patch.get("manager", "")).startswith(_MANAGED_BY_QUEUE)]
    if len(own) < len(patches):
        spec["runtimePatches"] = own
        if not own:
            del spec["runtimePatches"]
    labels = [item for flavor in flavors for item in _map(_map(flavor, "spec"), "nodeLabels").items()]
    tolerations = [each for flavor in flavors for each in _items(_map(flavor, "spec"), "tolerations")]
    jobs = [_map(_map(job, "template"), "spec") for job in _items(spec, "replicatedJobs")]
    for job in [*jobs, spec] if tree.get("kind") in ("JobSet", "Job") else ():
        pod = _map(_map(job, "template"), "spec")
        selector = {key: text for key, text in _map(pod, "nodeSelector").items() if (key, text) not in labels}
        tolerated = [each for each in _items(pod, "tolerations") if each not in tolerations]
        for field, held in (("nodeSelector", selector), ("tolerations", tolerated)):
            if field in pod and held:
                pod[field] = held
            else:
                pod.pop(field, None)


def _unfilled(node: SchemaNode, tree: Any) -> Any:
    """A tree without the values that its schema fills in where they are absent."""
    if isinstance(tree, list):
        item = node.item()
        return tree if item is None else [_unfilled(item, each) for each in tree]
    if not isinstance(tree, dict):
        return tree
    defaults = dict(node.defaults)
    out = {}
    for key, child in tree.items():
        if key in defaults and plain(defaults[key]) == child:
            continue
        inner = node.prop(key)
        out[key] = child if inner is None else _unfilled(inner, child)
    return out


def _without_webhook_defaults(spec: dict[str, Any]) -> None:
    """Take out of a JobSet what its mutating webhook puts in (`trainc.apiserver.jobset.defaults` has the same list)."""
    if spec.get("successPolicy") == {"operator": "All"}:
        del spec["successPolicy"]
    if spec.get("startupPolicy") == {"startupPolicyOrder": "AnyOrder"}:
        del spec["startupPolicy"]
    network = _map(spec, "network")
    for field in ("enableDNSHostnames", "publishNotReadyAddresses"):
        if network.get(field) is True:
            del network[field]
    if "network" in spec and not network:
        del spec["network"]
    for job in _items(spec, "replicatedJobs"):
        inner = _map(_map(job, "template"), "spec")
        if inner.get("completionMode") == "Indexed":
            del inner["completionMode"]
        pod = _map(_map(inner, "template"), "spec")
        if pod.get("restartPolicy") == "OnFailure":
            del pod["restartPolicy"]
    for index, rule in enumerate(_items(_map(spec, "failurePolicy"), "rules")):
        if rule.get("name") == f"failurePolicyRule{index}":
            del rule["name"]
    for policy in _items(spec, "volumeClaimPolicies"):
        if policy.get("retentionPolicy") == {"whenDeleted": "Delete"}:
            del policy["retentionPolicy"]


def _as_job(tree: dict[str, Any]) -> None:
    """Take out of a plain Job what its server makes up: the selector of its pods, and defaults."""
    spec = _map(tree, "spec")
    if spec.get("manualSelector") is not True:
        spec.pop("selector", None)
    _drop(spec, _JOB)
    template = _map(spec, "template")
    if "metadata" in template:
        _without(_map(template, "metadata"), "labels", _LABELS)
        if not template["metadata"]:
            del template["metadata"]
    pod = _map(template, "spec")
    _drop(pod, _POD)
    if pod.get("serviceAccount") == pod.get("serviceAccountName"):
        pod.pop("serviceAccount", None)
    for container in (*_items(pod, "containers"), *_items(pod, "initContainers")):
        _as_container(container)
    for volume in _items(pod, "volumes"):
        for source in _SOURCES:
            if _map(volume, source).get("defaultMode") == _MODE:
                del volume[source]["defaultMode"]


def _as_container(container: dict[str, Any]) -> None:
    _drop(container, _CONTAINER)
    image = str(container.get("image", ""))
    is_latest = "@" not in image and (":" not in image.rpartition("/")[2] or image.endswith(":latest"))
    if container.get("imagePullPolicy") == ("Always" if is_latest else "IfNotPresent"):
        del container["imagePullPolicy"]
    for port in _items(container, "ports"):
        _drop(port, {"protocol": "TCP"})
    for probe in _PROBES:
        _drop(_map(container, probe), _PROBE)
    for variable in _items(container, "env"):
        _drop(_map(_map(variable, "valueFrom"), "fieldRef"), {"apiVersion": "v1"})


def _drop(tree: dict[str, Any], defaults: dict[str, Any]) -> None:
    for key, default in defaults.items():
        if key in tree and tree[key] == default and type(tree[key]) is type(default):
            del tree[key]


def _map(tree: dict[str, Any], key: str) -> dict[str, Any]:
    """The map that a key holds; an empty one, which is nowhere in the tree, for everything else."""
    held = tree.get(key)
    return held if isinstance(held, dict) else {}


def _items(tree: dict[str, Any], key: str) -> list[dict[str, Any]]:
    held = tree.get(key)
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []
