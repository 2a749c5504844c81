"""What pod validation says about volumes and mounts, and volumes that nobody uses (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.apiserver.pods.sources import SOURCES
from trainc.lint.facts.values import rows, substituted, table, text
from trainc.lint.refusal import Explanation, Words
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.tree import get, value
from trainc.text.spelling import meant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import ExpandedRole, Findings, Job
    from trainc.lint.refusal import ServerComplaint


VOLUME_NAME = Rule("bad-volume-name", ERROR)
VOLUME_SOURCE = Rule("bad-volume-source", ERROR)
NO_VOLUME = Rule("mount-without-volume", ERROR)
MOUNT = Rule("bad-mount", ERROR)
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


def _name(refused: ServerComplaint) -> Words:
    name = str(refused.fault.value)
    return Words(f"`{name}` cannot be the name of a volume", "use `-` instead of dots" if "." in name else "")


def _second_source(refused: ServerComplaint) -> Words:
    volume, path = get(refused.job.tree, *refused.above(1)), refused.above(1)
    first = next(source for source in SOURCES if source in volume)
    also = (Label(refused.job.at((*path, first), key=True), "the other source"),)
    return Words(f"volume `{text(volume, 'name')}` has more than one source", also=also, key=True)


def _unknown(refused: ServerComplaint) -> Words:
    container = refused.container
    name = str(refused.fault.value or "")
    owner = container.name if container is not None else ""
    if not value(refused.job.tree, *refused.path):
        return Words(f"a mount of `{owner}` names no volume")
    known = [*(refused.role.volumes if refused.role is not None else ()), *refused.job.claimed]
    help_ = meant(name, known, f"add a volume named `{name}` to the pod")
    return Words(f"`{owner}` mounts `{name}`, but the pod has no volume of that name", help_)


def _no_path(refused: ServerComplaint) -> Words:
    return Words(f"a mount of `{refused.container.name if refused.container is not None else ''}` has no path")


def _path_twice(refused: ServerComplaint) -> Words:
    place, mounts = refused.fault.value, refused.above(2)
    if not place:
        return _no_path(refused)
    first = next(n for n in range(100_000) if value(refused.job.tree, *mounts, n, "mountPath") == place)
    also = (Label(refused.job.at((*mounts, first, "mountPath")), "first mounted here"),)
    return Words(f"two mounts stand at `{place}`", also=also)


def _absolute(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.fault.value}` is not below the volume", group=(*refused.path, "absolute"))


def _leaving(refused: ServerComplaint) -> Words:
    return Words(f"`{refused.fault.value}` leaves the volume", group=(*refused.path, "leaving"))


EXPLANATIONS = (
    Explanation(VOLUME_NAME, "volumes.#.name", Words("a volume has no name"), "Required value"),
    Explanation(VOLUME_NAME, "volumes.#.name", _name, "Invalid value"),
    Explanation(VOLUME_SOURCE, "volumes.#.*", _second_source, "more than 1 volume type"),
    Explanation(NO_VOLUME, "volumeMounts.#.name", _unknown),
    Explanation(MOUNT, "volumeMounts.#.mountPath", _no_path, "Required value"),
    Explanation(MOUNT, "volumeMounts.#.mountPath", _path_twice, "must be unique"),
    Explanation(MOUNT, ("volumeMounts.#.subPath", "volumeMounts.#.subPathExpr"), _absolute, "must be a relative path"),
    Explanation(MOUNT, ("volumeMounts.#.subPath", "volumeMounts.#.subPathExpr"), _leaving, "must not contain"),
)


CHECKS = (unknown_medium, relative_mount_path, unused_volume, shared_memory_of_host)
