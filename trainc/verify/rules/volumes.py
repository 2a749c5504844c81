"""What pod validation says about volumes and mounts, and volumes that nobody uses (Kubernetes 1.36)."""

from __future__ import annotations

from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.spelling import meant
from trainc.schema.names import label
from trainc.schema.pods.volumes import SOURCES
from trainc.verify.refusal import lost_mounts, refuse
from trainc.verify.values import rows, substituted, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

_WHY = "JobSet does not look into pod templates: the mistake shows only as events of a Job that cannot make pods."

VOLUME_NAME = Rule("bad-volume-name", ERROR, "a volume's name is no DNS label", _WHY)
VOLUME_SOURCE = Rule("bad-volume-source", ERROR, "a volume has no source, or more than one", _WHY)
NO_VOLUME = Rule(
    "mount-without-volume",
    ERROR,
    "a container mounts a volume that the pod does not have",
    "JobSet's own volumeClaimPolicies add volumes, and those are counted; any other mount needs its volume in the pod.",
)
MOUNT = Rule("bad-mount", ERROR, "a mount has no path, a path used twice, or a sub-path that leaves the volume", _WHY)
RELATIVE = Rule(
    "relative-mount-path",
    WARNING,
    "a mount path does not start with a slash",
    "Container runtimes read it from the root of the file system, not from the working directory.",
)
UNUSED = Rule(
    "unused-volume",
    WARNING,
    "a volume is declared but no container mounts it",
    "The program then writes to the container's own file system, which ends with the container.",
)


def bad_volume_name(job: Job) -> None:
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes")):
            name = text(volume, "name")
            path = (*role.pod_path, "volumes", index, "name")
            if not name:
                refuse(job, VOLUME_NAME, path, "Required value", "a volume has no name")
            elif not substituted(name):
                faults = tuple(f'Invalid value: "{name}": {fault}' for fault in label(name))
                if faults:
                    message = f"`{name}` cannot be the name of a volume"
                    help_ = "use `-` instead of dots" if "." in name else ""
                    refuse(job, VOLUME_NAME, path, faults, message, help=help_, more=lost_mounts(role, name))


def bad_volume_source(job: Job) -> None:
    for role in job.roles:
        if not role.volumes:
            continue
        for index, volume in enumerate(rows(role.pod, "volumes")):
            if len(volume) == 2 or not volume:
                continue
            path = (*role.pod_path, "volumes", index)
            sources = [key for key in SOURCES if key in volume]
            name = text(volume, "name")
            for source in sources[1:]:
                reason = "Forbidden: may not specify more than 1 volume type"
                refuse(
                    job,
                    VOLUME_SOURCE,
                    (*path, source),
                    reason,
                    f"volume `{name}` has more than one source",
                    key=True,
                    also=[Label(job.at((*path, sources[0]), key=True), "the other source")],
                    more=lost_mounts(role, name),
                )


def mount_without_volume(job: Job) -> None:
    for container in job.containers:
        if "volumeMounts" not in container.tree:
            continue
        for index, mount in enumerate(rows(container.tree, "volumeMounts")):
            name = text(mount, "name")
            if name in container.role.volumes or name in job.claimed or substituted(name):
                continue
            path = (*container.path, "volumeMounts", index, "name")
            if not name:
                refuse(
                    job,
                    NO_VOLUME,
                    path,
                    ("Required value", 'Not found: ""'),
                    f"a mount of `{container.name}` names no volume",
                )
                continue
            refuse(
                job,
                NO_VOLUME,
                path,
                f'Not found: "{name}"',
                f"`{container.name}` mounts `{name}`, but the pod has no volume of that name",
                help=_nearest(name, container.role, job),
            )


def _nearest(name: str, role: Role, job: Job) -> str:
    return meant(name, [*role.volumes, *job.claimed], f"add a volume named `{name}` to the pod")


def bad_mount(job: Job) -> None:
    for container in job.containers:
        if "volumeMounts" in container.tree:
            _mounts(job, container)


def _mounts(job: Job, container: Container) -> None:
    seen: dict[str, int] = {}
    for index, mount in enumerate(rows(container.tree, "volumeMounts")):
        path = (*container.path, "volumeMounts", index)
        where, below = text(mount, "mountPath"), text(mount, "subPath")
        if not where:
            reasons = ("Required value", *(('Invalid value: "": must be unique',) if where in seen else ()))
            refuse(job, MOUNT, (*path, "mountPath"), reasons, f"a mount of `{container.name}` has no path")
        elif where in seen:
            first = Label(job.at((*container.path, "volumeMounts", seen[where], "mountPath")), "first mounted here")
            reason = f'Invalid value: "{where}": must be unique'
            refuse(job, MOUNT, (*path, "mountPath"), reason, f"two mounts stand at `{where}`", also=[first])
        seen.setdefault(where, index)
        shown = (*container.path, "volumeMounts", "subPath")  # the server does not say which
        if below.startswith("/"):
            reason = f'Invalid value: "{below}": must be a relative path'
            refuse(job, MOUNT, (*path, "subPath"), reason, f"`{below}` is not below the volume", shown=shown)
        if ".." in below.split("/"):
            reason = f"Invalid value: \"{below}\": must not contain '..'"
            refuse(job, MOUNT, (*path, "subPath"), reason, f"`{below}` leaves the volume", shown=shown)


def relative_mount_path(job: Job) -> None:
    for container in job.containers:
        for index, mount in enumerate(rows(container.tree, "volumeMounts")):
            where = text(mount, "mountPath")
            if where and where[0] not in "/$" and ":" not in where and not substituted(where):
                job.report.add(
                    RELATIVE.at(
                        job.at((*container.path, "volumeMounts", index, "mountPath")),
                        f"`{where}` does not start with a slash",
                        help=f"write `/{where}`",
                    )
                )


def unused_volume(job: Job) -> None:
    for role in job.roles:
        if not role.volumes:
            continue
        mounted = {text(m, "name") for c in role.containers for m in rows(c.tree, "volumeMounts")}
        mounted.update(text(m, "name") for c in role.containers for m in rows(c.tree, "volumeDevices"))
        for index, volume in enumerate(rows(role.pod, "volumes")):
            name = text(volume, "name")
            written = volume["name"].origin.at is not None if name else False  # not one that a framework brings along
            if written and name not in mounted and not _for_others(name, role):
                job.report.add(
                    UNUSED.at(
                        job.at((*role.pod_path, "volumes", index, "name")),
                        f"no container of `{role.name}` mounts volume `{name}`",
                        help="mount it, or remove it",
                    )
                )


def _for_others(name: str, role: Role) -> bool:
    """GKE's FUSE side cars are injected and take their volumes by these names."""
    return name.startswith("gke-gcsfuse") or any(
        key.startswith("gke-gcsfuse/") and name in key for key in role.annotations
    )
