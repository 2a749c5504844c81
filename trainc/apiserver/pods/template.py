"""What the API server says of the pod template of a Job.

Source: k8s.io/kubernetes/pkg/apis/core/validation (ValidatePodTemplateSpec), Kubernetes 1.36.
"""

from collections.abc import Mapping

from trainc.apiserver.pods import amounts, placement, ports, settings
from trainc.apiserver.pods.annotations import annotation_keys, annotation_matches, annotation_settings
from trainc.apiserver.pods.complaints import CONTAINERS, Complaints, Field, fields, items, maps, text
from trainc.apiserver.pods.containers import Context, containers
from trainc.apiserver.pods.volumes import volumes
from trainc.model.tree import Path, Tree, plain, value

_RESTARTS = ("Always", "OnFailure", "Never")
# Small fields that are judged together.
_SMALL = frozenset((
    "activeDeadlineSeconds", "dnsConfig", "dnsPolicy", "hostIPC", "hostNetwork", "hostPID", "hostUsers", "hostname",
    "hostnameOverride", "nodeName", "preemptionPolicy", "priorityClassName", "readinessGates", "resourceClaims",
    "runtimeClassName", "schedulingGates", "schedulingGroup", "serviceAccount", "serviceAccountName",
    "setHostnameAsFQDN", "shareProcessNamespace", "subdomain",
))  # fmt: skip
_SYSTEM_ANNOTATIONS = ("seccomp.", "apparmor.", "scheduler.alpha.", "config.mirror", "pod-deletion-cost")


def _rights(held: Field) -> None:
    from trainc.apiserver.pods.rights import of_pod  # noqa: PLC0415 (most pods ask for no rights)

    of_pod(held)


# Fields that are judged alone.
_PARTS = {
    "affinity": placement.affinity,
    "hostAliases": settings.aliases,
    "overhead": amounts.overhead,
    "securityContext": _rights,
    "tolerations": placement.tolerations,
    "topologySpreadConstraints": placement.spread,
}


def template(
    tree: Tree, path: Path, log: Complaints, claimed: Mapping[str, str], own: Mapping[str, str] | None = None
) -> None:
    """Look at a pod template; `claimed` are the volumes that JobSet adds, `own` its annotations."""
    whole = Field(tree, path, log)
    metadata, pod = fields(tree.get("metadata")), fields(tree.get("spec"))
    # The server leaves `metadata` out of what it prints.
    labels, annotations = (
        Field(plain(metadata.get(name)), (*path, name), log, (*path, "metadata", name))
        for name in ("labels", "annotations")
    )
    labels.labels()
    if "annotations" in metadata:
        annotation_keys(annotations, own)
        if any(mark in key for key in fields(annotations.value) for mark in _SYSTEM_ANNOTATIONS):
            whole_pod = whole["spec"].reading(fields(plain(pod)))
            annotation_settings(annotations, whole_pod.value)
            annotation_matches(annotations.value, whole_pod)
    spec(pod, (*path, "spec"), log, claimed)
    if items(pod.get("ephemeralContainers")):
        whole["spec"]["ephemeralContainers"].forbidden("ephemeral containers not allowed in pod template")


def spec(pod: Tree, path: Path, log: Complaints, claimed: Mapping[str, str]) -> None:
    """Look at the spec of a pod, in a template or not."""
    held = Field(pod, path, log)
    restart = value(pod, "restartPolicy")
    context = Context(pod, volumes(held, claimed), restart if type(restart) is str else "")
    containers(held, context)
    for field, part in _PARTS.items():
        if field in pod:
            part(held[field].reading(plain(pod[field])))
    small = held.reading({field: plain(part) for field, part in pod.items() if field in _SMALL})
    for look in (settings.names, settings.dns, settings.host, settings.gates, settings.claims) if small.value else ():
        look(small)
    held["restartPolicy"].reading(context.restart or None).one_of(_RESTARTS)
    if "nodeSelector" in pod:
        held["nodeSelector"].reading(plain(pod["nodeSelector"])).labels()
    if type(pod.get("resources")) is dict and held["resources"].has("PodLevelResources"):
        amounts.of_pod(held, context.claims)
    every = [container for field in CONTAINERS for container in items(pod.get(field)) if type(container) is dict]
    if "os" in pod or any("windowsOptions" in fields(holder.get("securityContext")) for holder in (pod, *every)):
        from trainc.apiserver.pods import windows  # noqa: PLC0415 (few pods say which system they need)

        plain_pod = held.reading(plain(pod))
        if plain_pod.get("os") is not None:
            windows.system(plain_pod)
        windows.host_process(plain_pod)
    # What a pod shares with its host: ports, and settings of the kernel.
    if any("ports" in container for container in every):
        taking = held.reading(ports.with_ports_alone(pod))
        if small.get("hostNetwork") is True:
            ports.host_network(taking)
        ports.host_ports(taking)
    if (small.get("hostNetwork") or small.get("hostIPC")) and "securityContext" in pod:
        from trainc.apiserver.pods.rights import sysctls_of_host  # noqa: PLC0415 (as for `_rights`)

        sysctls_of_host(small.reading({**small.value, "securityContext": plain(pod["securityContext"])}))
    if log.features.has("EnvFiles"):
        _files(held)


def _files(pod: Field) -> None:
    """Files that hold variables are in an emptyDir of the pod."""
    for container in [one for field in CONTAINERS for one in pod[field].items()]:
        for index, entry in enumerate(items(container.get("env"))):
            if fields(fields(entry).get("valueFrom")).get("fileKeyRef") is None:
                continue
            source = container["env"][index]["valueFrom"]["fileKeyRef"]
            name = source["volumeName"].reading(text(fields(plain(source.value)), "volumeName"))
            volumes = [volume for _, volume in maps(plain(pod.get("volumes"))) if volume.get("name") == name.value]
            if not volumes:
                name.not_found()
            elif volumes[0].get("emptyDir") is None and len(volumes[0]) > 1:
                name.invalid("referenced volume must be of type emptyDir")
