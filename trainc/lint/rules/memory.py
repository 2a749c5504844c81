"""Memory against what is asked of it, and what processes share."""

from __future__ import annotations

from trainc.lint.facts.amounts import amount
from trainc.lint.facts.values import flag, rows, table, text
from trainc.lint.tables.devices import GAUDI, GPU, NPU, device_kind
from trainc.model.finding import NOTE, WARNING, Label, Rule
from trainc.model.sourced import Sourced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job
    from trainc.model.tree import Tree

NO_MEMORY = Rule("accelerator-without-memory", NOTE)
NO_CPU = Rule("accelerator-without-cpu", NOTE)
TMPFS = Rule("tmpfs-over-memory", WARNING)
SHM = Rule("no-shared-memory", WARNING)


def accelerator_without_memory(job: Job) -> Findings:
    for container in job.main:
        if container.devices and not _asks_for(container, "memory"):
            alone = "no memory" if _asks_for(container, "cpu") else "neither memory nor cpu"
            yield NO_MEMORY.at(
                job.at((*container.path, "resources")),
                f"`{container.name}` asks for accelerators but for {alone}",
                effect="it is placed as if it needed none, and killed first when the node runs short",
                help="ask for most of what the machine has, and for cpu as well",
            )


def accelerator_without_cpu(job: Job) -> Findings:
    for container in job.main:
        if container.devices and _asks_for(container, "memory") and not _asks_for(container, "cpu"):
            yield NO_CPU.at(
                job.at((*container.path, "resources")),
                f"`{container.name}` asks for accelerators but for no cpu",
                effect="it gets what others on the node leave over, and its accelerators wait for data",
                help="request its share of the machine's cpus: all of them where it takes all accelerators",
            )


def _asks_for(container: Container, resource: str) -> bool:
    return resource in container.limits or resource in container.requests


def tmpfs_over_memory(job: Job) -> Findings:
    for role in job.roles:
        for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
            source = table(volume, "emptyDir")
            if text(source, "medium") != "Memory" or "sizeLimit" not in source:
                continue
            leaf = source["sizeLimit"]
            size = amount(leaf.value) if type(leaf) is Sourced else None
            for container in role.main:
                memory: Tree = container.limits.get("memory")
                limit = amount(memory.value) if type(memory) is Sourced else None
                if size is None or limit is None or size <= limit or not _mounts(container, text(volume, "name")):
                    continue
                yield TMPFS.at(
                    job.at((*role.pod_path, "volumes", index, "emptyDir", "sizeLimit")),
                    f"`{text(volume, 'name')}` may hold {leaf.value}, but `{container.name}` may use {memory.value} of memory",
                    also=[
                        Label(job.at((*container.path, "resources", "limits", "memory")), "the limit it counts against")
                    ],
                    effect="the container is killed for memory before the volume is full",
                    help="lower `sizeLimit`, or raise the memory limit above it",
                )


def _mounts(container: Container, volume: str) -> bool:
    return any(text(mount, "name") == volume for mount in rows(container.tree, "volumeMounts"))


def no_shared_memory(job: Job) -> Findings:
    for role in job.roles:
        if not role.devices or flag(role.pod, "hostIPC"):
            continue
        for container in role.main:
            counts = [n for r, n in container.devices.items() if device_kind(r) in (GPU, GAUDI, NPU) and type(n) is int]
            if max(counts, default=0) < 2 or _has_shm(container) or not _shares_memory(job):
                continue
            yield SHM.at(
                job.at((*container.path, "name")),
                f"`{container.name}` has {max(counts)} accelerators, but /dev/shm keeps its 64 MiB",
                also=[Label(job.at((*container.path, "resources", "limits")), f"{max(counts)} here")],
                effect="NCCL or a data loader dies with `Bus error` or `No space left on device`, often only after a while",
                help="mount an `emptyDir` with `medium: Memory` at /dev/shm",
            )


def _shares_memory(job: Job) -> bool:
    """Whether anything that is known to use /dev/shm runs in the job: torch, a launcher, Python, NCCL."""
    if job.bundle.plan is not None and job.bundle.plan.framework in ("torch", "pytorchjob"):
        return True
    return "NCCL" in job.families or "nccl" in job.text or any(container.launch is not None for container in job.main)


def _has_shm(container: Container) -> bool:
    for mount in rows(container.tree, "volumeMounts"):
        if text(mount, "mountPath").rstrip("/") in ("/dev/shm", "/dev"):  # noqa: S108 (where it is mounted, not a file of ours)
            return True
    return "mount -o remount" in container.text


CHECKS = (accelerator_without_memory, accelerator_without_cpu, tmpfs_over_memory, no_shared_memory)
