"""Controls of the standard `baseline`, which keeps pods from what takes over their node."""

from collections.abc import Callable, Container, Iterator

from trainc.lint.facts.values import flag, rows, substituted, table, text
from trainc.lint.standards.pod import (
    Owner,
    PodTemplate,
    Violation,
    containers,
    counted,
    forbidden,
    known,
    known_texts,
    quoted,
    setters,
    setting,
)
from trainc.model.tree import Path, value

PROFILES = ("RuntimeDefault", "Localhost")
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_DEFAULT, _DOCKER, _LOCAL = "runtime/default", "docker/default", "localhost/"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("postStart", "preStop")

# What is allowed by name, as of Kubernetes 1.37.
_DEFAULT_CAPABILITIES = frozenset((
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
))  # fmt: skip
# The minor version of the standards from which each is allowed.
_SAFE_SYSCTLS = {
    "kernel.shm_rmid_forced": 0,
    "net.ipv4.ip_local_port_range": 0,
    "net.ipv4.ip_local_reserved_ports": 27,
    "net.ipv4.ip_unprivileged_port_start": 0,
    "net.ipv4.ping_group_range": 0,
    "net.ipv4.tcp_fin_timeout": 29,
    "net.ipv4.tcp_keepalive_intvl": 29,
    "net.ipv4.tcp_keepalive_probes": 29,
    "net.ipv4.tcp_keepalive_time": 29,
    "net.ipv4.tcp_notsent_lowat": 37,
    "net.ipv4.tcp_rmem": 32,
    "net.ipv4.tcp_slow_start_after_idle": 37,
    "net.ipv4.tcp_syncookies": 0,
    "net.ipv4.tcp_wmem": 32,
}
_CONTAINER_TYPES = {"container_t": 0, "container_init_t": 0, "container_kvm_t": 0, "container_engine_t": 31}


def app_armor(pod: PodTemplate) -> Violation | None:
    """No AppArmor profile but the runtime's and the node's own."""
    owners, kinds = setting(pod.owners, "appArmorProfile", "type", bad=lambda kind: kind not in PROFILES)
    written = _annotations(pod, lambda key: key.startswith(_APP_ARMOR), (_DEFAULT, ""))
    if not owners and not written:
        return None
    bad = [*kinds, *(f'{key}="{held}"' for key, held in written)]
    who = [setters(owners)] * bool(owners) + [counted("annotation", written)] * bool(written)
    path: Path = (
        (*owners[0].security_path, "appArmorProfile", "type") if owners else ("metadata", "annotations", written[0][0])
    )
    details = f"{' and '.join(who)} must not set AppArmor profile type to {quoted(bad)}"
    return Violation(counted("forbidden AppArmor profile", bad), details, path)


def _annotations(pod: PodTemplate, is_meant: Callable[[str], bool], allowed: Container[str]) -> list[tuple[str, str]]:
    """The annotations that are meant and name neither an allowed profile nor one of the node, sorted."""
    held = [(key, text(pod.annotations, key)) for key in sorted(pod.annotations) if is_meant(key)]
    return [(k, v) for k, v in held if v not in allowed and not v.startswith(_LOCAL) and not substituted(v)]


def capabilities(pod: PodTemplate) -> Violation | None:
    """No capability beyond those that containers have anyway."""
    owners, names = added(pod, _DEFAULT_CAPABILITIES)
    details = f"{containers(owners)} must not include {quoted(names)} in securityContext.capabilities.add"
    return forbidden("non-default capabilities", owners, details, "capabilities", "add")


def added(pod: PodTemplate, allowed: frozenset[str]) -> tuple[list[Owner], list[str]]:
    """The containers that add other capabilities than these, and those capabilities."""
    names = [
        (owner, {*known_texts(table(owner.security, "capabilities"), "add")} - allowed) for owner in pod.containers
    ]
    return [owner for owner, more in names if more], sorted({name for _, more in names for name in more})


def host_namespaces(pod: PodTemplate) -> Violation | None:
    """No network, processes or memory segments of the node."""
    used = [field for field in ("hostNetwork", "hostPID", "hostIPC") if flag(pod.spec, field)]
    details = ", ".join(f"{field}=true" for field in used)
    return Violation("host namespaces", details, ("spec", used[0])) if used else None


def host_path(pod: PodTemplate) -> Violation | None:
    """No folder of the node."""
    volumes = [
        (index, text(volume, "name"), volume.get("hostPath")) for index, volume in enumerate(rows(pod.spec, "volumes"))
    ]
    used = [(index, name) for index, name, path in volumes if value(path) is not None or type(path) is dict]
    details = f"{counted('volume', used)} {quoted(name for _, name in used)}"
    return Violation("hostPath volumes", details, ("spec", "volumes", used[0][0])) if used else None


