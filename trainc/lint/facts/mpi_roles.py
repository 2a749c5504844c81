"""Which pods of a job run mpirun, and which of them it reaches."""

from __future__ import annotations

from trainc.frameworks.vocabularies import MPIRUN
from trainc.lint.facts.hostfile import hostfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, ExpandedRole, Job


def launchers(job: Job) -> list[Container]:
    """The containers that run mpirun."""
    if not any(word in job.text for word in MPIRUN.programs):
        return []
    if job.bundle.plan is not None and job.bundle.plan.barred:
        return []  # the framework that writes the hostfile was not asked
    return [c for c in job.main if c.launch is not None and c.launch.launcher is MPIRUN]


def workers(job: Job, launcher: ExpandedRole) -> list[ExpandedRole]:
    """The roles whose pods mpirun reaches: those of the hostfile, else those that run an SSH daemon."""
    hosts, _ = hostfile(job)
    if hosts:
        host_names = {host.name.partition(".")[0] for host in hosts}
        return [role for role in job.roles if any(name.startswith(f"{job.name}-{role.name}-") for name in host_names)]
    return [role for role in job.roles if role is not launcher and any("sshd" in c.text for c in role.main)]
