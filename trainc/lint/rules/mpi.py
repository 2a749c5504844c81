"""MPI: launcher, workers, slots and keys."""

from collections.abc import Iterator

from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.mpi import hostfile, launchers, process_ranks, workers
from trainc.lint.facts.placement import Gang, Placement
from trainc.lint.facts.timing import waits_for
from trainc.lint.facts.values import mappings, rows, table, text, texts, untagged, whole
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.plan import Plan
from trainc.model.tree import Path, get, value
from trainc.schedulers.gang import pods

SLOTS = Rule("mpi-processes-exceed-slots", ERROR)
SLOTS_GPUS = Rule("slots-mismatch", WARNING)
LAUNCHER = Rule("launcher-holds-accelerators", WARNING)
EARLY = Rule("launcher-before-workers", WARNING)
NO_REQUESTS = Rule("launcher-without-requests", NOTE)
VERSIONS = Rule("mpi-versions-differ", WARNING)
IMAGE = Rule("image-of-launcher-alone", WARNING)
NO_MPIRUN = Rule("launcher-without-mpirun", WARNING)
NO_DAEMON = Rule("worker-without-sshd", WARNING)
KEY = Rule("ssh-key-permissions", WARNING)
AS_ROOT = Rule("mpirun-as-root", WARNING)

_WAITS = ("until ", "while ", "sleep ", "getent", "nslookup", "wait-for", "wait_for", "nc -z", "ssh-keyscan", "retry")
# Programs of a shell script that start nothing elsewhere.
_LOCAL = frozenset((
    "[", "cd", "echo", "exit", "export", "ls", "mkdir", "nvidia-smi", "pip", "pip3", "printenv", "pwd", "set",
    "sleep", "ulimit",
))  # fmt: skip
_STARTS_OTHERS = ("mpi", "launch", "spawn", "submit", "driver", "hvd", "horovod", "subprocess", "system(")
_OWN_AGENT = ("rsh_agent", "launch_agent")
_AT_WORK = frozenset(("python", "python3", "torchrun", "accelerate", "deepspeed", "sleep", "tail", "true", "echo"))
_ON_A_HOST = frozenset(("torchrun", "accelerate", "bash", "sh", "neuron_parallel_compile"))
_KEY_FILE = "id_rsa"
_GROUP_READS, _OTHERS_READ, _SHARED = 0o440, 0o004, 0o077
# Words of commands that use a key of their own, change its mode, or reach the hosts without ssh.
_OWN_WAY = (_KEY_FILE, "chmod", "/.ssh", " -i ", "rsh_agent", "ssh_agent", "launch_agent")
_HOMES = ("~/.ssh", "$HOME/.ssh", "${HOME}/.ssh")
_DENIED = "mpirun reaches no host: `Permission denied (publickey)`"
_OPEN_MPI = ("OMPI_", "PRTE_")
_STARTERS = frozenset(("mpirun", "mpiexec", "mpirun.openmpi"))  # horovodrun passes the option itself
_ALLOWED = tuple([tuple(f"{family}ALLOW_RUN_AS_ROOT{end}" for end in ("", "_CONFIRM")) for family in _OPEN_MPI])


