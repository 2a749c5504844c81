"""Objects as the API server hands them to policies: with the defaults of their kind, amounts in their spelling.

Source: pkg/apis/core/v1/defaults.go, pkg/apis/batch/v1/defaults.go, the admission plugins ServiceAccount, Priority and
DefaultTolerationSeconds, Kubernetes 1.34. Of a JobSet its webhook writes back what its Go types hold.

The Jobs and pods that controllers make of a JobSet are the first and the last of each role: what differs between the
others are names, indexes and labels that count them. Source: JobSet's `constructJob` (after v0.12) and the Job
controller of Kubernetes 1.34.
"""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha1
from typing import Any

from trainc.apiserver.jobset.defaults import with_defaults
from trainc.apiserver.jobset.labels import written_labels
from trainc.apiserver.pods.complaints import fields, items
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, given, stamp, value
from trainc.text.object_keys import EXCLUSIVE
from trainc.text.quantity import QuantityError, stored

_BY = "API server default"
UID = "00000000-0000-0000-0000-000000000000"  # stands for one that a server makes
TOKEN = "kube-api-access-00000"  # noqa: S105 (the name of a volume, of which a server makes the end)
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_POD = {
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
    "terminationGracePeriodSeconds": 30,
}
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_JOB = {
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "suspend": False,
    "podReplacementPolicy": "TerminatingOrFailed",
}
_SERVICE = {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"}
_MODES = ("secret", "configMap", "downwardAPI", "projected")
_TOKEN = {
    "defaultMode": 420,
    "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "downwardAPI": {
                "items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]
            }
        },
    ],
}
_MOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_PREFIX = "jobset.sigs.k8s.io/"
_INDEX = "batch.kubernetes.io/job-completion-index"
_BY_SELECTOR = "alpha.jobset.sigs.k8s.io/node-selector"
_BY_JOBSET = Origin(None, "JobSet controller")
_TRACKING = "batch.kubernetes.io/job-tracking"


def _with(tree: Tree, defaults: dict[str, Any]) -> dict[str, Tree]:
    held = fields(tree)
    return {**held, **{key: stamp(content, _BY) for key, content in defaults.items() if key not in held}}


def _each(holder: dict[str, Tree], field: str, change: Callable[[dict[str, Tree]], Tree]) -> None:
    """Change the maps of a list, where there is one."""
    if type(holder.get(field)) is list:
        holder[field] = [change(one) if type(one) is dict else one for one in holder[field]]


def with_amounts(tree: Tree) -> Tree:
    """An object whose amounts are spelled as Go writes them, and whose containers have `resources`."""
    if type(tree) is list:
        return [with_amounts(item) for item in tree]
    if type(tree) is not dict:
        return tree
    out: dict[str, Tree] = {}
    for key, node in tree.items():
        if key == "resources" and type(node) is dict:
            out[key] = dict(node)
            for side in ("limits", "requests"):
                if type(node.get(side)) is dict:
                    out[key][side] = {name: _amount(held) for name, held in node[side].items()}
        else:
            out[key] = with_amounts(node)
            if key in _CONTAINERS:
                _each(out, key, lambda one: _with(one, {"resources": {}}))
    return out


def _amount(held: Tree) -> Tree:
    if type(held) is not Sourced or type(held.value) is bool:
        return held
    try:
        return held.map(lambda written: stored(written if type(written) is str else repr(written)))
    except QuantityError:
        return held


def stored_job(tree: Tree) -> Tree:
    """A Job with its defaults; its template has those of pods."""
    spec = get(tree, "spec")
    if type(spec) is not dict:
        return tree
    spec = _with(spec, _JOB)
    if "completions" not in spec and "parallelism" not in spec:
        spec = _with(spec, {"completions": 1})
    pods = fields(spec.get("template"))
    spec = {**_with(spec, {"parallelism": 1}), "template": {**pods, "spec": pod_spec(pods.get("spec"))}}
    return {**tree, "spec": spec, "status": {}}


def pod_spec(tree: Tree) -> Tree:
    """The spec of a pod or of its template with its defaults."""
    spec = _with(with_amounts(tree), {**_POD, "securityContext": {}, "enableServiceLinks": True})
    on_host = value(spec, "hostNetwork") is True
    for field in _CONTAINERS:
        _each(spec, field, lambda one: _container(one, on_host=on_host))
    _each(spec, "volumes", _volume)
    name = spec.get("serviceAccountName")
    return spec if name is None else {**spec, "serviceAccount": name}


