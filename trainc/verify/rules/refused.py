"""What pod validation says about the rare fields of pods and containers (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.model.remembered import Nodes
from trainc.model.tree import get, plain, value
from trainc.schema.pods import amounts, containers, placement, rights, settings, variables, volumes, whole
from trainc.schema.pods.said import Said
from trainc.verify.refusal import lost_mounts, refused
from trainc.verify.values import table, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trainc.model.tree import Path, Tree
    from trainc.verify.containers import Container
    from trainc.verify.contents import Contents
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

REFUSED = Rule(
    "pod-template-refused",
    ERROR,
    "a pod template that no pod can be made from",
    "JobSet does not look into pod templates: the mistake shows only as events of a Job that cannot make pods.",
)


class Part:
    """What looks at one field alone, whoever holds it; `fine` tells whether nothing is wrong with a node."""

    __slots__ = ("_look", "fine")

    def __init__(self, look: Callable[[Any, Path, Said], None]) -> None:
        self._look = look
        self.fine = Nodes(self._is_fine)

    def look(self, node: Tree, path: Path, said: Said) -> None:
        """Add what is wrong with a node that stands at a path."""
        if not self.fine[node]:
            self._look(plain(node), path, said)

    def _is_fine(self, node: Tree) -> bool:
        said = Said()
        self._look(plain(node), (), said)
        return not said.faults


_POD = {
    "affinity": Part(placement.affinity),
    "hostAliases": Part(settings.aliases),
    "overhead": Part(amounts.overhead),
    "securityContext": Part(rights.of_pod),
    "tolerations": Part(placement.tolerations),
    "topologySpreadConstraints": Part(placement.spread),
    "volumes": Part(volumes.volumes),
}
_CONTAINER = {
    "envFrom": Part(variables.whole),
    "ports": Part(containers.ports),
    "resources": Part(amounts.resources),
    "restartPolicy": Part(containers.restart_policy),
    "securityContext": Part(rights.of_container),
    "terminationMessagePolicy": Part(containers.termination_message),
}
_PROBES = {
    "livenessProbe": Part(containers.probe),
    "readinessProbe": Part(containers.readiness),
    "startupProbe": Part(containers.probe),
}
_ORIGIN = Part(variables.origin)
_MOUNTS = Part(volumes.mounts)
# All fields of a container that can be judged alone; its ports and variables have been looked at.
_ALONE = {
    **{field: part for field, part in _CONTAINER.items() if field != "ports"},
    **_PROBES,
    "volumeMounts": _MOUNTS,
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
    "schedulingGates",
    "serviceAccountName",
    "shareProcessNamespace",
    "terminationGracePeriodSeconds",
)


# What depends on more of a pod, of a container or of its rights than itself.
_WHOLE = frozenset(("hostIPC", "hostNetwork", "resources"))
_TOGETHER = frozenset(("lifecycle", "resizePolicy", "volumeDevices"))
_RIGHTS = frozenset(("privileged", "procMount"))


def refused_pod_template(job: Job) -> None:
    for role in job.roles:
        if _is_fine(role):
            continue
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


def _is_fine(role: Role) -> bool:
    """Whether pods are visibly made of parts with which nothing is wrong; all others get a closer look."""
    casing = role.casing
    if casing.fine is None:
        casing.fine = _fields_are_fine(role.pod) and all(map(_container_is_fine, casing.init))
    if not casing.fine or not all(map(_container_is_fine, role.main)):
        return False
    names = [contents.name for contents in (*casing.init, *role.main)] if casing.init else ()
    return len(set(names)) == len(names)


def _fields_are_fine(pod: Tree) -> bool:
    said = Said()
    _fields(pod, (), said)
    return _WHOLE.isdisjoint(pod) and not said.faults


def _container_is_fine(contents: Contents) -> bool:
    tree, traits = contents.tree, contents.traits
    if "odd port" in traits or "odd variable" in traits or not _TOGETHER.isdisjoint(tree):
        return False
    if "securityContext" in tree and not _RIGHTS.isdisjoint(table(tree, "securityContext")):
        return False
    return not [field for field in _ALONE.keys() & tree.keys() if not _ALONE[field].fine[tree[field]]]


def _fields(pod: Tree, path: Path, said: Said) -> dict[str, Any]:
    """Look at the fields of a pod; gives the plain ones."""
    for field, part in _POD.items():
        if field in pod:
            part.look(pod[field], (*path, field), said)
    small = {field: plain(pod[field]) for field in _SMALL if field in pod}
    if small:
        for look in (settings.names, settings.dns, settings.host, settings.gates, settings.claims):
            look(small, path, said)
    return small


def _pod(role: Role, said: Said) -> None:
    path = role.pod_path
    pod = _fields(role.pod, path, said)
    if (pod.get("hostNetwork") or pod.get("hostIPC")) and "securityContext" in role.pod:
        rights.sysctls_of_host({**pod, "securityContext": plain(role.pod["securityContext"])}, path, said)
    if "resources" in role.pod:
        whole.resources(role.pod, path, said)
    for container in role.containers:
        _container(container, pod, said)
    _same_names(role, said)
    open_ones = [one for one in role.containers if one.kind != "init container" and "ports" in one.tree]
    trees = [(one.path, {"ports": plain(one.tree["ports"])}) for one in open_ones]
    containers.host_ports(trees, said, host_network=pod.get("hostNetwork") is True)


def _same_names(role: Role, said: Said) -> None:
    """Containers that start first have names of their own."""
    names = {container.name for container in role.main}
    for container in role.containers:
        if container not in role.main and container.name in names:
            said.duplicate((*container.path, "name"), container.name)
        names.add(container.name)


def _container(container: Container, pod: dict[str, Any], said: Said) -> None:
    path, tree = container.path, container.tree
    for field, part in _CONTAINER.items():
        if field in tree:
            part.look(tree[field], (*path, field), said)
    if "securityContext" in tree and value(tree, "securityContext", "procMount") == "Unmasked":
        rights.unmasked((*path, "securityContext"), said, own_users=pod.get("hostUsers") is False)
    if "resizePolicy" in tree:
        restart = value(container.role.pod, "restartPolicy")
        containers.resize_policy(plain(tree["resizePolicy"]), (*path, "resizePolicy"), said, restart)
    for index, entry in container.sources:
        _ORIGIN.look(entry, (*path, "env", index), said)
    _mounts(container, said)
    if container.kind == "init container":
        if "lifecycle" in tree and plain(tree["lifecycle"]) is not None:
            said.forbidden((*path, "lifecycle"), "may not be set for init containers without restartPolicy=Always")
        return
    for name, part in _PROBES.items():
        if name in tree:
            part.look(tree[name], (*path, name), said)
    if "lifecycle" in tree:
        grace = pod.get("terminationGracePeriodSeconds")
        containers.lifecycle(plain(tree["lifecycle"]), (*path, "lifecycle"), said, grace if type(grace) is int else 30)


def _mounts(container: Container, said: Said) -> None:
    path, tree = container.path, container.tree
    if "volumeMounts" in tree:
        at: Path = (*path, "volumeMounts")
        if "securityContext" in tree and value(tree, "securityContext", "privileged") is True:
            volumes.privileged_mounts(plain(tree["volumeMounts"]), at, said)
        else:
            _MOUNTS.look(tree["volumeMounts"], at, said)
    if "volumeDevices" in tree:
        volumes.devices(plain(tree["volumeDevices"]), (*path, "volumeDevices"), said, container.role.volumes)
