"""Objects as the API server hands them to policies: with the defaults of their kind, amounts in their spelling.

Source: pkg/apis/core/v1/defaults.go, pkg/apis/batch/v1/defaults.go, the admission plugins ServiceAccount, Priority and
DefaultTolerationSeconds, Kubernetes 1.34. Of a JobSet its webhook writes back what its Go types hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trainc.apiserver.pods.complaints import fields, items
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import get, value
from trainc.text.quantity import QuantityError, stored

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trainc.model.tree import Tree

_BY = Origin(None, "API server default")
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


def leaf(content: Any) -> Tree:
    """A tree of values that the server writes."""
    if type(content) is dict:
        return {key: leaf(inner) for key, inner in content.items()}
    if type(content) is list:
        return [leaf(inner) for inner in content]
    return content if type(content) is Sourced else Sourced(content, _BY)


def _with(tree: Tree, defaults: dict[str, Any]) -> dict[str, Tree]:
    held = fields(tree)
    return {**held, **{key: leaf(content) for key, content in defaults.items() if key not in held}}


def with_amounts(tree: Tree) -> Tree:
    """An object whose amounts are spelled as Go writes them, and whose containers have `resources`."""
    if type(tree) is list:
        return [with_amounts(item) for item in tree]
    if type(tree) is not dict:
        return tree
    out: dict[str, Tree] = {}
    for key, node in tree.items():
        if key == "resources" and type(node) is dict:
            out[key] = {side: _spelled(held) if side in ("limits", "requests") else held for side, held in node.items()}
        elif key in _CONTAINERS and type(node) is list:
            out[key] = [_with(with_amounts(one), {"resources": {}}) if type(one) is dict else one for one in node]
        else:
            out[key] = with_amounts(node)
    return out


def _spelled(amounts: Tree) -> Tree:
    if type(amounts) is not dict:
        return amounts
    return {name: _amount(held) for name, held in amounts.items()}


def _amount(held: Tree) -> Tree:
    if type(held) is not Sourced or type(held.value) is bool:
        return held
    try:
        return held.map(lambda written: stored(written if type(written) is str else repr(written)))
    except QuantityError:
        return held


def job(tree: Tree) -> Tree:
    """A Job with its defaults; its template has those of pods."""
    spec = get(tree, "spec")
    if type(spec) is not dict:
        return tree
    spec = _with(spec, _JOB)
    if "completions" not in spec and "parallelism" not in spec:
        spec = _with(spec, {"completions": 1})
    template = spec.get("template")
    pods = fields(template)
    spec = {**_with(spec, {"parallelism": 1}), "template": {**pods, "spec": pod_spec(pods.get("spec"))}}
    return {**tree, "spec": spec, "status": {}}


def pod_spec(tree: Tree) -> Tree:
    """The spec of a pod or of its template with its defaults."""
    spec = _with(with_amounts(tree), {**_POD, "securityContext": {}, "enableServiceLinks": True})
    for field in _CONTAINERS:
        if type(spec.get(field)) is list:
            spec[field] = [_container(one, spec) for one in spec[field]]
    if type(spec.get("volumes")) is list:
        spec["volumes"] = [_volume(one) for one in spec["volumes"]]
    name = spec.get("serviceAccountName")
    return spec if name is None else {**spec, "serviceAccount": name}


def _container(tree: Tree, spec: Tree) -> Tree:
    if type(tree) is not dict:
        return tree
    image = value(tree, "image")
    defaults: dict[str, Any] = {
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always" if _is_moving(image) else "IfNotPresent",
        "resources": {},
    }
    out = _with(tree, defaults)
    limits, requests = get(out, "resources", "limits"), get(out, "resources", "requests")
    if type(limits) is dict:
        both = {**limits, **fields(requests)}
        out["resources"] = {**out["resources"], "requests": both}
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if type(out.get(probe)) is dict:
            out[probe] = _with(out[probe], _PROBE)
    if type(out.get("ports")) is list:
        on_host = value(spec, "hostNetwork") is True
        out["ports"] = [_port(port, on_host=on_host) for port in out["ports"]]
    return out


def _is_moving(image: object) -> bool:
    """Whether a kubelet asks for the image each time: one without a tag, or with `latest`."""
    if type(image) is not str or "@" in image:
        return False
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return not colon or tag == "latest"


def _port(port: Tree, *, on_host: bool) -> Tree:
    if type(port) is not dict:
        return port
    number = {"hostPort": port["containerPort"]} if on_host and "containerPort" in port else {}
    return _with(port, {"protocol": "TCP", **number})


def _volume(volume: Tree) -> Tree:
    if type(volume) is not dict:
        return volume
    out = dict(volume)
    for kind in _MODES:
        if type(out.get(kind)) is dict:
            out[kind] = _with(out[kind], {"defaultMode": 420})
    if type(out.get("hostPath")) is dict:
        out["hostPath"] = _with(out["hostPath"], {"type": ""})
    return out


def pod(tree: Tree) -> Tree:
    """A pod with its defaults, and with what admission adds to it before it asks the policies."""
    spec = _with(pod_spec(get(tree, "spec")), {"serviceAccountName": "default", "serviceAccount": "default"})
    if "priorityClassName" in spec:
        spec = _with(spec, {"priority": UID, "preemptionPolicy": UID})  # its class says them
    else:
        spec = _with(spec, {"priority": 0, "preemptionPolicy": "PreemptLowerPriority"})
    spec["tolerations"] = [*items(spec.get("tolerations")), *_tolerated(items(spec.get("tolerations")))]
    if value(spec, "automountServiceAccountToken") is not False:
        spec = _with_token(spec)
    return {**tree, "spec": spec, "status": leaf({"phase": "Pending"})}


def _tolerated(held: Iterable[Tree]) -> list[Tree]:
    """The tolerations that DefaultTolerationSeconds adds."""
    added = []
    for name in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{name}"
        if not any(
            value(one, "key") in (key, None, "") and value(one, "effect") in ("NoExecute", None, "") for one in held
        ):
            added.append(leaf({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}))
    return added


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


def _with_token(spec: dict[str, Tree]) -> dict[str, Tree]:
    """The volume of the service account's token, whose name the server generates."""
    out = {**spec, "volumes": [*items(spec.get("volumes")), leaf({"name": TOKEN, "projected": _TOKEN})]}
    mount = leaf({"name": TOKEN, "readOnly": True, "mountPath": _MOUNT})
    for field in ("initContainers", "containers"):
        if type(out.get(field)) is list:
            out[field] = [
                {**one, "volumeMounts": [*items(one.get("volumeMounts")), mount]}
                if type(one) is dict
                and all(value(held, "mountPath") != _MOUNT for held in items(one.get("volumeMounts")))
                else one
                for one in out[field]
            ]
    return out


def service(tree: Tree) -> Tree:
    """A Service with its defaults."""
    spec = _with(get(tree, "spec"), _SERVICE)
    ports = [
        _with(port, {"protocol": "TCP", "targetPort": port["port"]}) if type(port) is dict and "port" in port else port
        for port in items(spec.get("ports"))
    ]
    return {**tree, "spec": {**spec, **({"ports": ports} if ports else {})}, "status": leaf({"loadBalancer": {}})}
