"""MPI: launcher, workers and slots."""

from __future__ import annotations

from trainc.frameworks.vocabularies import MPIRUN
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.tree import get, value
from trainc.verify.hostfile import hostfile
from trainc.verify.start_order import waits_for
from trainc.verify.values import table, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.model.sourced import Span
    from trainc.model.tree import Tree
    from trainc.verify.containers import Container
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

SLOTS = Rule(
    "mpi-processes-exceed-slots",
    ERROR,
    "mpirun is to start another number of processes than the hosts have slots",
    "Open MPI refuses more processes than slots; with fewer, some accelerators stand idle.",
)
SLOTS_GPUS = Rule(
    "slots-mismatch",
    WARNING,
    "the hostfile gives a worker another number of slots than it has accelerators",
    "A slot is a process; one process for each accelerator is what collectives expect.",
)
LAUNCHER = Rule(
    "launcher-holds-accelerators",
    WARNING,
    "the launcher asks for accelerators but is not among the hosts",
    "It only starts the others; its accelerators stand idle.",
)
EARLY = Rule(
    "launcher-before-workers",
    WARNING,
    "mpirun may start before the workers' SSH daemons listen",
    "mpirun tries each host once; a host that does not answer ends the job.",
)

_WAITS = ("until ", "while ", "sleep ", "getent", "nslookup", "wait-for", "wait_for", "nc -z", "ssh-keyscan", "retry")


NO_REQUESTS = Rule(
    "launcher-without-requests",
    NOTE,
    "the launcher asks for neither cpu nor memory",
    "A pod without requests is the first that a node under pressure kills, and mpirun ends all processes with it.",
)


NO_MPIRUN = Rule(
    "launcher-without-mpirun",
    WARNING,
    "the launcher of an MPI job runs its program without mpirun",
    "The pods of an MPI job run SSH daemons; only mpirun, or another launcher, starts processes in them.",
)
VERSIONS = Rule(
    "mpi-versions-differ",
    WARNING,
    "launcher and nodes of an MPI job run different versions of one image",
    "mpirun runs in the launcher's image and starts the program in the nodes' image. The `image` of a TrainJob reaches the "
    "launcher alone; the nodes have theirs from the runtime.",
)
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


def _launchers(job: Job) -> list[Container]:
    if not any(word in job.text for word in MPIRUN.programs):
        return []
    if job.bundle.plan is not None and job.bundle.plan.barred:
        return []  # the framework that writes the hostfile was not asked
    return [c for c in job.main if c.launch is not None and c.launch.launcher is MPIRUN]


def _workers(job: Job, launcher: Role) -> list[Role]:
    """The roles whose pods mpirun reaches: those of the hostfile, else those that run an SSH daemon."""
    hosts, _ = hostfile(job)
    if hosts:
        host_names = {host.name.partition(".")[0] for host in hosts}
        return [role for role in job.roles if any(name.startswith(f"{job.name}-{role.name}-") for name in host_names)]
    return [role for role in job.roles if role is not launcher and any("sshd" in c.text for c in role.main)]


def mpi_processes_exceed_slots(job: Job) -> None:
    for container in _launchers(job):
        assert container.launch is not None
        processes = container.launch.number("np")
        total = _total(job, container)
        if type(processes) is not int or not total:
            continue
        oversubscribe = "oversubscribe" in container.text
        if processes in (total, _accelerators(job, container)) or (processes > total and oversubscribe):
            continue  # where slots and accelerators differ, that is the mistake
        more = processes > total
        job.report.add(
            SLOTS.at(
                job.at_word(container, "-np", "-n"),
                f"`mpirun` starts {processes} processes on hosts with {total} slots",
                effect="mpirun refuses: there are not enough slots"
                if more
                else f"{total - processes} accelerators stand idle",
                help=f"use `-np {total}`, or leave it out: the hostfile then decides",
                level=ERROR if more else WARNING,
            )
        )


def _total(job: Job, launcher: Container) -> int:
    hosts, _ = hostfile(job)
    if hosts:
        slots = [host.slots for host in hosts]
        return sum(s for s in slots if s is not None) if None not in slots else 0
    return _accelerators(job, launcher)


def _accelerators(job: Job, launcher: Container) -> int:
    """The accelerators of all hosts, 0 where their number is not known."""
    total = 0
    for role in _workers(job, launcher.role):
        devices = [n for n in role.devices.values() if type(n) is int]
        count = role.count
        if len(devices) != 1 or type(count) is not int:
            return 0
        total += devices[0] * count
    return total


def slots_mismatch(job: Job) -> None:
    if job.bundle.plan is not None and job.bundle.plan.framework == "mpi":
        return  # the framework has said so at the place where slots are asked for
    hosts, config = hostfile(job)
    for role in job.roles if hosts else ():
        slots = {h.slots for h in hosts if h.name.startswith(f"{job.name}-{role.name}-") and h.slots is not None}
        devices = [n for n in role.devices.values() if type(n) is int]
        if len(devices) == 1 and len(slots) == 1 and slots != set(devices):
            (number,) = slots
            worker = role.worker
            assert worker is not None
            job.report.add(
                SLOTS_GPUS.at(
                    _slots_span(job, config),
                    f"the hosts of `{role.name}` have {number} slot{'s' if number != 1 else ''} each, but {devices[0]} accelerators",
                    also=[Label(job.at((*worker.path, "resources", "limits")), f"{devices[0]} accelerators here")],
                    effect="accelerators stand idle" if number < devices[0] else "two processes share an accelerator",
                    help=f"write `slotsPerWorker: {devices[0]}`"
                    if job.bundle.document.kind == "MPIJob"
                    else f"use {devices[0]} slots (`numProcPerNode` of a TrainJob)",
                )
            )


