"""Amounts: devices, CPU, memory and shared memory that no machine has, or that a program lacks."""

from trainc.lint.facts.amounts import MANY, ONE, amount
from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.launch import NOTHING
from trainc.lint.facts.values import flag, rows, table, text
from trainc.lint.tables.machines import GAUDI, GPU, MOST_CPUS, NPU, device_kind, meant_device
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import Path, Tree

MANY_DEVICES = Rule("too-many-devices", ERROR)
MISSPELT = Rule("misspelt-resource", ERROR)
MIXED = Rule("mixed-accelerators", ERROR)
UNIT = Rule("amount-in-wrong-unit", ERROR)
NO_MEMORY = Rule("accelerator-without-memory", NOTE)
NO_CPU = Rule("accelerator-without-cpu", NOTE)
TMPFS = Rule("tmpfs-over-memory", WARNING)
SHM = Rule("no-shared-memory", WARNING)
_LEAST_MEMORY = 1 << 20  # container runtimes refuse limits of a few MiB, and no program fits into one
_LITTLE = {
    "memory": "the kernel kills the container before its program starts",
    "ephemeral-storage": "the kubelet evicts the pod once its files and logs exceed it",
}
_LEAST_BESIDE_DEVICES = {"cpu": ONE, "memory": (1 << 30) * ONE}
_STARVED = {
    "cpu": "its processes are throttled, and the accelerators are idle",
    "memory": "the container is OOMKilled when the program initializes its accelerators",
}
# The share of a GPU's memory that JAX takes when it starts.
_FRACTIONS = ("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION")
_DEFAULT_SHM = (64 << 20) * ONE


def too_many_devices(job: Job) -> Findings:
    sides = [(one, *side) for one in job.containers for side in (("limits", one.limits), ("requests", one.requests))]
    amounts = [(one, side, resource, leaf) for one, side, held in sides for resource, leaf in held.items()]
    for container, side, resource, leaf in amounts:
        number = amount(leaf.value) if type(leaf) is Sourced and device_kind(resource) else None
        if number is not None and number >= MANY:
            digits = str(leaf.value).rstrip("kKMGTPEi")
            at = container.at("resources", side, resource)
            message = f"`{resource}: {leaf.value}` requests {number // ONE:,} devices"
            help_ = "request at most what one machine has"
            if digits != str(leaf.value):
                help_ = f"write `{resource}: {digits}`"
            yield MANY_DEVICES.at(at, message, effect="no machine has that many: the pods stay pending", help=help_)


def misspelt_resource(container: Container) -> Findings:
    for resource in dict.fromkeys((*container.limits, *container.requests)):
        meant = meant_device(resource)
        # A node of the dump may have it after all.
        nodes = container.role.job.cluster.objects.get("Node", {}).values() if meant else ()
        if meant and not any(resource in table(table(node, "status"), "allocatable") for node in nodes):
            message = f"no device plugin offers `{resource}`"
            effect = "no node has it: the pods stay pending"
            help_ = f"did you mean `{meant}`?"
            yield MISSPELT.at(container.amount_at(resource, key=True), message, effect=effect, help=help_)


def mixed_accelerators(container: Container) -> Findings:
    kinds: dict[tuple[str, str], str] = {}
    for resource in container.devices:
        vendor = ".".join(resource.partition("/")[0].split(".")[-2:])
        kinds.setdefault((vendor, device_kind(resource)), resource)
    if len(kinds) > 1:
        (kind, first), (_, second) = list(kinds.items())[:2]
        message = f"`{container.name}` requests `{first}` and `{second}`"
        also = [Label(container.amount_at(first), f"a {kind[1]}")]
        effect = "no node offers both: the pods stay pending"
        yield MIXED.at(container.amount_at(second), message, also=also, effect=effect, help="keep one of them")


