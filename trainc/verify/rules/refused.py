"""What pod validation says about the rare fields of pods and containers (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.model.tree import get, plain
from trainc.schema.pods import amounts, containers, placement, settings, variables, volumes
from trainc.schema.pods.said import Said, fields
from trainc.verify.refusal import lost_mounts, refused
from trainc.verify.values import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from trainc.model.tree import Path
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

REFUSED = Rule(
    "pod-template-refused",
    ERROR,
    "a pod template that no pod can be made from",
    "JobSet does not look into pod templates: the mistake shows only as events of a Job that cannot make pods.",
)
# What looks at one field alone.
_POD = {
    "affinity": placement.affinity,
    "hostAliases": settings.aliases,
    "securityContext": settings.rights,
    "tolerations": placement.tolerations,
    "topologySpreadConstraints": placement.spread,
    "volumes": volumes.volumes,
}
_CONTAINER = {
    "env": variables.sources,
    "envFrom": variables.whole,
    "ports": containers.ports,
    "resources": amounts.resources,
    "restartPolicy": containers.restart_policy,
    "securityContext": settings.rights,
    "terminationMessagePolicy": containers.termination_message,
}
_SMALL = (
    "dnsConfig",
    "dnsPolicy",
    "ephemeralContainers",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostUsers",
    "hostnameOverride",
    "nodeName",
    "os",
    "preemptionPolicy",
    "readinessGates",
    "resourceClaims",
    "runtimeClassName",
    "serviceAccountName",
    "shareProcessNamespace",
    "terminationGracePeriodSeconds",
)
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def refused_pod_template(job: Job) -> None:
    for role in job.roles:
        said = Said()
        _pod(role, said)
        broken: set[Path] = set()
        for fault in said.faults:
            volume = fault.path[: len(role.pod_path) + 2]
            more: tuple[str, ...] = ()
            if "volumes" in volume and volume not in broken:
                broken.add(volume)
                more = lost_mounts(role, text(get(role.pod, *volume[-2:]), "name"))
            refused(job, REFUSED, fault.path, fault.message, more)


def _pod(role: Role, said: Said) -> None:
    path = role.pod_path
    for field, look in _POD.items():
        if field in role.pod:
            look(plain(role.pod[field]), (*path, field), said)
    pod = {field: plain(role.pod[field]) for field in _SMALL if field in role.pod}
    for part in (settings.names, settings.dns, settings.host, settings.gates, settings.claims):
        part(pod, path, said)
    trees: list[tuple[Path, dict[str, Any]]] = []
    for container in role.containers:
        tree = fields(plain(container.tree))
        _container(container, tree, pod, said)
        if container.kind != "init container":
            trees.append((container.path, tree))
    _same_names(role, said)
    containers.host_ports(trees, said, host_network=pod.get("hostNetwork") is True)


def _same_names(role: Role, said: Said) -> None:
    """Containers that start first have names of their own."""
    names = {container.name for container in role.main}
    for container in role.containers:
        if container not in role.main and container.name in names:
            said.add((*container.path, "name"), f'Duplicate value: "{container.name}"', container.name)
        names.add(container.name)


def _container(container: Container, tree: dict[str, Any], pod: dict[str, Any], said: Said) -> None:
    path = container.path
    for field, look in _CONTAINER.items():
        if field in tree:
            look(tree[field], (*path, field), said)
    privileged = fields(tree.get("securityContext")).get("privileged") is True
    volumes.mounts(tree.get("volumeMounts"), (*path, "volumeMounts"), said, privileged=privileged)
    if "volumeDevices" in tree:
        volumes.devices(tree["volumeDevices"], (*path, "volumeDevices"), said, container.role.volumes)
    if container.kind == "init container":
        if tree.get("lifecycle") is not None:
            said.forbidden((*path, "lifecycle"), "may not be set for init containers without restartPolicy=Always")
        return
    for probe in _PROBES:
        if probe in tree:
            containers.probe(tree[probe], (*path, probe), said, probe)
    if "lifecycle" in tree:
        grace = pod.get("terminationGracePeriodSeconds")
        containers.lifecycle(tree["lifecycle"], (*path, "lifecycle"), said, grace if type(grace) is int else 30)