def _container(tree: Tree, *, on_host: bool) -> Tree:
    image = value(tree, "image")
    _, colon, tag = str(image).rpartition("/")[2].partition(":")
    is_moving = type(image) is str and "@" not in image and (not colon or tag == "latest")
    defaults: dict[str, Any] = {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always" if is_moving else "IfNotPresent",
        "resources": {},
    }
    out = _with(tree, defaults)
    limits, requests = get(out, "resources", "limits"), get(out, "resources", "requests")
    if type(limits) is dict:
        out["resources"] = {**out["resources"], "requests": {**limits, **fields(requests)}}
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if type(out.get(probe)) is dict:
            out[probe] = _with(out[probe], _PROBE)

    def port(held: dict[str, Tree]) -> Tree:
        number = {"hostPort": held["containerPort"]} if on_host and "containerPort" in held else {}
        return _with(held, {"protocol": "TCP", **number})

    _each(out, "ports", port)
    return out


def _volume(volume: dict[str, Tree]) -> Tree:
    kinds: dict[str, dict[str, Any]] = {**{mode: {"defaultMode": 420} for mode in _MODES}, "hostPath": {"type": ""}}
    return {
        kind: _with(held, kinds[kind]) if kind in kinds and type(held) is dict else held
        for kind, held in volume.items()
    }


def stored_pod(tree: Tree) -> Tree:
    """A pod with its defaults, and with what admission adds to it before it asks the policies."""
    spec = _with(pod_spec(get(tree, "spec")), {"serviceAccountName": "default", "serviceAccount": "default"})
    if "priorityClassName" in spec:
        spec = _with(spec, {"priority": UID, "preemptionPolicy": UID})  # its class says them
    else:
        spec = _with(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    held = items(spec.get("tolerations"))
    spec["tolerations"] = list(held)
    for name in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{name}"
        if not any(
            value(one, "key") in (key, None, "") and value(one, "effect") in ("NoExecute", None, "") for one in held
        ):
            added = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            spec["tolerations"].append(stamp(added, _BY))
    if value(spec, "automountServiceAccountToken") is not False:
        # The volume of the service account's token, whose name the server generates.
        spec["volumes"] = [*items(spec.get("volumes")), stamp({"name": TOKEN, "projected": _TOKEN}, _BY)]
        for field in ("initContainers", "containers"):
            _each(spec, field, _with_token)
    return {**tree, "spec": spec, "status": stamp({"phase": "Pending"}, _BY)}


def _with_token(container: dict[str, Tree]) -> Tree:
    mounts = items(container.get("volumeMounts"))
    if any(value(held, "mountPath") == _MOUNT for held in mounts):
        return container
    mount = stamp({"name": TOKEN, "readOnly": True, "mountPath": _MOUNT}, _BY)
    return {**container, "volumeMounts": [*mounts, mount]}


def stored_service(tree: Tree) -> Tree:
    """A Service with its defaults."""
    spec = _with(get(tree, "spec"), _SERVICE)

    def port(held: dict[str, Tree]) -> Tree:
        return _with(held, {"protocol": "TCP", "targetPort": held["port"]}) if "port" in held else held

    _each(spec, "ports", port)
    return {**tree, "spec": spec, "status": stamp({"loadBalancer": {}}, _BY)}


def children(jobset: Tree) -> Iterator[Tree]:
    """The Jobs and pods of a JobSet, with their defaults."""
    tree = with_defaults(jobset)
    roles = items(tree["spec"].get("replicatedJobs"))
    for role, labels in zip(roles, written_labels(tree) if roles else (), strict=True):
        replicas = value(role, "replicas")
        count = replicas if type(replicas) is int else 1
        for index in sorted({0, count - 1}) if count > 0 else ():
            made = _job(tree, role, index, labels)
            yield stored_job(made)
            yield from pods(made)


def pods(job: Tree) -> Iterator[Tree]:
    """The first and the last pod of a Job."""
    spec = stored_job(job)["spec"]
    indexed = value(spec, "completionMode") == "Indexed"
    width, wanted = value(spec, "parallelism"), value(spec, "completions")
    count = wanted if type(wanted) is int else width if type(width) is int else 1
    if type(width) is int and width < 1:
        return
    for index in sorted({0, count - 1}) if indexed and count > 0 else (None,):
        yield stored_pod(_pod(job, index))


def _text(word: object) -> Sourced[str]:
    return Sourced(str(word), _BY_JOBSET)


def _job(tree: Tree, role: Tree, index: int, labels: Mapping[str, str]) -> Tree:
    metadata = tree["metadata"]
    template = fields(role.get("template"))
    spec = dict(fields(template.get("spec")))
    inner = fields(spec.get("template"))
    name = f"{value(metadata, 'name')}-{value(role, 'name')}-{index}"
    own = _labels(tree, index, name, labels)
    outer = fields(template.get("metadata"))
    placed = {**fields(metadata.get("annotations")), **fields(outer.get("annotations"))}
    marks = {EXCLUSIVE: placed[EXCLUSIVE]} if EXCLUSIVE in placed else {}
    pod = dict(fields(inner.get("spec")))
    if EXCLUSIVE in placed and _BY_SELECTOR in placed:
        where = _text(f"{value(metadata, 'namespace') or 'default'}_{name}")
        pod["nodeSelector"] = {**fields(pod.get("nodeSelector")), "alpha.jobset.sigs.k8s.io/namespaced-job": where}
    if value(tree, "spec", "network", "enableDNSHostnames") is not False:
        pod["subdomain"] = given(get(tree, "spec", "network", "subdomain"), metadata["name"])
    _add_claims(tree, pod)
    spec["template"] = {"metadata": _metadata(inner.get("metadata"), own, marks), "spec": pod}
    spec["suspend"] = given(get(tree, "spec", "suspend"), Sourced(False, _BY_JOBSET))
    return {
        "apiVersion": _text("batch/v1"),
        "kind": _text("Job"),
        "metadata": {
            "name": Sourced(name, metadata["name"].source),
            **({"namespace": metadata["namespace"]} if "namespace" in metadata else {}),
            **_metadata(outer, own, marks),
            "ownerReferences": [_owner("jobset.x-k8s.io/v1alpha2", "JobSet", value(metadata, "name"))],
        },
        "spec": spec,
    }


def _owner(api_version: str, kind: str, name: object) -> Tree:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "controller": True, "blockOwnerDeletion": True}
    return stamp({**owner, "uid": UID}, _BY)


