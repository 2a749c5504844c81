"""Network set-ups that work only as a whole (GPUDirect-TCPX and TCPXO, EFA, InfiniBand), and ports that clash."""

from __future__ import annotations

from trainc.lint.facts.values import flag, rows, table, text, texts
from trainc.lint.tables.machines import EFA
from trainc.model.finding import ERROR, WARNING, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job
    from trainc.model.finding import Finding
    from trainc.model.tree import Path

HALF = Rule("network-half-set-up", WARNING)
TUNER = Rule("tuner-of-other-machine", WARNING)
DNS = Rule("host-network-without-dns-policy", WARNING)
HOST_PORT = Rule("host-port-clash", WARNING)
PORT_CLASH = Rule("ports-clash-in-pod", ERROR)


_TCPX, _TCPXO = "NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_"  # what the names of their variables begin with
_GIB = "/usr/local/gib"
_INTERFACES = "networking.gke.io/interfaces"
_TCPXO_DAEMON = "/gpudirect-tcpxo/tcpgpudmarxd"


def network_half_set_up(job: Job) -> Findings:
    for role in job.roles:
        for container in role.main:
            for look in (_infiniband, _tcpx, _tcpxo, _efa) if container.devices else ():
                state = look(role, container)
                if state is not None:
                    there, missing, path = state
                    yield HALF.at(
                        job.at(path or (*container.path, "name")),
                        f"`{container.name}` has {there}, but {missing}",
                        effect="NCCL finds no fast network: it fails at start, or runs over TCP",
                        help="take the whole set-up from one source, e.g. a component of your platform team",
                    )


_Half = tuple[str, str, "Path"]


def _daemon(role: ExpandedRole, *words: str) -> bool:
    for container in role.containers:
        image = text(container.tree, "image")
        for word in words:
            if word in image or word in container.text or word in container.name:
                return True
    return False


def _is_aperture(path: str) -> bool:
    return path == "/dev" or path.startswith("/dev/aperture_devices")


def _first(container: Container, prefix: str) -> Path:
    return container.env_path(next(name for name in container.env if name.startswith(prefix)))


def _tcpx(role: ExpandedRole, container: Container) -> _Half | None:
    if not container.sets(_TCPX) or _daemon(role, "tcpgpudmarxd", "tcpx"):
        return None
    return "variables of GPUDirect-TCPX", "no daemon `tcpgpudmarxd` runs beside it", _first(container, _TCPX)


def _tcpxo(role: ExpandedRole, container: Container) -> _Half | None:
    if not container.sets(_TCPXO):
        return None
    if not _daemon(role, "tcpgpudmarxd", "rxdm", "fastrak", "tcpxo"):
        missing = "no receive daemon (RxDM) runs beside it"
        return "variables of GPUDirect-TCPXO", missing, _first(container, _TCPXO)
    if any(_is_aperture(text(mount, "mountPath")) for mount in rows(container.tree, "volumeMounts")):
        return None
    return "variables of GPUDirect-TCPXO", "`/dev/aperture_devices` is not mounted", _first(container, _TCPXO)


def _efa(role: ExpandedRole, container: Container) -> _Half | None:
    if (
        role.several
        and container.literal("FI_PROVIDER") == "efa"
        and EFA not in container.limits
        and EFA not in container.requests
        and not _privileged(role, container)
    ):
        return "`FI_PROVIDER=efa`", f"asks for no `{EFA}`", container.env_path("FI_PROVIDER")
    return None


def _privileged(role: ExpandedRole, container: Container) -> bool:
    return flag(table(container.tree, "securityContext"), "privileged") or role.host_network


def _infiniband(role: ExpandedRole, container: Container) -> _Half | None:
    del role
    card = next((r for r in container.limits if r.startswith(("rdma/", "nvidia.com/rdma"))), "")
    security = table(container.tree, "securityContext")
    if not card or flag(security, "privileged"):
        return None
    if "IPC_LOCK" not in texts(table(security, "capabilities"), "add") and "SYS_ADMIN" not in texts(
        table(security, "capabilities"), "add"
    ):
        return (
            f"`{card}`",
            "not the capability `IPC_LOCK`, without which no memory can be registered unless the node's limit is unlimited",
            (*container.path, "resources", "limits", card),
        )
    return None


def tuner_of_other_machine(job: Job) -> Findings:
    if "NCCL_TUNER_CONFIG_PATH" not in job.names:
        return
    for container in job.main:
        path = container.literal("NCCL_TUNER_CONFIG_PATH") or ""
        accelerator = text(table(container.role.pod, "nodeSelector"), "cloud.google.com/gke-accelerator")
        wanted = {"nvidia-gb200": "a4x", "nvidia-h200-141gb": "a3u", "nvidia-b200": "a4"}.get(accelerator)
        table_name = path.rpartition("tuner_config_")[2].partition(".")[0] if "tuner_config_" in path else ""
        if wanted and table_name and table_name != wanted:
            yield TUNER.at(
                job.at((*container.env_path("NCCL_TUNER_CONFIG_PATH"), "value")),
                f"the tuner reads the tables of `{table_name}`, but the pods select `{accelerator}`",
                also=[
                    Label(
                        job.at((*container.role.pod_path, "nodeSelector", "cloud.google.com/gke-accelerator")), wanted
                    )
                ],
                effect="NCCL chooses algorithms that are slow on this machine",
                help=f"use `tuner_config_{wanted}.txtpb`",
            )


def tcpxo_half_set_up(job: Job) -> Findings:
    """What the variables of TCPXO say nothing about: a daemon alone, and the interfaces of the pod."""
    for role in job.roles:
        daemon = next((c for c in role.containers if _TCPXO_DAEMON in text(c.tree, "image")), None)
        if daemon is None or not role.devices:
            continue
        missing = []
        if not any(container.sets(_TCPXO) for container in role.main):
            missing.append("no container sets the variables NCCL_FASTRAK_*")
        alone = not role.host_network
        if alone and _INTERFACES not in role.annotations:
            missing.append(f"the pod has no annotation `{_INTERFACES}`")
        if alone and f"devices.gke.io/container.{daemon.name}" not in role.annotations:
            missing.append(f"the pod has no annotation `devices.gke.io/container.{daemon.name}`")
        for part in missing:
            yield HALF.at(
                job.at((*daemon.path, "image")),
                f"`{daemon.name}` receives for GPUDirect-TCPXO, but {part}",
                also=[Label(job.at((*role.pod_path, "containers")), "these containers")]
                if "container sets" in part
                else [],
                effect="NCCL finds no fast network: it fails at start, or runs over TCP",
                help="take the whole set-up from one source, such as the component `gke-tcpxo`",
            )


def gib_half_set_up(job: Job) -> Findings:
    """The plugin of GKE's RDMA machines without the pod's interfaces, or the interfaces without the plugin."""
    for role in job.roles:
        interfaces = text(role.annotations, _INTERFACES)
        # Claims may bring the cards instead, and an annotation that is filled in later says nothing yet.
        if (
            role.host_network
            or rows(role.pod, "resourceClaims")
            or (_INTERFACES in role.annotations and not interfaces)
        ):
            continue
        has_cards = '"rdma-' in interfaces
        for container in role.main if role.devices else ():
            has_plugin = any(
                text(mount, "mountPath").startswith(_GIB) for mount in rows(container.tree, "volumeMounts")
            )
            if has_plugin != has_cards and container.devices and (has_plugin or container.sets("NCCL_IB_")):
                yield _half_gib(job, container, has_cards=has_cards)


def _half_gib(job: Job, container: Container, *, has_cards: bool) -> Finding:
    there, missing = f"`{_GIB}`", f"the pod has no RDMA interfaces in the annotation `{_INTERFACES}`"
    if has_cards:
        there, missing = "RDMA interfaces", f"`{_GIB}` is not mounted"
    return HALF.at(
        job.at((*container.path, "name")),
        f"`{container.name}` has {there}, but {missing}",
        effect="NCCL finds no fast network: it fails at start, or runs over TCP",
        help="take the whole set-up from one source, such as the component `gke-gib`",
    )


def host_network_without_dns_policy(job: Job) -> Findings:
    for role in job.roles:
        if "hostNetwork" in role.pod and role.host_network and text(role.pod, "dnsPolicy") in ("", "ClusterFirst"):
            yield DNS.at(
                job.at((*role.pod_path, "hostNetwork"), key=True),
                f"the pods of `{role.name}` use the host's network, and with it the host's DNS",
                effect="names of pods and Services do not resolve: the processes never meet"
                if role.several
                else "names of Services do not resolve",
                help="add `dnsPolicy: ClusterFirstWithHostNet`",
            )


def host_port_clash(job: Job) -> Findings:
    for role in job.roles:
        if not role.host_network or not role.several or not any("ports" in c.tree for c in role.main):
            continue
        machine, path = role.machine
        count = role.devices.get(machine.resource) if machine is not None else None
        if machine is None or type(count) is not int or not count or count * 2 > machine.count:
            continue
        container = next(c for c in role.main if "ports" in c.tree)
        yield HOST_PORT.at(
            job.at((*container.path, "ports")),
            f"{machine.count // count} pods of `{role.name}` fit on a machine, and all want the same port of it",
            also=[Label(job.at(path), f"{machine.count} accelerators, {count} per pod")],
            effect="the second pod of a machine stays pending, or dies with `address already in use`",
            help="take whole machines, or leave the host's network",
        )


def ports_clash_in_pod(job: Job) -> Findings:
    for role in job.roles:
        if len(role.containers) < 2:
            continue
        seen: dict[tuple[object, str], tuple[Container, int]] = {}
        for container in role.containers:
            if container.kind == "init container":
                continue
            for index, port in enumerate(rows(container.tree, "ports")):
                leaf = port.get("containerPort")
                key = (getattr(leaf, "value", None), text(port, "protocol") or "TCP")
                other = seen.setdefault(key, (container, index))
                if other[0] is not container and key[0] is not None:
                    yield PORT_CLASH.at(
                        job.at((*container.path, "ports", index, "containerPort")),
                        f"`{container.name}` and `{other[0].name}` both listen on port {key[0]}",
                        also=[Label(job.at((*other[0].path, "ports", other[1], "containerPort")), "first here")],
                        effect="the second to start dies with `address already in use`",
                        help="give one of them another port",
                        level=WARNING,
                    )


CHECKS = (
    network_half_set_up,
    tuner_of_other_machine,
    tcpxo_half_set_up,
    gib_half_set_up,
    host_network_without_dns_policy,
    host_port_clash,
    ports_clash_in_pod,
)
