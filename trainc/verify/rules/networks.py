"""Network set-ups that work only as a whole: GPUDirect-TCPX and TCPXO, EFA, InfiniBand, FUSE mounts."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.verify.data.machines import EFA
from trainc.verify.data.pairs import PAIRS
from trainc.verify.values import flag, rows, table, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

HALF = Rule(
    "network-half-set-up",
    WARNING,
    "parts of a GPU network set-up are there, others are missing",
    "Daemon, capabilities, mounts and variables work only together; without one of them NCCL fails, or falls back to slow TCP.",
)
PAIR = Rule(
    "daemon-and-plugin-differ",
    WARNING,
    "the network daemon and the NCCL plugin are not of versions known to work together",
    "They speak a protocol of their own, and are released in pairs.",
)
FUSE = Rule(
    "bucket-mount-without-annotation",
    ERROR,
    "a bucket is mounted by Cloud Storage FUSE, but the pod does not say so",
    'GKE adds the side car that does the work only to pods with the annotation `gke-gcsfuse/volumes: "true"`.',
)
FUSE_UNUSED = Rule(
    "bucket-annotation-without-mount",
    WARNING,
    "a pod asks for the FUSE side car, but mounts no bucket",
    "The mount was probably forgotten, or its driver is misspelt.",
)
DNS = Rule(
    "host-network-without-dns-policy",
    WARNING,
    "pods on the host's network do not use the cluster's DNS",
    "With `hostNetwork` the default DNS policy falls back to the host's resolver, which knows no pods.",
)
HOST_PORT = Rule(
    "host-port-clash",
    WARNING,
    "pods on the host's network listen on one port, and two of them fit on a node",
    "Only one process of a host can listen on a port.",
)
TUNER = Rule(
    "tuner-of-other-machine",
    WARNING,
    "NCCL's tuner gets the tables of another machine",
    "The tables hold measured crossover points; those of another machine choose slow algorithms.",
)
PORT_CLASH = Rule(
    "ports-clash-in-pod",
    ERROR,
    "two containers of one pod listen on the same port",
    "Containers of a pod share one network: the second cannot bind.",
)


def network_half_set_up(job: Job) -> None:
    looks = [_infiniband]
    if "NCCL" in job.families:
        looks += [_tcpx, _tcpxo]
    if "FI" in job.families:
        looks.append(_efa)
    for role in job.roles:
        for container in role.main:
            for look in looks if container.devices else ():
                found = look(role, container)
                if found is not None:
                    there, missing, path = found
                    job.report.add(
                        HALF.at(
                            job.at(path or (*container.path, "name")),
                            f"`{container.name}` has {there}, but {missing}",
                            effect="NCCL finds no fast network: it fails at start, or runs over TCP",
                            help="take the whole set-up from one source, e.g. a component of your platform team",
                        )
                    )


_Half = tuple[str, str, tuple[str | int, ...]]


def _daemon(role: Role, word: str) -> bool:
    return any(word in text(c.tree, "image") or word in c.text or word in c.name for c in role.containers)


def _tcpx(role: Role, container: Container) -> _Half | None:
    name = next((n for n in container.env if n.startswith("NCCL_GPUDIRECTTCPX_")), "")
    if name and not _daemon(role, "tcpgpudmarxd") and not _daemon(role, "tcpx"):
        return "variables of GPUDirect-TCPX", "no daemon `tcpgpudmarxd` runs beside it", container.env_path(name)
    return None


def _tcpxo(role: Role, container: Container) -> _Half | None:
    name = next((n for n in container.env if n.startswith("NCCL_FASTRAK_")), "")
    if not name:
        return None
    if not any(_daemon(role, word) for word in ("rxdm", "fastrak", "tcpgpudmarxd", "tcpxo")):
        return "variables of GPUDirect-TCPXO", "no receive daemon (RxDM) runs beside it", container.env_path(name)
    mounts = [text(m, "mountPath") for m in rows(container.tree, "volumeMounts")]
    if not any(mount.startswith("/dev/aperture_devices") or mount == "/dev" for mount in mounts):
        return "variables of GPUDirect-TCPXO", "`/dev/aperture_devices` is not mounted", container.env_path(name)
    return None


def _efa(role: Role, container: Container) -> _Half | None:
    if (
        role.several
        and container.literal("FI_PROVIDER") == "efa"
        and EFA not in container.limits
        and EFA not in container.requests
        and not _privileged(role, container)
    ):
        return "`FI_PROVIDER=efa`", f"asks for no `{EFA}`", container.env_path("FI_PROVIDER")
    return None


def _privileged(role: Role, container: Container) -> bool:
    return flag(table(container.tree, "securityContext"), "privileged") or role.host_network


def _infiniband(role: Role, container: Container) -> _Half | None:
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
            "not the capability `IPC_LOCK`, without which no memory can be registered",
            (*container.path, "resources", "limits", card),
        )
    return None


def daemon_and_plugin_differ(job: Job) -> None:
    for role in job.roles:
        if len(role.containers) < 2:
            continue
        for daemon_image, plugin_image, known in PAIRS:
            daemon, plugin = _tag(role, daemon_image), _tag(role, plugin_image)
            if daemon is None or plugin is None or daemon[0] not in known or plugin[0] in known[daemon[0]]:
                continue
            fitting = " or ".join(f"`{tag}`" for tag in sorted(known[daemon[0]]))
            job.report.add(
                PAIR.at(
                    job.at((*plugin[1].path, "image")),
                    f"plugin {plugin[0]} is not known to work with daemon {daemon[0]}",
                    also=[Label(job.at((*daemon[1].path, "image")), f"daemon {daemon[0]}")],
                    effect="connections fail, or data is lost without a message",
                    help=f"with this daemon use plugin {fitting}",
                )
            )


def _tag(role: Role, image: str) -> tuple[str, Container] | None:
    for container in role.containers:
        name, _, tag = text(container.tree, "image").rpartition(":")
        if name.endswith(image):
            return tag, container
    return None


def bucket_mount_without_annotation(job: Job) -> None:
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
            if (
                text(table(volume, "csi"), "driver") == "gcsfuse.csi.storage.gke.io"
                and text(role.annotations, "gke-gcsfuse/volumes") != "true"
            ):
                job.report.add(
                    FUSE.at(
                        job.at((*role.pod_path, "volumes", index, "csi", "driver")),
                        f"the pods of `{role.name}` mount a bucket, but lack the annotation `gke-gcsfuse/volumes`",
                        effect="GKE adds no side car, and the pods hang while they are being created",
                        help='add `gke-gcsfuse/volumes: "true"` to the annotations of the pod template',
                    )
                )


def bucket_annotation_without_mount(job: Job) -> None:
    for role in job.roles:
        if text(role.annotations, "gke-gcsfuse/volumes") != "true":
            continue
        drivers = [text(table(v, "csi"), "driver") for v in role.volumes.values()]
        if (
            "gcsfuse.csi.storage.gke.io" not in drivers
            and not any("persistentVolumeClaim" in v for v in role.volumes.values())
            and not job.claimed
        ):
            job.report.add(
                FUSE_UNUSED.at(
                    job.at((*role.spec_path, "template", "metadata", "annotations", "gke-gcsfuse/volumes"), key=True),
                    f"the pods of `{role.name}` get a FUSE side car, but mount no bucket",
                    help="add the volume with driver `gcsfuse.csi.storage.gke.io`, or remove the annotation",
                )
            )


def host_network_without_dns_policy(job: Job) -> None:
    for role in job.roles:
        if "hostNetwork" in role.pod and role.host_network and text(role.pod, "dnsPolicy") in ("", "ClusterFirst"):
            job.report.add(
                DNS.at(
                    job.at((*role.pod_path, "hostNetwork"), key=True),
                    f"the pods of `{role.name}` use the host's network, and with it the host's DNS",
                    effect="names of pods and Services do not resolve: the processes never meet"
                    if role.several
                    else "names of Services do not resolve",
                    help="add `dnsPolicy: ClusterFirstWithHostNet`",
                )
            )


def host_port_clash(job: Job) -> None:
    for role in job.roles:
        if not role.host_network or not role.several or not any("ports" in c.tree for c in role.main):
            continue
        from trainc.verify.rules.accelerators import machine_of  # noqa: PLC0415

        machine, path = machine_of(role)
        count = role.devices.get(machine.resource) if machine is not None else None
        if machine is None or type(count) is not int or not count or count * 2 > machine.count:
            continue
        container = next(c for c in role.main if "ports" in c.tree)
        job.report.add(
            HOST_PORT.at(
                job.at((*container.path, "ports")),
                f"{machine.count // count} pods of `{role.name}` fit on a machine, and all want the same port of it",
                also=[Label(job.at(path), f"{machine.count} accelerators, {count} per pod")],
                effect="the second pod of a machine stays pending, or dies with `address already in use`",
                help="take whole machines, or leave the host's network",
            )
        )


def tuner_of_other_machine(job: Job) -> None:
    if "NCCL_TUNER_CONFIG_PATH" not in job.names:
        return
    for container in job.main:
        path = container.literal("NCCL_TUNER_CONFIG_PATH") or ""
        accelerator = text(table(container.role.pod, "nodeSelector"), "cloud.google.com/gke-accelerator")
        wanted = {"nvidia-gb200": "a4x", "nvidia-h200-141gb": "a3u", "nvidia-b200": "a4"}.get(accelerator)
        named = path.rpartition("tuner_config_")[2].partition(".")[0] if "tuner_config_" in path else ""
        if wanted and named and named != wanted:
            job.report.add(
                TUNER.at(
                    job.at((*container.env_path("NCCL_TUNER_CONFIG_PATH"), "value")),
                    f"the tuner reads the tables of `{named}`, but the pods select `{accelerator}`",
                    also=[
                        Label(
                            job.at((*container.role.pod_path, "nodeSelector", "cloud.google.com/gke-accelerator")),
                            wanted,
                        )
                    ],
                    effect="NCCL chooses algorithms that are slow on this machine",
                    help=f"use `tuner_config_{wanted}.txtpb`",
                )
            )


def ports_clash_in_pod(job: Job) -> None:
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
                    job.report.add(
                        PORT_CLASH.at(
                            job.at((*container.path, "ports", index, "containerPort")),
                            f"`{container.name}` and `{other[0].name}` both listen on port {key[0]}",
                            also=[Label(job.at((*other[0].path, "ports", other[1], "containerPort")), "first here")],
                            effect="the second to start dies with `address already in use`",
                            help="give one of them another port",
                            level=WARNING,
                        )
                    )
