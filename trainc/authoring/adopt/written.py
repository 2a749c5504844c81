"""An object as a person would have written it: without what servers, controllers and delivery tools add."""

from collections.abc import Mapping, Sequence
from typing import Any

from trainc.apiserver.schema.node import SchemaNode, load
from trainc.model.bundle import KEEP
from trainc.model.run import RUN
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
# What servers fill in, in the shape of the spec: of a list it is said of each item.
# Kubernetes for Jobs and their pods (pkg/apis/batch/v1 and core/v1 defaults.go, 1.36):
_PROBE = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
_CONTAINER = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "ports": [{"protocol": "TCP"}],
    **dict.fromkeys(("livenessProbe", "readinessProbe", "startupProbe"), _PROBE),
    "env": [{"valueFrom": {"fieldRef": {"apiVersion": "v1"}}}],
}
_MODE = {"defaultMode": 0o644}
_POD = {
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "volumes": [dict.fromkeys(("configMap", "secret", "downwardAPI", "projected"), _MODE)],
}
_JOB = {
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "manualSelector": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "suspend": False,
    "template": {"spec": _POD},
}
# JobSet's mutating webhook, beside the names of rules (`trainc.apiserver.jobset.defaults` puts the same in):
_JOBSET = {
    "successPolicy": {"operator": "All"},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "replicatedJobs": [
        {"template": {"spec": {"completionMode": "Indexed", "template": {"spec": {"restartPolicy": "OnFailure"}}}}}
    ],
    "volumeClaimPolicies": [{"retentionPolicy": {"whenDeleted": "Delete"}}],
}
_WHOLE = ("successPolicy", "startupPolicy", "retentionPolicy", "securityContext")  # defaults as they stand, or nothing


def applied_by(tree: dict[str, Any]) -> str:
    """The tool that applies an object already, with what it calls its source; empty where no mark says so."""
    metadata = _map(tree, "metadata")
    labels, annotations = _map(metadata, "labels"), _map(metadata, "annotations")
    if tracked := annotations.get("argocd.argoproj.io/tracking-id"):
        return f"Argo CD application {str(tracked).partition(':')[0]}"
    for held, key, words in (
        (labels, "kustomize.toolkit.fluxcd.io/name", "Flux Kustomization"),
        (labels, "helm.toolkit.fluxcd.io/name", "Flux HelmRelease"),
        (annotations, "meta.helm.sh/release-name", "Helm release"),
    ):
        if name := held.get(key):
            return f"{words} {name}"
    return ""


def live(tree: dict[str, Any]) -> dict[str, Any]:
    """An object without what its server keeps of it; defaults stay."""
    kept = {key: _sound(node) for key, node in tree.items() if key != "status"}
    metadata = _map(tree, "metadata")
    kept["metadata"] = {key: _sound(metadata[key]) for key in _KEPT if metadata.get(key) not in (None, {}, "")}
    if kept.get("kind") == "JobSet":  # its name is that of the run already
        _without(kept["metadata"], "annotations", (RUN,))
    for field, prefixes in (("annotations", _ANNOTATIONS), ("labels", _LABELS)):
        _without(kept["metadata"], field, prefixes)
    if (kept.get("apiVersion"), kept.get("kind")) == ("batch/v1", "Job"):
        _as_job(_map(kept, "spec"))
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
        spec = _map(kept, "spec")
        _without_defaults(spec, _JOBSET)
        if spec.get("network") == {}:
            del spec["network"]
        for index, rule in enumerate(_items(_map(spec, "failurePolicy"), "rules")):
            if rule.get("name") == f"failurePolicyRule{index}":
                del rule["name"]
    return kept


def _sound(node: Any) -> Any:
    """A copy without the nulls that Go writes for times, and without maps that say nothing."""
    if isinstance(node, dict):
        out = {key: _sound(child) for key, child in node.items() if not (key == "creationTimestamp" and child is None)}
        return {key: child for key, child in out.items() if not (key in _HOLLOW and child in ({}, None))}
    return [_sound(item) for item in node] if isinstance(node, list) else node


def _without(metadata: dict[str, Any], field: str, prefixes: tuple[str, ...]) -> None:
    kept = {key: text for key, text in _map(metadata, field).items() if not str(key).startswith(prefixes)}
    _put(metadata, field, kept)


def _put(tree: dict[str, Any], field: str, kept: Any) -> None:
    """What is left of a field, which goes where nothing is."""
    if field in tree and kept:
        tree[field] = kept
    else:
        tree.pop(field, None)


def _without_admission(tree: dict[str, Any], flavors: Sequence[dict[str, Any]]) -> None:
    spec = _map(tree, "spec")
    patches = _items(spec, "runtimePatches")
    own = [patch for patch in patches if not str(patch.get("manager", "")).startswith(_MANAGED_BY_QUEUE)]
    if len(own) < len(patches):
        _put(spec, "runtimePatches", own)
    labels = [item for flavor in flavors for item in _map(_map(flavor, "spec"), "nodeLabels").items()]
    tolerations = [each for flavor in flavors for each in _items(_map(flavor, "spec"), "tolerations")]
    jobs = [_map(_map(job, "template"), "spec") for job in _items(spec, "replicatedJobs")]
    for job in [*jobs, spec] if tree.get("kind") in ("JobSet", "Job") else ():
        pod = _map(_map(job, "template"), "spec")
        selector = {key: text for key, text in _map(pod, "nodeSelector").items() if (key, text) not in labels}
        tolerated = [each for each in _items(pod, "tolerations") if each not in tolerations]
        _put(pod, "nodeSelector", selector)
        _put(pod, "tolerations", tolerated)


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


def _without_defaults(tree: dict[str, Any], defaults: Mapping[str, Any]) -> None:
    for key, default in defaults.items():
        if isinstance(default, list):
            for item in _items(tree, key):
                _without_defaults(item, default[0])
        elif isinstance(default, dict) and key not in _WHOLE:
            _without_defaults(_map(tree, key), default)
        elif key in tree and tree[key] == default and type(tree[key]) is type(default):
            del tree[key]


def _as_job(spec: dict[str, Any]) -> None:
    """Take out of a plain Job what its server makes up: the selector of its pods, and defaults."""
    if spec.get("manualSelector") is not True:
        spec.pop("selector", None)
    _without_defaults(spec, _JOB)
    template = _map(spec, "template")
    if "metadata" in template:
        _without(_map(template, "metadata"), "labels", _LABELS)
        if not template["metadata"]:
            del template["metadata"]
    pod = _map(template, "spec")
    if pod.get("serviceAccount") == pod.get("serviceAccountName"):
        pod.pop("serviceAccount", None)
    for container in (*_items(pod, "containers"), *_items(pod, "initContainers")):
        image = str(container.get("image", ""))
        is_latest = "@" not in image and (":" not in image.rpartition("/")[2] or image.endswith(":latest"))
        if container.get("imagePullPolicy") == ("Always" if is_latest else "IfNotPresent"):
            del container["imagePullPolicy"]


def _map(tree: dict[str, Any], key: str) -> dict[str, Any]:
    """The map that a key holds; an empty one, which is nowhere in the tree, for everything else."""
    held = tree.get(key)
    return held if isinstance(held, dict) else {}


def _items(tree: dict[str, Any], key: str) -> list[dict[str, Any]]:
    held = tree.get(key)
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []
