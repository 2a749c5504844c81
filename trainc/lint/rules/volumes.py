"""Volumes and mounts: media, paths, shared memory, InfiniBand devices, PVCs that outlive the job."""

from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.values import flag, rows, substituted, table, text
from trainc.lint.tables.machines import is_network
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.tree import Path
from trainc.text.spelling import meant

HIDES = Rule("mount-hides-image", WARNING)
RELATIVE = Rule("relative-mount-path", WARNING)
UNUSED = Rule("unused-volume", WARNING)
SHM_HOST = Rule("shared-memory-of-host", NOTE)
MEDIUM = Rule("unknown-medium", ERROR)
NO_ACCESS = Rule("infiniband-without-access", WARNING)
RETAINED = Rule("retained-claim-differs", NOTE)
# Directories without which the programs of an image do not start.
_OF_IMAGE = frozenset((
    "/", "/bin", "/etc", "/lib", "/lib64", "/opt", "/opt/conda", "/opt/venv", "/sbin", "/usr", "/usr/bin", "/usr/lib",
    "/usr/local", "/usr/local/bin", "/usr/local/lib",
))  # fmt: skip
_DEVICES = "/dev/infiniband"
_STORED = ("volumeMode", "storageClassName", "volumeName")  # what the server writes into a claim's spec


def unknown_medium(role: ExpandedRole) -> Findings:
    for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
        medium = text(table(volume, "emptyDir"), "medium")
        if medium in ("", "Memory") or medium.startswith("HugePages") or substituted(medium):
            continue
        at = role.pod_at("volumes", index, "emptyDir", "medium")
        message = f"`{medium}` is not a valid medium of an `emptyDir`"
        help_ = meant(medium, ("Memory", "HugePages"), "use `Memory`, or remove it to use the node's disk")
        yield MEDIUM.at(at, message, effect="the pods stay in ContainerCreating", help=help_)


def relative_mount_path(container: Container) -> Findings:
    for index, mount in enumerate(rows(container.tree, "volumeMounts")):
        where = text(mount, "mountPath")
        if where and where[0] not in "/$" and ":" not in where and not substituted(where):
            at = container.at("volumeMounts", index, "mountPath")
            yield RELATIVE.at(at, f"`{where}` does not start with a slash", help=f"write `/{where}`")


def mount_hides_image(container: Container) -> Findings:
    volumes = container.role.volumes
    for index, mount in enumerate(rows(container.tree, "volumeMounts") if volumes else ()):
        name, where = text(mount, "name"), text(mount, "mountPath")
        path = where.rstrip("/") or where[:1]
        others = [other for init in container.role.init for other in rows(init.tree, "volumeMounts")]
        filled = any(text(other, "name") == name and text(other, "mountPath") != where for other in others)
        if path not in _OF_IMAGE or filled or "hostPath" in volumes.get(name, {}):
            continue
        at = container.at("volumeMounts", index, "mountPath")
        effect = (
            "the container does not find the programs and libraries that the image has there, and most fail to start"
        )
        help_ = "mount it at a directory of its own, e.g. `/mnt/" + name + "`"
        yield HIDES.at(at, f"volume `{name}` hides `{path}` of the image", effect=effect, help=help_)


def unused_volume(role: ExpandedRole) -> Findings:
    if not role.volumes:
        return
    mounted = {text(m, "name") for c in role.containers for m in rows(c.tree, "volumeMounts")}
    mounted.update(text(m, "name") for c in role.containers for m in rows(c.tree, "volumeDevices"))
    for index, volume in enumerate(rows(role.pod, "volumes")):
        name = text(volume, "name")
        written = volume["name"].origin.at is not None if name else False  # not one that a framework brings along
        # GKE's FUSE sidecars are injected and take their volumes by these names.
        fuse = [key for key in role.annotations if key.startswith("gke-gcsfuse/")]
        is_injected = name.startswith("gke-gcsfuse") or any(name in key for key in fuse)
        if written and name not in mounted and not is_injected:
            message = f"no container of `{role.name}` mounts volume `{name}`"
            yield UNUSED.at(role.pod_at("volumes", index, "name"), message, help="mount it, or remove it")


def shared_memory_of_host(role: ExpandedRole) -> Findings:
    for index, volume in enumerate(rows(role.pod, "volumes") if role.reads_host else ()):
        if text(table(volume, "hostPath"), "path").rstrip("/") == "/dev/shm":  # noqa: S108 (the path somebody wrote)
            message = f"volume `{text(volume, 'name')}` is the host's /dev/shm"
            effect = "the pods of a node share it, and it fills up with the leftovers of killed pods"
            help_ = "use `emptyDir: {medium: Memory}`"
            yield SHM_HOST.at(role.pod_at("volumes", index), message, effect=effect, help=help_)


def infiniband_without_access(container: Container) -> Findings:
    volumes = container.role.volumes
    for index, mount in enumerate(rows(container.tree, "volumeMounts") if container.role.reads_host else ()):
        path = text(table(volumes.get(text(mount, "name"), {}), "hostPath"), "path")
        is_privileged = flag(table(container.tree, "securityContext"), "privileged")
        may_open = any(is_network(resource) for resource in (*container.limits, *container.requests))
        may_open = may_open or is_privileged or "resourceClaims" in container.role.pod
        if path.rstrip("/") == _DEVICES and not may_open:
            message = f"`{container.name}` mounts `{_DEVICES}` of the host but may not open its devices"
            effect = "opening them fails, and NCCL falls back to TCP"
            help_ = "request the resource of an RDMA device plugin, or set `securityContext.privileged: true`"
            yield NO_ACCESS.at(container.at("volumeMounts", index), message, effect=effect, help=help_)


def retained_claim_differs(job: Job) -> Findings:
    for index, policy in enumerate(rows(job.spec, "volumeClaimPolicies")):
        if text(table(policy, "retentionPolicy"), "whenDeleted") != "Retain":
            continue
        for at, template in enumerate(rows(policy, "templates")):
            if missing := [field for field in _STORED if not text(table(template, "spec"), field)]:
                path: Path = ("spec", "volumeClaimPolicies", index, "templates", at, "spec")
                *first, last = [f"`{field}`" for field in missing]
                listed = f"{', '.join(first)} and {last}" if first else last
                message = f"the template of `{text(table(template, 'metadata'), 'name')}` leaves {listed} to the server"
                effect = "the PVC outlives the JobSet, and the API server then rejects the same JobSet"
                help_ = "set `volumeMode: Filesystem`; once the PVC is bound, copy its `storageClassName` and `volumeName` before you create the JobSet again"
                yield RETAINED.at(job.at(path, key=True), message, effect=effect, help=help_)


CHECKS = (
    each(lambda job: job.roles, unknown_medium, unused_volume, shared_memory_of_host),
    each(lambda job: job.containers, relative_mount_path),
    each(lambda job: job.main, mount_hides_image, infiniband_without_access),
    retained_claim_differs,
)  # fmt: skip