def amount_in_wrong_unit(container: Container) -> Findings:
    least = _LEAST_BESIDE_DEVICES if any(container.devices.values()) else {}
    for resource in ("cpu", *_LITTLE):
        for field, amounts in (("limits", container.limits), ("requests", container.requests)):
            leaf: Tree = amounts.get(resource)
            size = amount(leaf.value) if type(leaf) is Sourced else None
            if size is None or size <= 0:
                continue
            if resource == "cpu" and size > MOST_CPUS * ONE:
                meaning, effect = f"{size // ONE} CPUs", "no node has that many: the pod stays pending"
            elif resource != "cpu" and size < _LEAST_MEMORY * ONE:
                meaning = "less than a byte" if size < ONE else f"{-(-size // ONE)} byte{'s' if size > ONE else ''}"
                effect = _LITTLE[resource] if field == "limits" else "the scheduler treats it as zero"
            elif field == "limits" and size < least.get(resource, 0):
                meaning = "less than one CPU" if resource == "cpu" else "less than 1Gi"
                meaning, effect = f"{meaning}, for a container with accelerators", _STARVED[resource]
            else:
                continue
            # The recorded server makes such pods; the node alone ends them, and one with virtual machines may not.
            level = ERROR if resource == "cpu" and size > ONE else WARNING
            at, message = container.at("resources", field, resource), f"`{resource}: {leaf.value}` is {meaning}"
            yield UNIT.at(at, message, effect=effect, help=_advice(resource, str(leaf.value)), level=level)
            break


def share_in_wrong_unit(job: Job) -> Findings:
    for container in job.main if not job.names.isdisjoint(_FRACTIONS) else ():
        for name in _FRACTIONS:
            written = container.literals.get(name)
            if not written or "$" in written or not any(container.devices.values()):
                continue
            share = _share(written)
            if share is not None and (not share > 1 or container.sets("TF_FORCE_UNIFIED_MEMORY")):
                continue
            percent = None if share is None or not 2 < share < 100 else f"{share / 100:g}"
            message, level = f"`{name}` is `{written}`, which is not a number", ERROR
            effect = "JAX fails when it starts"
            if share is not None:
                message, level = f"`{name}` is `{written}`: {share:g} times the memory of a GPU", WARNING
                effect = "JAX takes all memory that the GPU has, and leaves none for NCCL and other libraries"
            help_ = f"write `{percent}`" if percent else "write a share, such as `0.9`"
            yield UNIT.at(container.env_at(name, "value"), message, effect=effect, help=help_, level=level)


