"""The pods of a MiniCluster as people wrote them, without what Flux needs (Flux Operator 0.2.1)."""

from operator import itemgetter

from trainc.apiserver.normalise import normalise
from trainc.kinds.shared.former_hosts import FormerHosts
from trainc.model.document import Document
from trainc.model.sourced import Sourced
from trainc.model.tree import Tree, get, given, stamp, value
from trainc.text.object_keys import JOBSET_NAME

BY = "MiniCluster"
_COPIED = ("serviceAccountName", "nodeSelector", "schedulerName", "runtimeClassName", "dnsPolicy", "hostIPC", "hostPID")
_DEFAULT_IMAGE = "ghcr.io/rse-ops/accounting:app-latest"


def runner_of(spec: Tree) -> tuple[int, Tree]:
    """The container that runs Flux, and its place: the only one, or the one that says so."""
    containers = spec["containers"]
    for index, container in enumerate(containers):
        if len(containers) == 1 or value(container, "runFlux") is True:
            return index, container
    return 0, containers[0]


def text_of(container: Tree, *path: str) -> str:
    """A text of a container without the blanks around it, empty where it has none."""
    text = value(container, *path)
    return text.strip() if type(text) is str else ""


def pod_template(document: Document, name: Sourced[str], hosts: FormerHosts) -> Tree:
    """The template of the cluster's pods: labels, placement, containers and their volumes; `name` is the JobSet's."""
    spec = document.tree["spec"]
    pod = spec.get("pod") or {}
    runner, _ = runner_of(spec)
    containers = [
        _container(container, document.tree["metadata"]["name"] if index == runner else None)
        for index, container in enumerate(spec["containers"])
    ]
    out: dict[str, Tree] = {
        "restartPolicy": given(pod.get("restartPolicy"), "OnFailure"),
        "automountServiceAccountToken": given(pod.get("automountServiceAccountToken"), False),
        **{field: pod[field] for field in _COPIED if field in pod},
        "containers": containers,
    }
    out.update(_placement(spec, name))
    pulls = [container.get("imagePullSecret") for container in spec["containers"]]
    volumes = {
        name: {"name": name, **_source(volume)}
        for container in spec["containers"]
        for name, volume in by_key(container.get("volumes"))
    }
    group = get(pod, "securityContext", "fsGroup")
    more = {
        "shareProcessNamespace": spec.get("shareProcessNamespace"),
        "tolerations": pod.get("tolerations"),
        "overhead": pod.get("resources"),
        "securityContext": {"fsGroup": group} if group is not None else None,
        "imagePullSecrets": [{"name": name} for name in pulls if type(name) is Sourced and name.value] or None,
        "volumes": list(volumes.values()) or None,
    }
    out.update({field: node for field, node in more.items() if node is not None})
    metadata = {field: pod[field] for field in ("labels", "annotations") if pod.get(field)}
    return normalise({**({"metadata": metadata} if metadata else {}), "spec": hosts.pod(stamp(out, BY))}, "template")


def _container(container: Tree, name: Tree) -> Tree:
    policy = given(container.get("imagePullPolicy"), "IfNotPresent")
    out: dict[str, Tree] = {
        "name": given(name, container.get("name")),
        "image": given(container.get("image"), _DEFAULT_IMAGE),
        "imagePullPolicy": "Always" if value(container, "pullAlways") is True else policy,
    }
    for field in ("workingDir", "resources", "securityContext"):
        if field in container:
            out[field] = container[field]
    env = [{"name": name, "value": text} for name, text in by_key(container.get("environment"))]
    for variable, secret in by_key(container.get("secrets")):
        env.append({"name": variable, "valueFrom": {"secretKeyRef": {"name": secret["name"], "key": secret["key"]}}})
    if env:
        out["env"] = env
    if container.get("ports"):
        out["ports"] = [{"containerPort": port, "protocol": "TCP"} for port in container["ports"]]
    mounts = [_mount(name, volume) for name, volume in by_key(container.get("volumes"))]
    if mounts:
        out["volumeMounts"] = mounts
    hooks = {
        hook: {"exec": {"command": ["/bin/sh", "-c", text]}}
        for hook, field in (("postStart", "postStartExec"), ("preStop", "preStopExec"))
        if (text := get(container, "lifeCycle", field)) is not None
    }
    return {**out, **({"lifecycle": hooks} if hooks else {})}


def by_key(tree: Tree) -> list[tuple[str, Tree]]:
    """A map by its keys: the operator's has no order, and a file with sorted keys is the same job."""
    return sorted((tree or {}).items(), key=itemgetter(0))


def _mount(name: str, volume: Tree) -> Tree:
    if value(volume, "emptyDir") is True:
        return {"name": name, "mountPath": "/dev/shm"}  # noqa: S108 (where the operator mounts every such folder)
    read_only = {"readOnly": True} if value(volume, "readOnly") is True else {}
    return {"name": name, "mountPath": volume["path"], **read_only}


def _source(volume: Tree) -> Tree:
    """What a volume is made of, the first that is said in the operator's order."""
    if value(volume, "csiDriver"):
        attributes = volume.get("csiDriverAttributes")
        more = {"volumeAttributes": attributes} if attributes else {}
        return {"csi": {"driver": volume["csiDriver"], **more}}
    if value(volume, "secretName"):
        return {"secret": {"secretName": volume["secretName"]}}
    if value(volume, "emptyDir") is True:
        medium = {"medium": "Memory"} if value(volume, "emptyDirMedium") == "memory" else {}
        limit = volume.get("emptyDirSizeLimit")
        return {"emptyDir": {**medium, **({} if limit is None else {"sizeLimit": limit})}}
    if value(volume, "hostPath"):
        return {"hostPath": {"path": volume["hostPath"], "type": "Directory"}}
    if value(volume, "configMapName"):
        items = [{"key": key, "path": path} for key, path in by_key(volume.get("items"))]
        return {"configMap": {"name": volume["configMapName"], **({"items": items} if items else {})}}
    return {"persistentVolumeClaim": {"claimName": volume["claimName"]}}


def _placement(spec: Tree, name: Sourced[str]) -> dict[str, Tree]:
    """One pod on a node and all in a zone, as far as it can be done; and the nodes that people chose."""
    if value(spec, "network", "disableAffinity") is True:
        return {}
    term = {"matchExpressions": [{"key": JOBSET_NAME, "operator": "In", "values": [name]}]}

    def preferred(topology: str) -> Tree:
        inner = {"labelSelector": term, "topologyKey": topology}
        return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": inner}]}

    out = {
        "podAffinity": preferred("topology.kubernetes.io/zone"),
        "podAntiAffinity": preferred("kubernetes.io/hostname"),
    }
    if labels := get(spec, "pod", "nodeAffinity"):
        wanted = [{"key": key, "operator": "In", "values": values} for key, values in labels.items()]
        terms = {"nodeSelectorTerms": [{"matchExpressions": wanted}]}
        out["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return {"affinity": out}