def mpi_processes_exceed_slots(container: Container) -> Findings:
    job, (hosts, _) = container.role.job, hostfile(container.role.job)
    processes, accelerators = container.launch.number("np"), _accelerators(job, container)
    slots = [host.slots for host in hosts if host.slots is not None]
    total = sum(slots) if len(slots) == len(hosts) else 0
    total = total if hosts else accelerators
    if not {"host", "H"}.isdisjoint(container.launch.flags):
        yield from _exceeds_listed_hosts(container, processes)
        return
    if type(processes) is not int or not total:
        return
    if processes == total or (processes < total and processes == accelerators):
        return
    mca = [pair for pair in container.literals.items() if pair[0].startswith(("OMPI_MCA_", "PRTE_MCA_"))]
    help_, level = f"use `-np {total}`, or remove it to use the hostfile's slots", WARNING
    if processes < total:
        idle = max(accelerators - processes, 0)
        effect = f"{idle} accelerators are idle" if idle else f"{total - processes} slots stay unused"
    elif any("oversubscribe" in word.lower() for word in (container.text, *(word for pair in mca for word in pair))):
        return
    else:
        # Hydra, of MPICH and Intel MPI, starts again with the first host where the slots are used up.
        is_hydra = container.sets("HYDRA_", "I_MPI_")
        effect = "several processes share a slot" if is_hydra else "mpirun fails: there are not enough slots"
        level = WARNING if is_hydra else ERROR
        if processes == accelerators:
            field = "slotsPerWorker" if job.bundle.document.kind == "MPIJob" else "numProcPerNode"
            help_ = f"set `{field}` to {processes // max(len(hosts), 1)}"
    message = f"`mpirun` starts {processes} processes on hosts with {total} slots"
    yield SLOTS.at(container.at_word("-np", "-n"), message, effect=effect, help=help_, level=level)


