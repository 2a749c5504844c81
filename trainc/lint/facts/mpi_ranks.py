"""Which ranks of an MPI program run in which pod: mpirun fills the slots of one host of its hostfile after the other."""

from __future__ import annotations

from trainc.frameworks.vocabularies import MPIRUN
from trainc.lint.facts.hostfile import hostfile
from trainc.lint.facts.world import PodAddress, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Job
    from trainc.lint.facts.launch import Launch

# Flags by which mpirun places processes otherwise than slot by slot over the hostfile.
_PLACING = frozenset(("map_by", "rank_by", "bynode", "npernode", "ppn", "perhost", "rankfile", "rf", "host", "H"))


def process_ranks(job: Job) -> list[tuple[PodAddress, range]] | None:
    """The pods of a hostfile with the ranks of their processes, in its order; None where no mpirun with one is seen.

    Empty where mpirun is told another placement, or a number of processes that only the cluster knows.
    """
    hosts, _ = hostfile(job)
    launch = _mpirun(job)
    if not hosts or launch is None:
        return None
    left = launch.number("np")
    if not _PLACING.isdisjoint(launch.flags) or (left is not None and type(left) is not int):
        return []
    ranks: list[tuple[PodAddress, range]] = []
    first = 0
    for host in hosts:
        pod = place_of(job, host.name)
        if type(pod) is not PodAddress or host.slots is None:
            return []
        number = host.slots if left is None else min(host.slots, left - first)
        if number > 0:
            ranks.append((pod, range(first, first + number)))
            first += number
    return ranks


def processes_in_all(job: Job) -> int | None:
    """How many processes mpirun starts: as many as it is told, else one for each slot; None where unknown."""
    hosts, _ = hostfile(job)
    launch = _mpirun(job)
    np = None if launch is None else launch.number("np")
    if np is not None:
        return np if type(np) is int else None
    slots = [host.slots for host in hosts if host.slots is not None]
    return sum(slots) if len(slots) == len(hosts) else None


def _mpirun(job: Job) -> Launch | None:
    launches = [role.trainer.launch for role in job.roles if role.trainer is not None]
    return next((launch for launch in launches if launch is not None and launch.launcher is MPIRUN), None)
