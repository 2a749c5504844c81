"""Whether nodes, processes and ranks add up."""

from trainc.frameworks.base.vocabularies import ACCELERATE, TORCHRUN
from trainc.lint.facts.job import Container, ExpandedRole, Findings, Job, each
from trainc.lint.facts.launch import PYTHON, Launch
from trainc.lint.facts.values import COMPLETION_INDEX, GLOBAL_JOB_INDEX, Unknown, Varies, flag, table, text
from trainc.lint.facts.world import PodAddress, collective, keeps_to_itself, meetings, ranks
from trainc.lint.tables.machines import GPU, device_kind, is_network
from trainc.model.finding import ERROR, WARNING, Label, Rule
from trainc.model.inference import PER_CPU
from trainc.model.sourced import Sourced, Span
from trainc.model.tree import Path, get
from trainc.text.numbers import parsed_int

NNODES = Rule("nodes-mismatch", ERROR)
NPROC = Rule("processes-mismatch", ERROR)
NPROC_AUTO = Rule("processes-by-host-cpus", WARNING)
NO_DEVICE = Rule("processes-without-accelerator", WARNING)
WORLD = Rule("world-size-mismatch", ERROR)
CONSTANT = Rule("constant-rank", ERROR)
OVERLAP = Rule("ranks-overlap", ERROR)
MANY_JOBS = Rule("ranks-repeat-per-job", WARNING)
NO_INDEX = Rule("rank-without-index", ERROR)

