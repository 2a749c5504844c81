"""What is worth a look in how processes are started, and in where they are told to meet."""

from __future__ import annotations

from trainc.frameworks.vocabularies import EVERY, TORCHRUN
from trainc.model.remembered import Remembered
from trainc.verify.containers import INDEX_FIELDS
from trainc.verify.values import integer
from trainc.verify.world import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.containers import Container
    from trainc.verify.job import Job

_COUNTED = ("auto", "gpu")  # torchrun counts the accelerators itself


def starting(found: set[str], container: Container) -> None:
    """Add the traits of a container's numbers of nodes and processes, its ranks and its settings."""
    names, literals, words = container.names, container.literals, container.traits
    if "nodes option" in words or (
        TORCHRUN.nodes[1] in names.traits and literals.get(TORCHRUN.nodes[1]) != str(container.role.size)
    ):
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
    variable = TORCHRUN.processes[1]
    written = container.literals.get(variable)
    if container.devices:
        gpus = container.demand.gpus
        return bool(gpus) and written != str(gpus) and written not in _COUNTED
    return variable in container.names.traits and (written is None or written in _COUNTED or "$" in written)


def meeting(found: set[str], job: Job) -> None:
    """Add the traits of the addresses at which the containers of a job are told to meet."""
    addressed = [container for container in job.main if container.names.addressed]
    elsewhere = "meets" in found or "address in init container" in found
    if not addressed and not elsewhere:
        return
    if len(addressed) == 1 and not elsewhere and "may meet" not in found and _plain(addressed[0], job):
        return
    if len(job.meetings) > 1:
        found.add("several meetings")
    for one in job.meetings:
        if type(one.place) is not Place or (one.port and not _PORTS[one.port]):
            found.add("odd meeting")


def _port(written: str) -> bool:
    number = integer(written)
    return number is not None and 0 < number < 65536


_PORTS = Remembered(_port)  # whether a text is a port


def _plain(container: Container, job: Job) -> bool:
    """Whether the only address is written, with a port beside it, and visibly that of the first pod of its own role."""
    role, name = container.role, container.names.addressed[0]
    host, port = container.literals.get(name, ""), container.literals.get(EVERY.addresses[name], "")
    return (
        host == f"{job.name}-{role.name}-0-0.{job.subdomain}"
        # One dot, and nothing else but what host names are made of: there is one way to read it.
        and host.replace("-", "").replace(".", "", 1).isalnum()
        and job.name != ""
        and type(role.replicas) is int
        and role.replicas > 0
        and type(role.size) is int
        and role.size > 0
        and _PORTS[port]
        and len(container.names.addressed) == 1
        and job.dns
        and not (container.script and f"{name}=" in container.script)
    )
