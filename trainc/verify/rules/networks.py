"""Network set-ups that work only as a whole: GPUDirect-TCPX and TCPXO, EFA, InfiniBand, FUSE mounts."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.verify.data.machines import EFA
from trainc.verify.values import flag, rows, table, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.tree import Path
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

HALF = Rule(
    "network-half-set-up",
    WARNING,
    "parts of a GPU network set-up are there, others are missing",
    "Daemon, capabilities, mounts and variables work only together; without one of them NCCL fails, or falls back to slow TCP.",
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


# What the names of the variables of these set-ups begin with.
TCPX, TCPXO = "NCCL_GPUDIRECTTCPX_", "NCCL_FASTRAK_"


def network_half_set_up(job: Job) -> None:
    for role in job.roles:
        for container in role.main:
            for look in (_infiniband, _tcpx, _tcpxo, _efa) if container.devices else ():
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


_Half = tuple[str, str, "Path"]


def _daemon(role: Role, *words: str) -> bool:
    for container in role.containers:
        image = text(container.tree, "image")
        for word in words:
            if word in image or word in container.text or word in container.name:
                return True
    return False


def _first(container: Container, prefix: str) -> Path:
    return container.env_path(next(name for name in container.env if name.startswith(prefix)))


def _tcpx(role: Role, container: Container) -> _Half | None:
    if TCPX not in container.names.traits or _daemon(role, "tcpgpudmarxd", "tcpx"):
        return None
    return "variables of GPUDirect-TCPX", "no daemon `tcpgpudmarxd` runs beside it", _first(container, TCPX)


def _tcpxo(role: Role, container: Container) -> _Half | None:
    if TCPXO not in container.names.traits:
        return None
    if not _daemon(role, "tcpgpudmarxd", "rxdm", "fastrak", "tcpxo"):
        missing = "no receive daemon (RxDM) runs beside it"
        return "variables of GPUDirect-TCPXO", missing, _first(container, TCPXO)
    if "aperture devices" in container.mounts.traits:
        return None
    return "variables of GPUDirect-TCPXO", "`/dev/aperture_devices` is not mounted", _first(container, TCPXO)


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