def _slots_span(job: Job, config: Tree) -> Span:
    """Where the number of slots is written: in the hostfile, or in the MPIJob that it is made from."""
    document = job.bundle.document
    if document.kind == "MPIJob" and get(document.tree, "spec", "slotsPerWorker") is not None:
        return document.span(("spec", "slotsPerWorker"))
    return job.at_object(config, ("data", "hostfile"))


def launcher_holds_accelerators(job: Job) -> None:
    for container in _launchers(job):
        hosts, _ = hostfile(job)
        role = container.role
        if container.devices and hosts and not any(h.name.startswith(f"{job.name}-{role.name}-") for h in hosts):
            job.report.add(
                LAUNCHER.at(
                    job.at((*container.path, "resources", "limits")),
                    f"`{role.name}` asks for accelerators, but mpirun starts nothing on it",
                    effect="they stand idle for as long as the job runs",
                    help="ask for them in the workers alone, or make the launcher a node (`runLauncherAsNode: true`)",
                )
            )


def launcher_without_requests(job: Job) -> None:
    for container in _launchers(job):
        if container.devices:
            continue
        if not any(amount in held for held in (container.limits, container.requests) for amount in ("cpu", "memory")):
            job.report.add(
                NO_REQUESTS.at(
                    job.at(container.path),
                    f"the launcher `{container.name}` asks for neither cpu nor memory",
                    effect="it is the first to be killed when its node runs short, and the whole job ends with it",
                    help="give it `resources: {requests: {cpu: 1, memory: 2Gi}}`",
                )
            )


def launcher_without_mpirun(job: Job) -> None:
    for role in job.roles if _is_mpi(job) else ():
        if role.name != "launcher":
            continue
        others = [
            other for other in _workers(job, role) if other is not role and type(other.count) is int and other.count
        ]
        if not others:
            continue
        for container in role.main:
            program = _own_program(container)
            if program:
                job.report.add(
                    NO_MPIRUN.at(
                        job.at_word(container, program[0]),
                        f"the launcher runs `{' '.join(program)}` without mpirun",
                        also=[Label(job.at((*others[0].main[0].path, "name")), "mpirun would start it here")],
                        effect="the program runs once, in the launcher; the other pods wait, and their accelerators stand idle",
                        help=f"write `mpirun` before it: `mpirun {' '.join(program)}`",
                    )
                )


def mpi_versions_differ(job: Job) -> None:
    for launcher in _launchers(job):
        for worker in [c for role in _workers(job, launcher.role) if role is not launcher.role for c in role.main]:
            ours, theirs = (str(value(container.tree, "image") or "") for container in (launcher, worker))
            if ours == theirs or not _repository(ours) or _repository(ours) != _repository(theirs):
                continue
            job.report.add(
                VERSIONS.at(
                    job.at((*launcher.path, "image")),
                    f"the launcher runs `{ours}`, and `{worker.role.name}` runs `{theirs}`",
                    also=[Label(job.at((*worker.path, "image")), "mpirun starts the program in this image")],
                    effect="the program that trains is the one of the nodes' image, and Open MPI of two versions may not meet",
                    help=f"write the same image for both; that of the nodes stands at the role `{worker.role.name}`",
                )
            )


def _repository(image: str) -> str:
    """An image without its tag and digest; empty where a part of it is filled in later."""
    path = image.partition("@")[0]
    tag = path.rpartition("/")[2].partition(":")[1:]
    is_known = not any(mark in image for mark in "${<%")
    return path.removesuffix("".join(tag)) if is_known else ""


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


def _retries(job: Job, role: Role) -> bool:
    """Whether a launcher that came too early is started again: a Job retries unless its `backoffLimit` is 0."""
    return whole(role.spec, "backoffLimit") != 0 or (whole(table(job.spec, "failurePolicy"), "maxRestarts") or 0) != 0


def launcher_before_workers(job: Job) -> None:
    if len(job.roles) < 2:
        return
    for container in _launchers(job):
        role = container.role
        if any(word in container.text for word in _WAITS) or role.init or _retries(job, role):
            continue
        late = [other for other in _workers(job, role) if other is not role and waits_for(role, other) is None]
        if late:
            job.report.add(
                EARLY.at(
                    job.at(role.path),
                    f"`{role.name}` does not wait for `{late[0].name}`",
                    also=[Label(job.at(late[0].path), "the hosts it connects to")],
                    effect="mpirun fails when a worker's SSH daemon is not up yet, and with `backoffLimit: 0` the job fails with it",
                    help=f"let `{role.name}` depend on `{late[0].name}` with status `Ready`, with a readiness probe on the SSH port",
                )
            )


CHECKS = (
    mpi_processes_exceed_slots,
    slots_mismatch,
    launcher_holds_accelerators,
    launcher_without_requests,
    launcher_without_mpirun,
    mpi_versions_differ,
    launcher_before_workers,
)
