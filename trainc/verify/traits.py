"""What occurs anywhere in a job: checks that look for something else need not look at all."""

from __future__ import annotations

from trainc.model.remembered import Remembered
from trainc.verify.data.machines import EFA

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.contents import Outline as ContainerOutline
    from trainc.verify.disks import Volumes
    from trainc.verify.outline import Outline, RoleOutline


def _traits(outline: Outline) -> frozenset[str]:
    """All fields, variables, resources, annotations and kinds that occur in a job; words of its commands, and more.

    What many checks look for: `devices`, `script`, `$`, `odd amount`, `odd count`, `odd meeting`, `several meetings`,
    `several roles`, `several Jobs`, `side by side` and `not Indexed`. The others are named after the one mistake that
    they may be; each holds wherever its check finds one.
    """
    fields, kinds, failures, roles, texts = outline
    found = {*fields, *kinds, *failures.traits, *texts}
    if len(roles) > 1:
        found.add("several roles")
    for role in roles:
        _role(found, role)
    _maintenance(found, outline)
    _together(found)
    return frozenset(found)


TRAITS = Remembered(_traits)


def _role(found: set[str], role: RoleOutline) -> None:
    fields, work, (frame, disks, init), annotations, _, main = role
    found |= {*fields, *work.traits, *frame.traits, *annotations, *disks.traits}
    containers = (*init, *main)
    if len(main) > 1:
        found.add("side by side")
    if len([True for fields, *_ in containers if "ports" in fields]) > 1:
        found.add("several ports")
    for container in containers:
        _container(found, container, disks)
    for _, names, mounts, demand in main:
        if demand.sharing > 1 and not mounts.shm and not frame.host_ipc:
            found.add("no shm")
        if "FI_PROVIDER" in names.traits and EFA not in demand.traits:
            found.add("FI_PROVIDER alone")
    if not disks.written <= {name for _, _, mounts, _ in containers for name in mounts.names}:
        found.add("unused volume")
    if any(demand.devices for *_, demand in main) and not disks.lasting:
        found.add("nothing lasting")


def _container(found: set[str], container: ContainerOutline, disks: Volumes) -> None:
    fields, names, mounts, demand = container
    found |= {*fields, *names.traits, *mounts.traits, *demand.traits}
    if demand.memory is not None and demand.memory < disks.largest:
        found.add("large tmpfs")


def _maintenance(found: set[str], outline: Outline) -> None:
    """Add the trait of a job that is prepared for the end of a node in one of its two policies only."""
    _, _, failures, roles, _ = outline
    policies = [policy for *_, policy, _ in roles if policy is not None]
    if failures.reacting and not any(policy.failing for policy in policies):
        found.add("half maintenance")
    if not failures.reacting and any(policy.disrupted for policy in policies):
        found.add("half maintenance")


def _together(found: set[str]) -> None:
    """What counts only where two things occur."""
    if "a daemon" in found and "a plugin" in found:
        found.add("daemon and plugin")
    if "output" in found:
        if "read-only mount" in found:
            found.add("output, read-only mount")
        if "emptyDir" in found and "maxRestarts" in found:
            found.add("output, emptyDir")
    if "no grace" in found and "checkpoints" in found and "devices" in found:
        found.add("checkpoints, no grace")
    if "nothing lasting" in found and "maxRestarts" in found:
        found.add("restarts, nothing lasting")
