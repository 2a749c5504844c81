"""What pod validation says about volumes and mounts, and volumes that nobody uses (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.lint.facts.values import rows, substituted, table, text
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import ExpandedRole, Findings, Job


RELATIVE = Rule("relative-mount-path", WARNING)
UNUSED = Rule("unused-volume", WARNING)
SHM_HOST = Rule("shared-memory-of-host", NOTE)
MEDIUM = Rule("unknown-medium", ERROR)


def unknown_medium(job: Job) -> Findings:
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
            medium = text(table(volume, "emptyDir"), "medium")
            if medium in ("", "Memory") or medium.startswith("HugePages") or substituted(medium):
                continue
            yield MEDIUM.at(
                job.at((*role.pod_path, "volumes", index, "emptyDir", "medium")),
                f"`{medium}` is not a medium of an `emptyDir`",
                effect="the pods stay in ContainerCreating",
                help=meant(medium, ("Memory", "HugePages"), "write `Memory`, or leave it out for the node's disk"),
            )


def relative_mount_path(job: Job) -> Findings:
    for container in job.containers:
        for index, mount in enumerate(rows(container.tree, "volumeMounts")):
            where = text(mount, "mountPath")
            if where and where[0] not in "/$" and ":" not in where and not substituted(where):
                yield RELATIVE.at(
                    job.at((*container.path, "volumeMounts", index, "mountPath")),
                    f"`{where}` does not start with a slash",
                    help=f"write `/{where}`",
                )


def unused_volume(job: Job) -> Findings:
    for role in job.roles:
        if not role.volumes:
            continue
        mounted = {text(m, "name") for c in role.containers for m in rows(c.tree, "volumeMounts")}
        mounted.update(text(m, "name") for c in role.containers for m in rows(c.tree, "volumeDevices"))
        for index, volume in enumerate(rows(role.pod, "volumes")):
            name = text(volume, "name")
            written = volume["name"].origin.at is not None if name else False  # not one that a framework brings along
            if written and name not in mounted and not _for_others(name, role):
                yield UNUSED.at(
                    job.at((*role.pod_path, "volumes", index, "name")),
                    f"no container of `{role.name}` mounts volume `{name}`",
                    help="mount it, or remove it",
                )


def shared_memory_of_host(job: Job) -> Findings:
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes") if role.reads_host else ()):
            if text(table(volume, "hostPath"), "path").rstrip("/") == "/dev/shm":  # noqa: S108 (the path somebody wrote)
                yield SHM_HOST.at(
                    job.at((*role.pod_path, "volumes", index)),
                    f"volume `{text(volume, 'name')}` is the host's /dev/shm",
                    effect="pods of one node share it, and what a killed one leaves fills it up",
                    help="use `emptyDir: {medium: Memory}`",
                )


def _for_others(name: str, role: ExpandedRole) -> bool:
    """GKE's FUSE side cars are injected and take their volumes by these names."""
    return name.startswith("gke-gcsfuse") or any(
        key.startswith("gke-gcsfuse/") and name in key for key in role.annotations
    )


CHECKS = (unknown_medium, relative_mount_path, unused_volume, shared_memory_of_host)