def _share(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None


def _advice(resource: str, written: str) -> str:
    digits = written.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    if resource == "cpu" and written.endswith("m"):
        return f"write `{digits}` for CPUs: `m` means thousandths"
    if resource == "cpu":
        return f"write `{digits}` for CPUs, or `{digits}m` for thousandths of one"
    if written.endswith(("Mi", "M", "Ki", "k", "K")):
        return f"write `{digits}Gi`, or raise it"
    if written.endswith("m"):
        return f"write `{digits}Mi`: `m` means thousandths"
    return f"write the unit: `{digits}Gi` or `{digits}Mi`"


def accelerator_without_memory(container: Container) -> Findings:
    if container.devices and not _asks_for(container, "memory"):
        alone = "no memory" if _asks_for(container, "cpu") else "neither memory nor CPU"
        message = f"`{container.name}` requests accelerators but {alone}"
        effect = "the scheduler places it as if it needed none, and the kernel kills it first when memory runs out"
        help_ = "request most of the machine's memory, and CPU as well"
        yield NO_MEMORY.at(container.at("resources"), message, effect=effect, help=help_)


def accelerator_without_cpu(container: Container) -> Findings:
    if not container.devices or not _asks_for(container, "memory"):
        return
    leaf: Tree = container.requests.get("cpu")
    size = amount(leaf.value) if type(leaf) is Sourced and "cpu" not in container.limits else None
    is_little = size is not None and size < ONE and any(container.devices.values())
    if is_little or not _asks_for(container, "cpu"):
        at = container.at("resources", *(("requests", "cpu") if is_little else ()))
        message = (
            f"`{container.name}` requests accelerators but {f'only `cpu: {leaf.value}`' if is_little else 'no CPU'}"
        )
        effect = "it gets only the CPU time that others leave, and its accelerators wait for data"
        help_ = "request its share of the machine's CPUs: all of them if it uses all accelerators"
        yield NO_CPU.at(at, message, effect=effect, help=help_)


def _asks_for(container: Container, resource: str) -> bool:
    return resource in container.limits or resource in container.requests


def tmpfs_over_memory(role: ExpandedRole) -> Findings:
    for index, volume in enumerate(rows(role.pod, "volumes") if role.volumes else ()):
        source = table(volume, "emptyDir")
        leaf: Tree = source.get("sizeLimit")
        name = text(volume, "name")
        size = amount(leaf.value) if type(leaf) is Sourced and text(source, "medium") == "Memory" else None
        if size is None:
            continue
        for container in role.main:
            memory: Tree = container.limits.get("memory")
            limit = amount(memory.value) if type(memory) is Sourced else None
            if limit is None or size <= limit:
                continue
            if all(text(mount, "name") != name for mount in rows(container.tree, "volumeMounts")):
                continue
            at = role.pod_at("volumes", index, "emptyDir", "sizeLimit")
            message = f"`{name}` may grow to {leaf.value}, but the memory limit of `{container.name}` is {memory.value}"
            also = [Label(container.amount_at("memory"), "counts against this limit")]
            effect = "the container runs out of memory before the volume is full"
            help_ = "lower the size of the volume, or raise the memory limit above it"
            yield TMPFS.at(at, message, also=also, effect=effect, help=help_)


def no_shared_memory(job: Job) -> Findings:
    # Torch, a launcher, Python and NCCL are known to use /dev/shm.
    is_torch = job.bundle.plan is not None and job.bundle.plan.framework in ("torch", "pytorchjob")
    launches = any(container.launch.launcher is not NOTHING for container in job.main)
    shares_memory = is_torch or launches or "NCCL" in job.families or "nccl" in job.text
    for role in job.roles if shares_memory else ():
        if not role.devices or flag(role.pod, "hostIPC"):
            continue
        for container in role.main:
            counts = [n for r, n in container.devices.items() if device_kind(r) in (GPU, GAUDI, NPU) and type(n) is int]
            written, path = _shm(container) if max(counts, default=0) > 1 else (None, ())
            if written is None:
                continue
            message = f"`{container.name}` has {max(counts)} accelerators but only {written} of /dev/shm"
            also = [Label(container.at("resources", "limits"), f"{max(counts)} here")]
            effect = (
                "NCCL or a data loader fails with `Bus error` or `No space left on device`, often only after a while"
            )
            help_ = "raise it, or remove it: the memory limit bounds the volume anyway"
            if path[-1] == "name":
                help_ = "mount an `emptyDir` with `medium: Memory` at /dev/shm"
            yield SHM.at(job.at(path), message, also=also, effect=effect, help=help_)


def _shm(container: Container) -> tuple[str | None, Path]:
    """How much /dev/shm a container has where that is no more than by default, None where it is more, and where it says so."""
    for mount in rows(container.tree, "volumeMounts"):
        if text(mount, "mountPath").rstrip("/") in ("/dev/shm", "/dev"):  # noqa: S108 (where it is mounted, not a file of ours)
            name = text(mount, "name")
            size = text(table(container.role.volumes.get(name, {}), "emptyDir"), "sizeLimit")
            volumes = [text(volume, "name") for volume in rows(container.role.pod, "volumes")]
            most = amount(size) if size else None
            if most is None or most > _DEFAULT_SHM or name not in volumes:
                return None, ()
            return size, (*container.role.pod_path, "volumes", volumes.index(name), "emptyDir", "sizeLimit")
    is_larger = "mount -o remount" in container.text
    return (None if is_larger else "the default 64 MiB"), (*container.path, "name")


CHECKS = (
    each(lambda job: job.containers, misspelt_resource, mixed_accelerators, amount_in_wrong_unit),
    each(lambda job: job.main, accelerator_without_memory, accelerator_without_cpu),
    each(lambda job: job.roles, tmpfs_over_memory),
    too_many_devices, share_in_wrong_unit, no_shared_memory,
)  # fmt: skip
