"""Devices of the host that a container mounts and may not open."""

from __future__ import annotations

from trainc.lint.facts.values import flag, rows, table, text
from trainc.lint.tables.devices import is_network
from trainc.model.finding import WARNING, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job

NO_ACCESS = Rule("infiniband-without-access", WARNING)
_DEVICES = "/dev/infiniband"


def infiniband_without_access(job: Job) -> Findings:
    for container in job.main:
        volumes = container.role.volumes
        for index, mount in enumerate(rows(container.tree, "volumeMounts") if container.role.reads_host else ()):
            path = text(table(volumes.get(text(mount, "name"), {}), "hostPath"), "path")
            if path.rstrip("/") == _DEVICES and not _may_open(container):
                yield NO_ACCESS.at(
                    job.at((*container.path, "volumeMounts", index)),
                    f"`{container.name}` mounts `{_DEVICES}` of the host, but may not open its devices",
                    effect="opening them fails, and NCCL falls back to TCP",
                    help="ask for the resource of an RDMA device plugin, or set `securityContext.privileged: true`",
                )


def _may_open(container: Container) -> bool:
    if flag(table(container.tree, "securityContext"), "privileged") or "resourceClaims" in container.role.pod:
        return True
    return any(is_network(resource) for resource in (*container.limits, *container.requests))


CHECKS = (infiniband_without_access,)
