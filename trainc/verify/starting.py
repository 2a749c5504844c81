"""What is worth a look in how processes are started, and in where they are told to meet."""

from __future__ import annotations

from trainc.verify.containers import INDEX_FIELDS
from trainc.verify.values import integer
from trainc.verify.variables import TOLD
from trainc.verify.world import ADDRESSES, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

_COUNTED = ("auto", "gpu")  # torchrun counts the accelerators itself


def starting(found: set[str], container: Container) -> None:
    """Add the traits of a container's numbers of nodes and processes, its ranks and its settings."""
    names, literals, words = container.names, container.literals, container.traits
    if "nodes option" in words or ("PET_NNODES" in container.env and literals.get("PET_NNODES") != str(container.role.size)):
        found.add("odd nodes")
    if ("torchrun" in words or "processes option" in words) and _odd_processes(container):
        found.add("odd processes")
    for name in names.ranked:
        if name in literals or container.fields.get(name) not in INDEX_FIELDS:
            found.add("odd rank")
    kind = container.demand.kind
    if kind and names.readers and names.readers != {kind}:
        found.add("foreign variable")


def _odd_processes(container: Container) -> bool:
    """Whether the launcher may start another number of processes than there are accelerators to use."""
    if "processes option" in container.traits:
        return True
    written = container.literals.get("PET_NPROC_PER_NODE")
    if container.devices:
        gpus = container.demand.gpus
        return bool(gpus) and written != str(gpus) and written not in _COUNTED
    return "PET_NPROC_PER_NODE" in container.env and (written is None or written in _COUNTED or "$" in written)


def settings(found: set[str], container: Container) -> None:
    """Add the traits of variables by what they are set to."""
    for name in container.names.telling:
        trait = TOLD[name, container.literals.get(name)]
        if trait:
            found.add(trait)


def meeting(found: set[str], job: Job) -> None:
    """Add the traits of the addresses at which the containers of a job are told to meet."""
    addressed = [container for container in job.containers if container.names.addressed]
    if not addressed and "meets" not in found:
        return
    if len(addressed) == 1 and found.isdisjoint(("meets", "may meet")) and _plain(addressed[0], job):
        found.add("meetings")
        return
    if job.meetings:
        found.add("meetings")
    if len(job.meetings) > 1:
        found.add("several meetings")
    for one in job.meetings:
        number = integer(one.port) if one.port else 1
        if type(one.place) is not Place or number is None or not 0 < number < 65536:
            found.add("odd meeting")


def _plain(container: Container, job: Job) -> bool:
    """Whether the only address is written, with a port beside it, and visibly that of the first pod of a role."""
    name = container.names.addressed[0]
    if (
        not container.main
        or len(container.names.addressed) > 1
        or f"{name}=" in container.script
        or not job.dns
        or not job.name
    ):
        return False
    host = container.literals.get(name, "")
    port = container.literals.get(ADDRESSES[name], "")
    # One dot, and nothing else but what host names are made of: there is one way to read it.
    if not (port.isdigit() and port.isascii() and 0 < int(port) < 65536):
        return False
    return host.replace("-", "").replace(".", "", 1).isalnum() and any(_first(role, host) for role in job.roles)


def _first(role: Role, host: str) -> bool:
    replicas, size = role.replicas, role.size
    return type(replicas) is int and replicas > 0 and type(size) is int and size > 0 and host == role.address()
