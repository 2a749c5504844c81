"""What the API server says of the pod template of a Job.

Source: k8s.io/kubernetes/pkg/apis/core/validation (ValidatePodTemplateSpec), Kubernetes 1.36.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainc.apiserver.pods import amounts, placement, ports, settings
from trainc.apiserver.pods.annotations import annotation_keys, annotation_matches, annotation_settings
from trainc.apiserver.pods.complaints import CONTAINERS, Complaints, fields, items, maps, text
from trainc.apiserver.pods.containers import Context, containers
from trainc.apiserver.pods.volumes import Volumes, volumes
from trainc.model.tree import Path, Tree, plain, value
from trainc.text.record import Any

_RESTARTS = ("Always", "OnFailure", "Never")


def _rights(tree: Any, path: Path, log: Complaints) -> None:
    from trainc.apiserver.pods.rights import of_pod  # noqa: PLC0415 (most pods ask for no rights)

    of_pod(tree, path, log)


# Fields that are judged alone.
_PARTS = {
    "affinity": placement.affinity,
    "hostAliases": settings.aliases,
    "overhead": amounts.overhead,
    "securityContext": _rights,
    "tolerations": placement.tolerations,
    "topologySpreadConstraints": placement.spread,
}
# Small fields that are judged together.
_SETTINGS = (
    (settings.names, frozenset((
        "hostname", "hostnameOverride", "nodeName", "priorityClassName", "runtimeClassName", "serviceAccount",
        "serviceAccountName", "subdomain",
    ))),
    (settings.dns, frozenset(("dnsConfig", "dnsPolicy"))),
    (settings.host, frozenset(("hostUsers", "shareProcessNamespace"))),
    (settings.gates, frozenset((
        "activeDeadlineSeconds", "preemptionPolicy", "readinessGates", "schedulingGates", "schedulingGroup",
    ))),
    (settings.claims, frozenset(("resourceClaims",))),
)  # fmt: skip
# What those are judged by besides.
_SMALL = frozenset(("hostIPC", "hostNetwork", "hostPID", "setHostnameAsFQDN")).union(*[own for _, own in _SETTINGS])
_SYSTEM_ANNOTATIONS = ("seccomp.", "apparmor.", "scheduler.alpha.", "config.mirror", "pod-deletion-cost")


def template(
    tree: Tree, path: Path, log: Complaints, claimed: Mapping[str, str], own: Mapping[str, str] | None = None
) -> Volumes:
    """Look at a pod template; `claimed` are the volumes that JobSet adds, `own` its annotations.

    Gives the volumes that can be mounted.
    """
    metadata, pod = fields(tree.get("metadata")), fields(tree.get("spec"))
    at: Path = (*path, "metadata")
    if "labels" in metadata:
        log.labels((*path, "labels"), plain(metadata["labels"]), at=(*at, "labels"))
    if "annotations" in metadata:
        held = fields(plain(metadata["annotations"]))
        annotation_keys(held, (*path, "annotations"), log, at=(*at, "annotations"), own=own)
        if any(mark in key for key in held for mark in _SYSTEM_ANNOTATIONS):
            whole_pod = fields(plain(pod))
            annotation_settings(held, whole_pod, (*path, "annotations"), (*at, "annotations"), log)
            annotation_matches(held, whole_pod, (*path, "spec"), log)
    known = spec(pod, (*path, "spec"), log, claimed)
    if items(pod.get("ephemeralContainers")):
        log.forbidden((*path, "spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template")
    return known


def spec(pod: Tree, path: Path, log: Complaints, claimed: Mapping[str, str]) -> Volumes:
    """Look at the spec of a pod, in a template or not."""
    restart = value(pod, "restartPolicy")
    known = volumes(pod, path, log, claimed)
    context = Context(pod, known, restart if type(restart) is str else "")
    containers(pod, path, context, log)
    for field, part in _PARTS.items():
        if field in pod:
            part(plain(pod[field]), (*path, field), log)
    small = {field: plain(part) for field, part in pod.items() if field in _SMALL}
    for look, judged in _SETTINGS:
        if not judged.isdisjoint(small):
            look(small, path, log)
    if type(restart) is str and restart:
        log.one_of((*path, "restartPolicy"), restart, _RESTARTS)
    if "nodeSelector" in pod:
        log.labels((*path, "nodeSelector"), plain(pod["nodeSelector"]))
    if type(pod.get("resources")) is dict and log.has("PodLevelResources", (*path, "resources")):
        from trainc.apiserver.pods.whole import resources  # noqa: PLC0415 (few pods have resources of their own)

        resources(pod, path, context.claims, log)
    if "os" in pod or _has_windows(pod):
        from trainc.apiserver.pods import windows  # noqa: PLC0415 (few pods say which system they need)

        plain_pod = fields(plain(pod))
        if plain_pod.get("os") is not None:
            windows.system(plain_pod, path, log)
        windows.host_process(plain_pod, path, log)
    # What a pod shares with its host: ports, and settings of the kernel.
    listed = [*items(pod.get("containers")), *items(pod.get("initContainers"))]
    if any("ports" in container for container in listed if type(container) is dict):
        taking = ports.with_ports_alone(pod)
        if small.get("hostNetwork") is True:
            ports.host_network(taking, path, log)
        ports.host_ports(taking, path, log)
    if (small.get("hostNetwork") or small.get("hostIPC")) and "securityContext" in pod:
        from trainc.apiserver.pods.rights import sysctls_of_host  # noqa: PLC0415 (as for `_rights`)

        sysctls_of_host({**small, "securityContext": plain(pod["securityContext"])}, path, log)
    _files(pod, path, log)
    return known


def _has_windows(pod: Tree) -> bool:
    holders = [pod, *(container for field in CONTAINERS for container in items(pod.get(field)))]
    contexts = [holder.get("securityContext") for holder in holders if type(holder) is dict]
    return any(type(context) is dict and "windowsOptions" in context for context in contexts)


def _files(pod: Tree, path: Path, log: Complaints) -> None:
    """Files that hold variables are in an emptyDir of the pod."""
    if not log.features.has("EnvFiles"):
        return
    for field in CONTAINERS:
        for index, container in enumerate(items(pod.get(field))):
            for number, entry in enumerate(items(fields(container).get("env"))):
                source = fields(fields(entry).get("valueFrom")).get("fileKeyRef")
                if source is not None:
                    at: Path = (*path, field, index, "env", number, "valueFrom", "fileKeyRef", "volumeName")
                    _file(text(fields(plain(source)), "volumeName"), pod, at, log)


def _file(name: str, pod: Tree, path: Path, log: Complaints) -> None:
    mounted = next((volume for _, volume in maps(plain(pod.get("volumes"))) if volume.get("name") == name), None)
    if mounted is None:
        log.not_found(path, name)
    elif mounted.get("emptyDir") is None and len(mounted) > 1:
        log.invalid(path, name, "referenced volume must be of type emptyDir")