def _metadata(written: Tree, own: dict[str, Tree], marks: dict[str, Tree]) -> dict[str, Tree]:
    return {
        "labels": {**fields(fields(written).get("labels")), **own},
        "annotations": {**fields(fields(written).get("annotations")), **own, **marks},
    }


def _labels(tree: Tree, index: int, name: str, first: Mapping[str, str]) -> dict[str, Tree]:
    """What JobSet writes on a Job and its pods, both as labels and as annotations; `first` are those of Job 0."""
    metadata = tree["metadata"]
    key = f"{value(metadata, 'namespace') or 'default'}/{name}"
    words: dict[str, object] = {label.removeprefix(_PREFIX): text for label, text in first.items()}
    words |= {word: int(first[_PREFIX + word]) + index for word in ("job-index", "job-global-index", "job-group-index")}
    words |= {"jobset-uid": UID, "job-key": sha1(key.encode(), usedforsecurity=False).hexdigest()}
    chosen = get(tree, "spec", "coordinator")
    if type(chosen) is dict:
        parts = (value(chosen, "replicatedJob"), value(chosen, "jobIndex") or 0, value(chosen, "podIndex") or 0)
        domain = value(tree, "spec", "network", "subdomain") or value(metadata, "name")
        words["coordinator"] = f"{value(metadata, 'name')}-{parts[0]}-{parts[1]}-{parts[2]}.{domain}"
    return {f"{_PREFIX}{word}": _text(content) for word, content in words.items()}


def _add_claims(tree: Tree, pod: dict[str, Tree]) -> None:
    containers = [one for field in ("initContainers", "containers") for one in pod.get(field) or ()]
    mounted = {value(mount, "name") for one in containers for mount in one.get("volumeMounts") or ()}
    for policy in get(tree, "spec", "volumeClaimPolicies") or ():
        for template in policy.get("templates") or ():
            name = value(template, "metadata", "name")
            if name in mounted:
                claim = stamp({"claimName": f"{name}-{value(tree, 'metadata', 'name')}"}, _BY)
                added = {"name": _text(name), "persistentVolumeClaim": claim}
                pod["volumes"] = [*(pod.get("volumes") or ()), added]


def _pod(job: Tree, index: int | None) -> Tree:
    template, name = fields(get(job, "spec", "template")), value(job, "metadata", "name")
    labels = {**fields(get(template, "metadata", "labels"))}
    annotations = {**fields(get(template, "metadata", "annotations"))}
    labels |= {key: _text(name) for key in ("batch.kubernetes.io/job-name", "job-name")}
    spec = dict(fields(template.get("spec")))
    generated = f"{name}-"
    if index is not None:
        generated = f"{name}-{index}-"
        labels[_INDEX] = annotations[_INDEX] = _text(index)
        spec["hostname"] = _text(f"{name}-{index}")
        for field in ("initContainers", "containers"):
            _each(spec, field, _with_index)
    metadata: dict[str, Any] = {
        "generateName": _text(generated),
        **({"namespace": job["metadata"]["namespace"]} if "namespace" in job["metadata"] else {}),
        "labels": labels,
        **({"annotations": annotations} if annotations else {}),
        "finalizers": [_text(_TRACKING)],
        "ownerReferences": [_owner("batch/v1", "Job", name)],
    }
    return {"apiVersion": _text("v1"), "kind": _text("Pod"), "metadata": metadata, "spec": spec}


def _with_index(container: dict[str, Tree]) -> Tree:
    env = container.get("env") or []
    if any(value(one, "name") == "JOB_COMPLETION_INDEX" for one in env):
        return container
    field = {"apiVersion": "v1", "fieldPath": f"metadata.labels['{_INDEX}']"}
    variable = stamp({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": field}}, _BY)
    return {**container, "env": [*env, variable]}
