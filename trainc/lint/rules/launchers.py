"""MPI: what the launcher runs."""

from __future__ import annotations

from trainc.lint.facts.mpi_roles import workers
from trainc.model.finding import WARNING, Label, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Container, Findings, Job

NO_MPIRUN = Rule("launcher-without-mpirun", WARNING)
# Programs of a shell script that start nothing elsewhere.
_LOCAL = frozenset(
    (
        "[",
        "cd",
        "echo",
        "exit",
        "export",
        "ls",
        "mkdir",
        "nvidia-smi",
        "pip",
        "pip3",
        "printenv",
        "pwd",
        "set",
        "sleep",
        "ulimit",
    )
)
_STARTS_OTHERS = ("mpi", "launch", "spawn", "submit", "driver", "hvd", "horovod", "subprocess", "system(")


def launcher_without_mpirun(job: Job) -> Findings:
    for role in job.roles if _is_mpi(job) else ():
        if role.name != "launcher":
            continue
        others = [
            other
            for other in workers(job, role)
            if other is not role and other.main and type(other.count) is int and other.count
        ]
        if not others:
            continue
        for container in role.main:
            program = _own_program(container)
            if program:
                yield NO_MPIRUN.at(
                    job.at_word(container, program[0]),
                    f"the launcher runs `{' '.join(program)}` without mpirun",
                    also=[Label(job.at((*others[0].main[0].path, "name")), "mpirun would start it here")],
                    effect="the program runs once, in the launcher; the other pods wait, and their accelerators stand idle",
                    help=f"write `mpirun` before it: `mpirun {' '.join(program)}`",
                )


def _is_mpi(job: Job) -> bool:
    plan = job.bundle.plan
    return job.bundle.document.kind == "MPIJob" or (plan is not None and plan.framework == "mpi")


def _own_program(container: Container) -> list[str]:
    """The Python program that a launcher runs by itself, empty where something else may start the processes.

    Only what is plain to see counts: an image's own entrypoint, a script of the image, and a module or a program whose
    name tells of other processes may well call mpirun.
    """
    if "command" not in container.tree or any(word in container.text for word in _STARTS_OTHERS):
        return []
    if "$(" in container.script or "`" in container.script:
        return []
    programs = [command.words for command in container.commands if command.words and command.program not in _LOCAL]
    is_python = all(_is_python(words) for words in programs)
    return programs[-1][:2] if programs and is_python else []


def _is_python(words: list[str]) -> bool:
    """Whether a command is Python with a script, without options."""
    program = words[0].rpartition("/")[2]
    is_interpreter = program == "python" or (program.startswith("python3") and program[6:].replace(".", "").isdigit())
    return is_interpreter and len(words) > 1 and words[1].endswith(".py")


CHECKS = (launcher_without_mpirun,)