_OWN_RESOURCES = ("cpu", "memory", "ephemeral-storage")  # others, but for cards, may be devices unknown to trainc
# What programs on CPUs are started with, and how containers get GPUs that no resource counts.
_CPU_WORDS = ("cpu", "gloo", "ipex", "openvino")
_UNCOUNTED = ("NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


def nodes_mismatch(container: Container) -> Findings:
    if (count_written := _nodes(container)) is None:
        return
    written, name, path = count_written
    low, _, high = written.partition(":")
    least, most = parsed_int(low), parsed_int(high or low)
    pods = _pods_meeting(container.role.job, container.role)
    if least is None or most is None or not pods:
        container.role.job.report.skip("the number of nodes that a launcher expects is unknown")
    elif not any(least <= count <= most for count in pods):
        role, meeting = container.role, min(pods)
        own = role.size * role.replicas if type(role.size) is int and type(role.replicas) is int else 0
        count = max(own, meeting)
        who = f"`{role.name}` has" if count == own else f"`{role.name}` and the roles that it meets have"
        devices = sum(n for n in role.devices.values() if type(n) is int) * own
        held = f"; {devices} accelerators are idle meanwhile" if devices else ""
        alone = most == 1 and keeps_to_itself(container)
        effect = f"{count} pods try to join a group of {written}: the last never join{held}"
        help_ = f"set {count} here, as in all roles of the job"
        if least > count:
            effect = f"the {count} pods wait at the rendezvous for {least - count} more that never join{held}"
        if count == own:
            help_ = f"set {count} here, or set {container.role.job.sized(role, least)} for `{role.name}`"
        if alone:
            effect = f"each of the {count} pods trains alone"
            help_ = f"set {count} here, unless each pod works independently"
        at = _spot(container, path, name, name.replace("_", "-"))
        message = f"`{container.launch.name}` expects {written} nodes, but {who} {count} pod{'s' if count != 1 else ''}"
        also = [Label(role.spec_at("parallelism"), f"{own} pods here")]
        level = WARNING if alone else ERROR
        yield NNODES.at(at, message, label=f"`{name}` is {written}", also=also, effect=effect, help=help_, level=level)


def _nodes(container: Container) -> tuple[str, str, Path] | None:
    launch = container.launch
    flag, counting = launch.launcher.nodes
    if flag and flag in launch.flags:
        value, written = launch.value(flag), launch.flags[flag]
        if type(value) is not str:
            return None
        variable = written.strip('${}"').partition(":")[0] if "$" in written else ""
        is_set = bool(variable) and variable in container.env
        path = (*container.env_path(variable), "value") if is_set else container.word_path(flag.replace("_", "-"), flag)
        return value, f"--{flag}", path
    value = container.value(counting) if counting else None
    if type(value) is str and "standalone" not in launch.flags:
        return value, counting, (*container.env_path(counting), "value")
    return None


def _pods_meeting(job: Job, role: ExpandedRole) -> set[int]:
    """The numbers of pods that may be meant: one Job's, the role's, and those of all roles that meet at one host."""
    if type(role.size) is not int or type(role.replicas) is not int:
        return set()
    counts = {role.size, role.size * role.replicas}
    if len(job.roles) == 1:
        return counts
    hosts = {meeting.host for meeting in meetings(job) if meeting.container.role is role}
    meeting = [m.container for m in meetings(job) if m.host in hosts]
    roles = {id(container.role): container.role for container in meeting}
    own = [m.place.role for m in meetings(job) if m.container.role is role and isinstance(m.place, PodAddress)]
    serving = [other.count for other in dict.fromkeys(own) if id(other) not in roles]  # told of itself in another way
    if serving and all(type(count) is int for count in serving):
        counts.add(role.size * role.replicas + sum(count for count in serving if type(count) is int))
    # A pod that knows the world and has no rank in it may only look on, as tasks beside torch's do in a Volcano Job.
    ranked = {id(c.role): c.role for c in meeting if any(name in c.env for name in job.vocabulary.ranks)}
    if len(roles) > 1:
        sums = set()
        for those in (roles, ranked) if ranked else (roles,):
            numbers = [count for other in those.values() if type(count := other.count) is int]
            if len(numbers) < len(those):
                return set()
            sums.add(sum(numbers))
        if any(type(rank) is Varies and rank.by == GLOBAL_JOB_INDEX for one in meeting for _, rank in ranks(one)):
            return sums  # the ranks go on from role to role: they are one world
        counts |= sums
    elif not hosts and len(job.roles) > 1:
        every = [other.count for other in job.roles if collective(other)]
        counts.add(sum(count for count in every if type(count) is int))
    return counts


def _spot(container: Container, path: Path, *words: str) -> Span:
    """A place in the command where `path` leads there, else the place of the variable."""
    return container.at_word(*words) if path[-2] in ("command", "args") else container.role.job.at(path)


def processes_mismatch(container: Container) -> Findings:
    devices, launch = _counted(container), container.launch
    if not devices or not any((*launch.launcher.nodes, *launch.launcher.processes)):
        return
    written, path = _processes(container)
    processes = parsed_int(written)
    if written is not None and processes is None and written not in ("auto", "gpu"):
        container.role.job.report.skip("the number of processes that a launcher starts is unknown")
    if processes is None or processes == devices:
        return
    leaf = get(container.role.job.tree, *path)
    is_per_cpu = type(leaf) is Sourced and leaf.origin.by == PER_CPU
    plural, each_cpu = "es" if processes != 1 else "", ", one for each CPU," if is_per_cpu else ""
    at = _spot(container, path, *_process_words(launch))
    message = f"`{launch.name}` starts {processes} process{plural}{each_cpu} in a pod with {devices} accelerator{'s' if devices != 1 else ''}"
    help_ = f"start {devices}, or request {processes} accelerator{'s' if processes != 1 else ''}"
    if is_per_cpu:
        message += ": `numProcPerNode` is `auto`, and `resourcesPerNode` names no GPU"
        help_ = f"set `numProcPerNode: {devices}`, or name the GPUs in `resourcesPerNode`"
    also = [Label(container.amount_at(_gpus(container)[0][0]), f"{devices} here")]
    effect, level = f"{devices - processes} of {devices} accelerators of each pod are idle", WARNING
    if processes > devices:
        effect, level = "two processes use the same accelerator, and the first collective fails", ERROR
    yield NPROC.at(at, message, label=f"{processes} here", also=also, effect=effect, help=help_, level=level)


def _process_words(launch: Launch) -> tuple[str, ...]:
    """What a command says about the number of processes, or else the launcher itself."""
    option = launch.launcher.processes[0] or "num_processes"
    return (f"--{option}", f"--{option.replace('_', '-')}", launch.name)


def _counted(container: Container) -> int:
    """The GPUs of a container, 0 where there are none, or where they are not one process each: Intel's have tiles."""
    counts = _gpus(container)
    return counts[0][1] if len(counts) == 1 and type(counts[0][1]) is int else 0


def _gpus(container: Container) -> list[tuple[str, int | Unknown]]:
    """The GPUs of a container that stand for one process each, by resource."""
    devices = container.devices.items()
    return [(name, n) for name, n in devices if device_kind(name) == GPU and not name.startswith("gpu.intel")]


def _processes(container: Container) -> tuple[str | None, Path]:
    launch = container.launch
    option, variable = launch.launcher.processes
    if variable:
        value = launch.value(option) if option else None
        if value is not None:
            return (value if type(value) is str else "?"), container.word_path(option, option.replace("_", "-"))
        if (value := container.value(variable)) is not None:
            return (value if type(value) is str else "?"), (*container.env_path(variable), "value")
        return "1", container.word_path(*launch.launcher.words)
    if option:
        value = launch.value(option)
        return (value if type(value) is str else None), container.word_path(option)
    processes, machines = launch.number("num_processes"), launch.number("num_machines")
    machines = 1 if machines is None else machines
    if type(processes) is int and type(machines) is int and machines > 0 and processes % machines == 0:
        return str(processes // machines), container.word_path("num_processes")
    return None, container.path


def processes_by_host_cpus(container: Container) -> Findings:
    if container.launch.launcher is not TORCHRUN:
        return
    written, path = _processes(container)
    if written == "cpu" and _counted(container):
        devices = _counted(container)
        message = f"`torchrun` starts one process per CPU of the host, in a pod with {devices} accelerators"
        also = [Label(container.amount_at(_gpus(container)[0][0]), f"{devices} here")]
        effect = "there are more processes than accelerators: those without one fail"
        yield NPROC_AUTO.at(
            container.role.job.at(path), message, also=also, effect=effect, help="use `gpu`", level=ERROR
        )
    if written not in ("auto", "gpu") or _may_have_device(container):
        return
    what, effect = "accelerator", "it starts as many processes as the host has CPUs"
    if written == "gpu":
        what, effect = "GPU", "torchrun fails to start without a GPU"
    message = f"`torchrun` starts one process per {what}, but `{container.name}` requests none"
    help_ = "request accelerators under `resources.limits`, or set the number of processes"
    yield NPROC_AUTO.at(container.role.job.at(path), message, effect=effect, help=help_)


def _may_have_device(container: Container) -> bool:
    """Whether a container requests an accelerator, or something that may be one."""
    others = [name for name in (*container.limits, *container.requests) if name not in _OWN_RESOURCES]
    has_claims = container.role.pod.get("resourceClaims") is not None
    return bool(container.devices) or has_claims or not all(map(is_network, others))


def processes_without_accelerator(container: Container) -> Findings:
    launch = container.launch
    if not any(launch.launcher.processes) or _may_have_device(container) or _is_for_cpus(container):
        return
    written, path = _processes(container)
    processes = parsed_int(written)
    leaf = get(container.role.job.tree, *path)
    if processes is None or processes < 2 or (type(leaf) is Sourced and leaf.origin.by == PER_CPU):
        return
    message = f"`{launch.name}` starts {processes} processes in a pod that requests no accelerator"
    effect = "no process finds a GPU: they fail at once, or train on the CPUs of the node"
    help_ = "request accelerators under `resources.limits`; for training on CPUs, suppress this finding"
    yield NO_DEVICE.at(_spot(container, path, *_process_words(launch)), message, effect=effect, help=help_)


def _is_for_cpus(container: Container) -> bool:
    """Whether a container visibly trains on CPUs, or takes GPUs of its node that it does not request."""
    pod = container.role.pod
    is_privileged = flag(table(container.tree, "securityContext"), "privileged")
    if container.sets(*_UNCOUNTED) or "runtimeClassName" in pod or is_privileged:
        return True
    names = [name.lower() for name in container.env]
    held = (container.text, text(container.tree, "image"), *container.literals.values(), *names)
    return container.literals.get("CUDA_VISIBLE_DEVICES") in {"", "-1"} or any(
        word in one.lower() for one in held for word in _CPU_WORDS
    )


def world_size_mismatch(container: Container) -> Findings:
    for name in container.env:
        is_set_later = name in container.replaced or f"{name}=" in container.script
        if name not in container.role.job.vocabulary.sizes or is_set_later or keeps_to_itself(container):
            continue
        if (size := parsed_int(container.value(name))) is None:
            container.role.job.report.skip(f"{name} is unknown")
            continue
        counts, devices = _pods_meeting(container.role.job, container.role), _counted(container)
        pods = max(counts, default=0)
        # One process per pod, per accelerator, or per process that the launcher starts.
        per_pod = {1, devices or 1}
        if container.launch.launcher.processes[1]:
            per_pod.add(parsed_int(_processes(container)[0]) or 1)
        fitting = pods * max(per_pod)
        is_right = any(size == count * each for count in counts for each in per_pod)
        if not pods or is_right or (not devices and any(count and size % count == 0 for count in counts)):
            continue
        what = f"there are {pods} pods"
        if devices:
            what = f"{pods} pods with {max(per_pod)} accelerators each make {fitting}"
        excess = "the excess processes are rejected"
        at = container.env_at(name, "value")
        message = f"`{name}` is {size}, but {what}"
        also = [Label(container.role.spec_at("parallelism"), f"{pods} pods here")]
        effect = f"{'all processes wait for peers that never join' if size > fitting else excess} until the rendezvous times out"
        help_ = f"use {fitting}, or remove it: the launcher sets it"
        yield WORLD.at(at, message, label=f"{size} here", also=also, effect=effect, help=help_)


def constant_rank(job: Job) -> Findings:
    if job.vocabulary.ranks.isdisjoint(job.names):
        return
    for container in job.main:
        if not container.role.several:
            continue
        option, variable = container.launch.launcher.rank
        for name, value in ranks(container):
            is_number = type(value) is str and parsed_int(value) is not None
            # Launchers give their processes ranks, and go by few variables themselves.
            is_read = name in container.text or (name == variable and option not in container.launch.flags)
            is_read = is_read or not container.launch.by_launcher
            if is_number and is_read and not keeps_to_itself(container):
                message = f"`{name}` is {value} in all {container.role.count} pods of `{container.role.name}`"
                effect = "several processes have the same rank, and the rendezvous fails or never completes"
                help_ = "read it from the pod: `fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']`"
                yield CONSTANT.at(container.env_at(name, "value"), message, effect=effect, help=help_)


def constant_rank_option(container: Container) -> Findings:
    launch = container.launch
    option, variable = launch.launcher.rank
    if not container.role.several or "standalone" in launch.flags:
        return
    rank = launch.number(option) if option and "$" not in launch.flags.get(option, "$") else None
    in_flags = "rdzv_backend" in launch.flags
    backend = launch.value("rdzv_backend") if in_flags else container.value("PET_RDZV_BACKEND")
    # Of accelerate and deepspeed that are told of one machine, and of accelerate of none, the rank means nothing.
    machines, counting = launch.launcher.nodes
    is_bare = launch.launcher is ACCELERATE and {machines, "config_file"}.isdisjoint(launch.flags)
    is_alone = not counting and (launch.value(machines) == "1" or is_bare)
    if type(rank) is not int or backend not in (None, "static") or is_alone:
        return  # a dynamic rendezvous numbers the nodes itself
    at = container.at_word(f"--{option}", f"--{option.replace('_', '-')}")
    message = f"`--{option}` is {rank} in all {container.role.count} pods of `{container.role.name}`"
    effect = "several processes have the same rank, and the rendezvous fails or never completes"
    help_ = f"pass the index of the pod: `sh -c '{launch.name} --{option}=$JOB_COMPLETION_INDEX ...'`"
    if variable in container.env:
        help_ = f"remove it: `{variable}` holds the rank of each pod"
    yield CONSTANT.at(at, message, effect=effect, help=help_)


def ranks_overlap(job: Job) -> Findings:
    if len(job.roles) < 2 or job.vocabulary.ranks.isdisjoint(job.names):
        return
    first: dict[tuple[str, str], Container] = {}
    for meeting in meetings(job):
        container = meeting.container
        for name, value in ranks(container):
            start = "0" if type(value) is Varies and value.by == COMPLETION_INDEX else value
            if type(start) is not str or parsed_int(start) is None:
                continue
            other = first.setdefault((meeting.host, f"{name}={start}"), container)
            if other.role is not container.role and _goes_by(container, name) and _goes_by(other, name):
                message = f"`{name}` starts at {start} in both `{container.role.name}` and `{other.role.name}`, which share the rendezvous `{meeting.host}`"
                also = [Label(other.env_at(name), f"also {start} here")]
                effect = "two processes claim one rank, and the group never forms"
                help_ = "use one role for all pods of the world, or add the size of the first role in the start script"
                yield OVERLAP.at(container.env_at(name), message, also=also, effect=effect, help=help_)


def _goes_by(container: Container, name: str) -> bool:
    """Whether what a container starts may go by a rank: a launcher, or a program where no launcher alone reads it."""
    if container.launch.launcher is not PYTHON:
        return container.launch.by_launcher
    return name not in [launcher.rank[1] for launcher in container.role.job.vocabulary.launchers]


def ranks_repeat_per_job(job: Job) -> Findings:
    for meeting in meetings(job):
        role = meeting.container.role
        if type(role.replicas) is not int or role.replicas < 2:
            continue
        by_index = [
            name for name, rank in ranks(meeting.container) if type(rank) is Varies and rank.by == COMPLETION_INDEX
        ]
        own = by_index if "JOB_INDEX" not in meeting.container.text.upper() else []
        if own and isinstance(meeting.place, PodAddress) and meeting.place.role is role:
            message = f"`{role.name}` has {role.replicas} Jobs that share the rendezvous `{meeting.host}`, but `{own[0]}` starts at 0 in each"
            also = [Label(meeting.container.env_at(own[0]), "the same ranks in every Job")]
            effect = "pods of different Jobs claim the same rank"
            help_ = "use `replicas: 1` with a larger `parallelism` and `completions`"
            yield MANY_JOBS.at(role.at("replicas"), message, also=also, effect=effect, help=help_)


def rank_without_index(job: Job) -> Findings:
    for container in [container for role in job.roles if not role.indexed for container in role.containers]:
        values = [(name, container.value(name)) for name in container.env]
        places = [
            (container.env_path(name), f"`{name}` is read from the completion index")
            for name, value in values
            if type(value) is Varies and value.by == COMPLETION_INDEX
        ]
        if "JOB_COMPLETION_INDEX" in container.text and "JOB_COMPLETION_INDEX" not in container.env:
            places.append((container.word_path("JOB_COMPLETION_INDEX"), "the command uses `JOB_COMPLETION_INDEX`"))
        for path, what in places:
            message = f"{what}, but the Jobs of `{container.role.name}` are not Indexed"
            also = [Label(container.role.spec_at("completionMode"), "not indexed here")]
            effect = "it is empty in every pod"
            yield NO_INDEX.at(job.at(path), message, also=also, effect=effect, help="use `completionMode: Indexed`")


CHECKS = (
    each(
        lambda job: job.main,
        nodes_mismatch, processes_mismatch, processes_by_host_cpus, processes_without_accelerator,
        world_size_mismatch, constant_rank_option,
    ),
    constant_rank, ranks_overlap, ranks_repeat_per_job, rank_without_index,
)  # fmt: skip
