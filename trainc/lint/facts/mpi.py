"""The hostfile of MPI: the hosts of a job, and how many processes each of them takes."""

from typing import NamedTuple

from trainc.frameworks.base.vocabularies import MPIRUN
from trainc.lint.facts.job import Container, ExpandedRole, Job, once
from trainc.lint.facts.launch import Launch
from trainc.lint.facts.values import table, text
from trainc.lint.facts.world import PodAddress, place_of
from trainc.model.tree import Tree
from trainc.text.numbers import parsed_int

# Flags by which mpirun places processes otherwise than slot by slot over the hostfile.
_PLACING = frozenset(
    ("map_by", "rank_by", "bynode", "nolocal", "npernode", "ppn", "perhost", "rankfile", "rf", "host", "H")
)


class Host(NamedTuple):
    """One line of a hostfile."""

    name: str
    slots: int | None


@once
def hostfile(job: Job) -> tuple[list[Host], Tree]:
    """The hosts that a hostfile beside the job lists, and the ConfigMap that holds it; no hosts where there is none."""
    own = {id(tree) for tree in job.bundle.objects}
    for config in job.kinds.get("ConfigMap", ()):
        held = text(table(config, "data"), "hostfile")
        # One that goes out with another job of the file lists that job's hosts, unless it names pods of this one.
        if held and (id(config) in own or f"{job.name}-" in held):
            lines = [line.split() for line in held.splitlines() if line.strip() and not line.startswith("#")]
            hosts = []
            for name, *options in lines:
                host, _, slots = name.partition(":")
                written = next((option[6:] for option in options if option.startswith("slots=")), slots)
                hosts.append(Host(host, parsed_int(written)))
            return hosts, config
    return [], None


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
    launches = (role.trainer.launch for role in job.roles if role.trainer is not None)
    return next((launch for launch in launches if launch.launcher is MPIRUN), None)


def launchers(job: Job) -> list[Container]:
    """The containers that run mpirun."""
    if not any(word in job.text for word in MPIRUN.programs):
        return []
    if job.bundle.plan is not None and job.bundle.plan.barred:
        return []  # the framework that writes the hostfile was not asked
    return [container for container in job.main if container.launch.launcher is MPIRUN]


def workers(job: Job, launcher: ExpandedRole) -> list[ExpandedRole]:
    """The roles whose pods mpirun reaches: those of the hostfile, else those that run an SSH daemon."""
    hosts, _ = hostfile(job)
    if hosts:
        host_names = {host.name.partition(".")[0] for host in hosts}
        return [role for role in job.roles if any(name.startswith(f"{job.name}-{role.name}-") for name in host_names)]
    return [role for role in job.roles if role is not launcher and any("sshd" in c.text for c in role.main)]