def _exceeds_listed_hosts(container: Container, processes: object) -> Findings:
    """Find more processes than slots of the hosts that mpirun is given by name: a host has one for each time it is named."""
    launch = container.launch
    listed = next((word for flag in ("host", "H") if type(word := launch.value(flag)) is str), "")
    entries = [entry.partition(":")[2] or "1" for entry in listed.split(",") if entry]
    slots = [int(entry) for entry in entries if entry.isdigit()]
    is_loose = "oversubscribe" in container.text.lower() or container.sets("HYDRA_", "I_MPI_", "OMPI_MCA_rmaps")
    if type(processes) is int and slots and len(slots) == len(entries) and sum(slots) < processes and not is_loose:
        message = f"`mpirun` starts {processes} processes on hosts with {sum(slots)} slots"
        effect = "Open MPI fails: there are not enough slots; a host without `:SLOTS` has one"
        each = -(-processes // len(slots))
        help_ = f"write the slots of each host: `HOST:{each}`"
        yield SLOTS.at(container.at_word("-np", "-n"), message, effect=effect, help=help_)


def _accelerators(job: Job, launcher: Container) -> int:
    """The accelerators of all hosts, 0 where their number is not known."""
    total = 0
    for role in workers(job, launcher.role):
        devices = [n for n in role.devices.values() if type(n) is int]
        count = role.count
        if len(devices) != len(role.devices) or len(devices) > 1 or type(count) is not int:
            return 0
        total += sum(devices) * count
    return total


def slots_mismatch(job: Job) -> Findings:
    hosts, config = hostfile(job)
    yield from _slots_without_accelerators(job)
    if job.bundle.plan is not None and job.bundle.plan.framework == "mpi":
        return  # the framework has said so at the place where slots are asked for
    # Where the number of slots is written: in the hostfile, or in the MPIJob that it is made from.
    document, is_mpijob = job.bundle.document, job.bundle.document.kind == "MPIJob"
    for role in job.roles if hosts else ():
        slots = {h.slots for h in hosts if h.name.startswith(f"{job.name}-{role.name}-") and h.slots is not None}
        devices = [n for n in role.devices.values() if type(n) is int]
        if role.worker is not None and len(devices) == 1 and len(slots) == 1 and slots != set(devices):
            (number,) = slots
            if number == 1 and any(_starts_once_per_host(one, len(hosts)) for one in launchers(job)):
                continue
            at = job.at_object(config, ("data", "hostfile"))
            if is_mpijob and get(document.tree, "spec", "slotsPerWorker") is not None:
                at = document.span(("spec", "slotsPerWorker"))
            message = f"the hosts of `{role.name}` have {number} slot{'s' if number != 1 else ''} each, but {devices[0]} accelerators"
            also = [Label(role.worker.at("resources", "limits"), f"{devices[0]} accelerators here")]
            effect = "accelerators are idle" if number < devices[0] else "two processes share an accelerator"
            help_ = f"use {devices[0]} slots (`numProcPerNode` of a TrainJob)"
            if is_mpijob:
                help_ = f"set `slotsPerWorker: {devices[0]}`"
            yield SLOTS_GPUS.at(at, message, also=also, effect=effect, help=help_)


def _starts_once_per_host(launcher: Container, hosts: int) -> bool:
    """Whether mpirun starts a script or a launcher on each host, which starts the processes of its accelerators."""
    program = launcher.launch.program[0] if launcher.launch.program else ""
    name = program.rpartition("/")[2]
    return launcher.launch.number("np") == hosts and (name.endswith(".sh") or name in _ON_A_HOST)


def _slots_without_accelerators(job: Job) -> Findings:
    """Find pods without accelerators that take as many processes as those with them."""
    taking: dict[ExpandedRole, int] = {}
    for pod, ranks in process_ranks(job) or ():
        taking[pod.role] = taking.get(pod.role, 0) + len(ranks)
    other = next((role.worker for role in taking if role.devices and role.worker is not None), None)
    for role, number in taking.items():
        if other is None or role.devices or "resourceClaims" in role.pod:
            continue
        operator = "runLauncherAsWorker" if job.bundle.document.kind == "MPIJob" else "runLauncherAsNode"
        is_launcher = _is_mpi(job) and role.name == "launcher"
        instead = f"set `{operator}: false`" if is_launcher else "remove its pods from the hostfile"
        at = job.at(role.main[0].path if role.main else role.path)
        message = (
            f"mpirun starts {number} process{'es' if number != 1 else ''} in `{role.name}`, which has no accelerators"
        )
        also = [Label(other.at("resources", "limits"), f"those of `{other.role.name}` are requested here")]
        effect = "these processes find no accelerator, and the collectives of all others wait for them"
        help_ = f"request accelerators in `{role.name}` too, or {instead}"
        yield SLOTS_GPUS.at(at, message, also=also, effect=effect, help=help_)


def launcher_holds_accelerators(container: Container) -> Findings:
    role, (hosts, _) = container.role, hostfile(container.role.job)
    if container.devices and hosts and not any(h.name.startswith(f"{role.job.name}-{role.name}-") for h in hosts):
        message = f"`{role.name}` requests accelerators, but mpirun starts no process on it"
        effect = "they are idle while the job runs"
        help_ = "request them only in the workers, or run the launcher as a node (`runLauncherAsNode: true`)"
        yield LAUNCHER.at(container.at("resources", "limits"), message, effect=effect, help=help_)


def launcher_without_requests(container: Container) -> Findings:
    if not container.devices and {"cpu", "memory"}.isdisjoint((*container.limits, *container.requests)):
        message = f"the launcher `{container.name}` requests neither CPU nor memory"
        effect = "it is the first to be killed when its node runs out of memory, which ends the whole job"
        help_ = "set `resources: {requests: {cpu: 1, memory: 2Gi}}`"
        yield NO_REQUESTS.at(container.at(), message, effect=effect, help=help_)


def _images(job: Job) -> Iterator[tuple[Container, Container, str, str]]:
    """Each launcher with each container of its workers, and the images of both where they differ."""
    for launcher in launchers(job):
        for worker in [c for role in workers(job, launcher.role) if role is not launcher.role for c in role.main]:
            ours, theirs = (str(value(container.tree, "image") or "") for container in (launcher, worker))
            if ours != theirs and untagged(ours):
                yield launcher, worker, ours, theirs


def mpi_versions_differ(job: Job) -> Findings:
    for launcher, worker, ours, theirs in _images(job):
        if untagged(ours) == untagged(theirs):
            message = f"the launcher runs `{ours}`, but `{worker.role.name}` runs `{theirs}`"
            also = [Label(worker.at("image"), "mpirun starts the program in this image")]
            effect = (
                "the nodes train with the program of their own image, and two versions of Open MPI may fail to connect"
            )
            help_ = f"use the same image for both; the nodes' image is set in the role `{worker.role.name}`"
            yield VERSIONS.at(launcher.at("image"), message, also=also, effect=effect, help=help_)


def image_of_launcher_alone(job: Job) -> Findings:
    plan = job.bundle.plan
    if plan is None or plan.framework != "mpi" or plan.trainer_field("image") is None:
        return
    for launcher, worker, ours, theirs in _images(job):
        written = untagged(_runtime_image(plan, launcher))
        if not written or written != untagged(_runtime_image(plan, worker)) or untagged(ours) == untagged(theirs):
            continue
        message = f"`{ours}` applies only to the launcher; `{worker.role.name}` runs `{theirs}`"
        also = [Label(worker.at("image"), "mpirun starts the program in this image")]
        effect = "mpirun fails on the nodes if their image lacks the program, and runs another version if it has it"
        help_ = f"set the job's image in the role `{worker.role.name}` of your own runtime too"
        yield IMAGE.at(launcher.at("image"), message, also=also, effect=effect, help=help_)


def _runtime_image(plan: Plan, container: Container) -> str:
    """The image of a container before `spec.trainer` changes it, "" where there is none: the last layer's that gives it one."""
    for layer in reversed(plan.layers):
        roles = mappings(get(layer.tree, "spec", "replicatedJobs"))
        role = next((one for one in roles if value(one, "name") == container.role.name), None)
        containers = mappings(get(role, "template", "spec", "template", "spec", "containers"))
        image = next((value(one, "image") for one in containers if value(one, "name") == container.name), None)
        if image:
            return str(image)
    return ""


def launcher_before_workers(container: Container) -> Findings:
    role, job = container.role, container.role.job
    # A launcher that came too early is started again: a Job retries unless its `backoffLimit` is 0.
    retries = whole(role.spec, "backoffLimit") != 0 or job.max_restarts not in (None, 0)
    if any(word in container.text for word in _WAITS) or role.init or retries:
        return
    late = [other for other in workers(job, role) if other is not role and waits_for(role, other) is None]
    if late:
        message = f"`{role.name}` does not wait for `{late[0].name}`"
        also = [Label(late[0].at(), "the hosts it connects to")]
        effect = "mpirun fails if a worker's SSH daemon does not listen yet, and with `backoffLimit: 0` so does the job"
        help_ = f"make `{role.name}` depend on `{late[0].name}` with status `Ready`, and add a readiness probe on the SSH port"
        if any(_starts_at_once(gang, role.name, late[0].name) for gang in Placement(job).gangs()):
            help_ = (
                f"wait in the command until sshd of `{late[0].name}` answers: "
                "a gang with a dependency between its roles never starts"
            )
        yield EARLY.at(role.at(), message, also=also, effect=effect, help=help_)


def _starts_at_once(gang: Gang, launcher: str, worker: str) -> bool:
    """Whether a launcher and its workers belong to a gang that waits for more pods than there are without the launcher."""
    counts = {member.name.value: pods(member) for member in gang.roles}
    minimum = gang.group.minimum if gang.group is not None else None
    others = sum(count for name, count in counts.items() if name != launcher)
    return launcher in counts and worker in counts and (minimum is None or minimum > others)


def launcher_without_mpirun(job: Job) -> Findings:
    for role in [role for role in job.roles if role.name == "launcher"] if _is_mpi(job) else ():
        reached = [other for other in workers(job, role) if other is not role and other.main]
        others = [other for other in reached if type(other.count) is int and other.count]
        for container in role.main if others else ():
            # Only what is plain to see counts: an image's own entrypoint, a script of the image, and a module or a
            # program whose name tells of other processes may well call mpirun.
            if "command" not in container.tree or any(word in container.text for word in _STARTS_OTHERS):
                continue
            programs = [one.words for one in container.commands if one.words and one.program not in _LOCAL]
            is_plain = "$(" not in container.script and "`" not in container.script
            if programs and is_plain and all(map(_is_python_script, programs)):
                program = programs[-1][:2]
                message = f"the launcher runs `{' '.join(program)}` without mpirun"
                also = [Label(others[0].main[0].at("name"), "mpirun would start processes here")]
                effect = "the program runs once, in the launcher; the other pods wait, and their accelerators are idle"
                help_ = f"use `mpirun {' '.join(program)}`"
                yield NO_MPIRUN.at(container.at_word(program[0]), message, also=also, effect=effect, help=help_)


def _is_mpi(job: Job) -> bool:
    plan = job.bundle.plan
    return job.bundle.document.kind == "MPIJob" or (plan is not None and plan.framework == "mpi")


def _is_python_script(words: list[str]) -> bool:
    """Whether a command is Python with a script, without options."""
    program = words[0].rpartition("/")[2]
    is_interpreter = program == "python" or (program.startswith("python3") and program[6:].replace(".", "").isdigit())
    return is_interpreter and len(words) > 1 and words[1].endswith(".py")


def worker_without_sshd(launcher: Container) -> Findings:
    has_agent = launcher.sets("OMPI_MCA_plm_rsh_agent") or any(word in launcher.text for word in _OWN_AGENT)
    if has_agent or not {"host", "H"}.isdisjoint(launcher.launch.flags):
        return
    for role in workers(launcher.role.job, launcher.role):
        if role is launcher.role or len(role.main) != 1 or role.init:
            continue
        (worker,) = role.main
        programs = {command.program for command in worker.commands if command.words}
        # Only what is plain to see counts: any script, and the image's own entrypoint, may start the daemon.
        if "command" in worker.tree and programs and programs <= _AT_WORK and "ssh" not in worker.text:
            message = f"the pods of `{role.name}` run `{' '.join(worker.words[:3])}` and no SSH daemon"
            also = [Label(launcher.at(), "mpirun reaches them by ssh")]
            effect = "mpirun cannot start processes there: `Connection refused`"
            help_ = "remove the command to use the daemon of the image, or run `/usr/sbin/sshd -De`"
            yield NO_DAEMON.at(worker.at("command"), message, also=also, effect=effect, help=help_)


def ssh_key_permissions(role: ExpandedRole) -> Findings:
    for container in role.main:
        mount, mode = _mounted_key(container)
        is_client = container in launchers(role.job) or (role.name == "launcher" and _is_mpi(role.job))
        if not mount or not is_client:
            continue
        directory = str(value(role.job.tree, *mount))
        words = "\n".join(one.text for one in (container, *role.init))
        for place in (directory.rstrip("/"), *(_HOMES if directory.endswith("/.ssh") else ())):
            for quote in ("", '"', "'"):  # to name the mounted key changes nothing: ssh would use it anyway
                words = words.replace(f"-i {quote}{place}/{_KEY_FILE}{quote}", "")
        if any(word in words for word in _OWN_WAY):
            continue
        if is_root := _is_root(role.job, container, directory):
            yield from _refused_key(role.job, container, mount, mode)
        elif is_root is not None:
            yield from _unreadable_key(role.job, container, mount, mode)


def _mounted_key(container: Container) -> tuple[Path, int]:
    """Where the private key is mounted from a Secret, and the mode that its volume gives it; () where it is not."""
    for index, mount in enumerate(rows(container.tree, "volumeMounts")):
        volume = container.role.volumes.get(text(mount, "name"), {})
        projected, secret = table(volume, "projected"), table(volume, "secret")
        for source in (secret, *(table(one, "secret") for one in rows(projected, "sources"))):
            for item in rows(source, "items"):
                if text(item, "path").rpartition("/")[2] == _KEY_FILE:
                    modes = (whole(item, "mode"), whole(secret, "defaultMode"), whole(projected, "defaultMode"), 0o644)
                    mode = next(one for one in modes if one is not None)
                    place = (*container.path, "volumeMounts", index, "mountPath")
                    return (place, mode) if type(mode) is int else ((), 0)
    return (), 0


def _is_root(job: Job, container: Container, path: str) -> bool | None:
    """Whether ssh runs as root: by the user that is set, else by the home that the keys are mounted in; None where unknown."""
    user = value(job.tree, *container.security_path("runAsUser"))
    if type(user) is int:
        return user == 0
    homes = (path.startswith("/root/"), path.startswith("/home/"))
    return homes[0] if user is None and any(homes) else None


def _refused_key(job: Job, container: Container, mount: Path, mode: int) -> Findings:
    """OpenSSH checks the mode of a key that belongs to the user who runs it; root owns what the kubelet mounts."""
    group = container.security_path("fsGroup")
    mounted = mode | (_GROUP_READS if group else 0)
    if not mounted & _SHARED:
        return
    message = f"`{container.name}` runs ssh as root, and the private key `{_KEY_FILE}` has mode {mounted:04o}"
    also = [Label(job.at(group), "this group may read it")] if group else ()
    effect, help_ = f"OpenSSH ignores a key of its own user that others may read; {_DENIED}", "remove `fsGroup`"
    if mode & _SHARED:
        help_ = "set `runAsUser` to another user in both roles, with its number as `fsGroup`, and `sshAuthMountPath` in its home; or copy the key with mode 0600 and name the copy in `--mca plm_rsh_args`"
    yield KEY.at(job.at(container.security_path("runAsUser") or mount), message, also=also, effect=effect, help=help_)


def _unreadable_key(job: Job, container: Container, mount: Path, mode: int) -> Findings:
    """Without `fsGroup` the files of a Secret belong to root and its group."""
    if container.security_path("fsGroup") or mode & _OTHERS_READ:
        return
    group = value(job.tree, *container.security_path("runAsGroup"))
    more = texts(table(container.role.pod, "securityContext"), "supplementalGroups")
    if mode & _GROUP_READS and (group == 0 or "0" in more or type(group) not in (int, type(None))):
        return
    user = value(job.tree, *container.security_path("runAsUser"))
    reader = "the user of the image" if user is None else f"user {user}"
    message = f"{reader} cannot read the private key `{_KEY_FILE}`: it belongs to root, with mode {mode:04o}"
    effect = f"ssh has no key; {_DENIED}"
    help_ = f"set `fsGroup: {user or 1000}` in the `securityContext` of both roles' pods"
    level = ERROR if user is not None and group is not None else WARNING
    yield KEY.at(job.at(container.security_path("runAsUser") or mount), message, effect=effect, help=help_, level=level)


def mpirun_as_root(container: Container) -> Findings:
    path = container.security_path("runAsUser")
    program = next((one.program for one in container.commands if one.program in _STARTERS), "")
    is_open_mpi = container.sets(*_OPEN_MPI) or "mca" in container.text
    job = container.role.job
    if not path or value(job.tree, *path) != 0 or not program or not is_open_mpi or "envFrom" in container.tree:
        return
    if "allow-run-as-root" in container.text or any(
        all(name in container.env or name in container.script for name in pair) for pair in _ALLOWED
    ):
        return
    message = f"`{container.name}` runs `{program}` as root without `--allow-run-as-root`"
    also = [Label(container.at_word(program), "Open MPI starts here")]
    effect = "Open MPI refuses to start as root, unless the image sets `OMPI_ALLOW_RUN_AS_ROOT`"
    help_ = f"use `{program} --allow-run-as-root`, or set `runAsUser` to another user"
    yield AS_ROOT.at(job.at(path), message, also=also, effect=effect, help=help_)


CHECKS = (
    each(
        launchers,
        mpi_processes_exceed_slots, launcher_holds_accelerators, launcher_without_requests, launcher_before_workers,
        worker_without_sshd, mpirun_as_root,
    ),
    each(lambda job: job.roles, ssh_key_permissions),
    slots_mismatch, mpi_versions_differ, image_of_launcher_alone, launcher_without_mpirun,
)  # fmt: skip