def host_ports(pod: PodTemplate) -> Violation | None:
    """Ports of the node; in its network every port is one, because the server fills `hostPort` in."""
    field = "containerPort" if flag(pod.spec, "hostNetwork") else "hostPort"
    used = [
        (owner, at, str(port))
        for owner in pod.containers
        for at, row in enumerate(rows(owner.tree, "ports"))
        if type(port := value(row, field)) is int and port
    ]
    owners = [owner for owner in pod.containers if any(owner is one for one, *_ in used)]
    ports = sorted({port for *_, port in used})
    details = f"{containers(owners)} {counted('uses', owners, 'use')} {counted('hostPort', ports)} {', '.join(ports)}"
    return Violation("hostPort", details, (*owners[0].path, "ports", used[0][1], field)) if owners else None


def host_of_probes(pod: PodTemplate) -> Violation | None:
    """No host in probes and lifecycle handlers, to which the kubelet would connect for the pod."""
    used = [(owner, *host) for owner in pod.containers for host in _hosts(owner)]
    names = sorted({owner.path: owner.name or "" for owner, *_ in used}.values())
    hosts = sorted({host for _, host, _ in used})
    verb, word = counted("uses", names, "use"), counted("probe or lifecycle host", hosts)
    details = f"{counted('container', names)} {quoted(names)} {verb} {word} {quoted(hosts)}"
    return Violation("probe or lifecycle host", details, used[0][2]) if used else None


def _hosts(owner: Owner) -> Iterator[tuple[str, Path]]:
    """Each host that a probe or a handler of a container names, with its place."""
    probes = [((name,), table(owner.tree, name)) for name in _PROBES]
    lifecycle = table(owner.tree, "lifecycle")
    for path, handler in (*probes, *((("lifecycle", name), table(lifecycle, name)) for name in _HANDLERS)):
        for way in ("httpGet", "tcpSocket"):
            if host := known(table(handler, way), "host"):
                yield host, (*owner.path, *path, way, "host")


def privileged(pod: PodTemplate) -> Violation | None:
    """No privileged container."""
    owners = [owner for owner in pod.containers if flag(owner.security, "privileged")]
    details = f"{containers(owners)} must not set securityContext.privileged=true"
    return forbidden("privileged", owners, details, "privileged")


def proc_mount(pod: PodTemplate) -> Violation | None:
    """No unmasked /proc; in `baseline` unless the pod has a user namespace of its own."""
    owners, kinds = setting(pod.containers, "procMount", bad=lambda kind: kind != "Default")
    details = f"{containers(owners)} must not set securityContext.procMount to {quoted(kinds)}"
    return forbidden("procMount", owners, details, "procMount")


def selinux(pod: PodTemplate) -> Violation | None:
    """No SELinux type but those of containers, and neither user nor role."""
    allowed = {name for name in _CONTAINER_TYPES if pod.minor >= _CONTAINER_TYPES[name]}
    settings = {part: setting(pod.owners, "seLinuxOptions", part, bad=bool) for part in ("user", "role")}
    settings["type"] = setting(pod.owners, "seLinuxOptions", "type", bad=lambda kind: kind not in allowed)
    bad = [owner for owner in pod.owners if any(owner in owners for owners, _ in settings.values())]
    kinds = settings["type"][1]
    data = [f"{counted('type', kinds)} {quoted(kinds)}"] * bool(kinds)
    data += [f"{part} may not be set" for part in ("user", "role") if settings[part][0]]
    details = f"{setters(bad)} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"
    return forbidden("seLinuxOptions", bad, details, "seLinuxOptions")


def seccomp_annotations(pod: PodTemplate) -> Violation | None:
    """No seccomp profile `unconfined`, as annotations said it before there was a field."""
    meant = {_SECCOMP_POD, *(f"{_SECCOMP}{owner.name}" for owner in pod.containers)}
    if not (written := _annotations(pod, meant.__contains__, (_DEFAULT, _DOCKER))):
        return None
    bad = ", ".join(f'{key}="{held}"' for key, held in written)
    details = f"forbidden {counted('annotation', written)} {bad}"
    return Violation("seccompProfile", details, ("metadata", "annotations", written[0][0]))


def seccomp(pod: PodTemplate) -> Violation | None:
    """No seccomp profile `Unconfined`."""
    owners, kinds = setting(pod.owners, "seccompProfile", "type", bad=lambda kind: kind not in PROFILES)
    details = f"{setters(owners)} must not set securityContext.seccompProfile.type to {quoted(kinds)}"
    return forbidden("seccompProfile", owners, details, "seccompProfile", "type")


def sysctls(pod: PodTemplate) -> Violation | None:
    """No kernel parameter but those that a pod has for itself."""
    bad = [
        (index, name)
        for index, one in enumerate(rows(pod.owner.security, "sysctls"))
        if (name := known(one, "name")) and _SAFE_SYSCTLS.get(name, pod.minor + 1) > pod.minor
    ]
    if not bad:
        return None
    path = (*pod.owner.security_path, "sysctls", bad[0][0], "name")
    return Violation("forbidden sysctls", ", ".join(name for _, name in bad), path)


def windows_host_process(pod: PodTemplate) -> Violation | None:
    """No Windows container that runs as a process of its node."""
    owners = [one for one in pod.owners if flag(table(one.security, "windowsOptions"), "hostProcess")]
    details = f"{setters(owners)} must not set securityContext.windowsOptions.hostProcess=true"
    return forbidden("hostProcess", owners, details, "windowsOptions", "hostProcess")
