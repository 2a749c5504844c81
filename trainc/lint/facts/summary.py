"""What will run, as plain data: roles, pods, names, ranks, accelerators, order, and an upper bound of what it costs."""

from typing import Any

from trainc.frameworks.base.vocabularies import MPIRUN
from trainc.lint.facts.instance import Pod, pod_of_rank, trainers
from trainc.lint.facts.job import Count, ExpandedRole, Job
from trainc.lint.facts.mpi import hostfile, process_ranks, processes_in_all
from trainc.lint.facts.timing import in_order, stages, waits
from trainc.lint.facts.values import UNKNOWN, Unknown, flag, rows, table, text, texts, whole
from trainc.model.tree import get, given
from trainc.text.numbers import parsed_int
from trainc.text.object_keys import EXCLUSIVE, JOBSET_CONTROLLER, KUEUE_QUEUE

View = dict[str, Any]

UNBOUNDED = "unlimited"
NO_LIMIT = 2**31 - 1  # the largest number of the API


def overview(job: Job) -> View:
    """The whole job: its roles in start order with their pods, accelerators in all, and the most it can use."""
    ranks = _ranks(job)
    success = table(job.spec, "successPolicy")
    targets = texts(success, "targetReplicatedJobs") or [role.name for role in job.roles]
    roles = [_role(role, ranks.get(role.name)) for stage in stages(job) for role in stage]
    return {
        "name": job.name,
        "namespace": job.namespace or None,
        **surroundings(job, {role["name"]: role["processes"] for role in roles}),
        "pods": None if any(role["pods"] is None for role in roles) else sum(role["pods"] for role in roles),
        "accelerators": _accelerators(job),
        "order": [[role.name for role in stage] for stage in stages(job)],
        "roles": roles,
        "success": f"{'one Job' if text(success, 'operator') == 'Any' else 'all Jobs'} of {', '.join(targets)}",
        "restarts": _restarts(job),
        "endedBy": endings(job),
        "held": held(job),
        "acceleratorHours": _bound(job),
    }


def one_pod(job: Job, rank: int) -> View | None:
    """The pod of a rank: its names, and the environment and command of each container; None where there is none."""
    if (processes := process_ranks(job)) is None:
        pod = pod_of_rank(job, rank)
    else:
        place = next((place for place, ranks in processes if rank in ranks), None)
        pod = None if place is None else Pod(place.role, place.replica, place.pod, rank)
    if pod is None:
        return None
    return {
        "rank": pod.rank,
        "role": pod.role.name,
        "job": pod.replica,
        "index": pod.index,
        "host": pod.host,
        "address": pod.address,
        "containers": [
            {
                "name": container.name,
                "kind": container.kind,
                "image": text(container.tree, "image"),
                "env": {name: str(value) for name, value in pod.env(container, mark=True)},
                "command": pod.command(container),
            }
            for container in pod.role.containers
        ],
    }


def _role(role: ExpandedRole, ranks: list[int] | None) -> View:
    count = role.size * role.replicas if type(role.size) is int and type(role.replicas) is int else None
    return {
        "name": role.name,
        "jobs": _known(role.replicas),
        "podsPerJob": _known(role.size),
        "podsAtOnce": _known(role.width),
        "pods": count,
        "hosts": _hosts(role),
        "addresses": role.address("<job>", "<index>") if role.job.dns and role.indexed else None,
        "ranks": ranks,
        "accelerators": {resource: _known(number) for resource, number in role.devices.items()},
        "processes": processes(role),
        "images": images(role),
        "volumes": volumes(role),
        "retries": role.retries,
        "after": [f"{wait.on.name} {'ready' if wait.status == 'Ready' else 'complete'}" for wait in waits(role)],
        "containers": [
            f"{container.name}{'' if container.main else f' ({container.kind})'}" for container in role.containers
        ],
    }


def _hosts(role: ExpandedRole) -> list[str]:
    """The first and the last host; none where no pod ever runs."""
    if role.width == 0 or 0 in (role.size, role.replicas):
        return []
    if role.indexed and type(role.replicas) is int and type(role.size) is int and min(role.replicas, role.size) > 0:
        return [role.host(0, 0), role.host(role.replicas - 1, role.size - 1)]
    return [role.host("<job>", "<random>")]


def _known(number: Count | None) -> int | None:
    return number if type(number) is int else None


def _ranks(job: Job) -> dict[str, list[int]]:
    """The first and the last rank of a role: of its processes where mpirun starts them, else of its pods."""
    by_role: dict[str, list[int]] = {}
    if (processes := process_ranks(job)) is not None:
        for place, ranks in processes:
            by_role.setdefault(place.role.name, [ranks[0], ranks[-1]])[1] = ranks[-1]
        return by_role
    rank = 0
    for role in trainers(job):
        if type(role.replicas) is not int or type(role.size) is not int or not role.indexed:
            break
        if role.replicas * role.size:
            by_role[role.name] = [rank, rank + role.replicas * role.size - 1]
        rank += role.replicas * role.size
    return by_role


def processes(role: ExpandedRole) -> int | str | None:
    """How many training processes run in a pod of the role, in words where it is not fixed, None where unknown."""
    if (worker := role.trainer) is None:
        return None
    if (by_flux := _tasks(role)) is not None:
        return by_flux
    hosts, _ = hostfile(role.job)
    slots = {host.slots for host in hosts if host.name.startswith(f"{role.job.name}-{role.name}-")}
    if len(slots) == 1:
        return slots.pop()
    if worker.launch.launcher is MPIRUN:
        return "1, which starts the others"
    option, variable = worker.launch.launcher.processes
    if not worker.launch.launcher.nodes[0]:
        return max(1, sum(1 for container in role.main if container.devices))
    value = worker.launch.value(option) if option else None
    if value is None and variable:
        value = worker.value(variable)
        value = "1" if value is None else value
    if (number := parsed_int(value)) is not None:
        return number
    if variable and value not in ("auto", "gpu"):
        return "unknown"
    return sum(n for n in worker.devices.values() if type(n) is int) or "one per CPU of the host"


def _tasks(role: ExpandedRole) -> int | str | None:
    """How many tasks Flux starts in a pod of the role, None where something else starts them."""
    plan, document = role.job.bundle.plan, role.job.bundle.document
    if document.kind == "MiniCluster":
        tasks, pods = whole(table(document.tree, "spec"), "tasks"), role.count
        if type(tasks) is not int or type(pods) is not int or not tasks or not pods:
            return None
        return f"{tasks} in all pods" if tasks % pods else tasks // pods
    if plan is None or plan.framework != "flux" or plan.trainer is None or plan.trainer.name.value != role.name:
        return None
    written = given(plan.trainer_field("numProcPerNode"), get(plan.settings, "numProcPerNode"))
    tasks = 1 if written is None else written.value
    return tasks if type(tasks) is int else "unknown"


def _accelerators(job: Job) -> dict[str, int | None]:
    counts: dict[str, int | None] = {}
    for role in job.roles:
        for resource, number in role.devices.items():
            count = role.count
            more = number * count if type(number) is int and type(count) is int else None
            before = counts.get(resource, 0)
            counts[resource] = before + more if before is not None and more is not None else None
    return counts


def _restarts(job: Job) -> int | str | None:
    rules = rows(table(job.spec, "failurePolicy"), "rules")
    if any(text(rule, "action").endswith("IgnoreMaxRestarts") for rule in rules):
        return UNBOUNDED
    return None if isinstance(job.max_restarts, Unknown) else max(0, job.max_restarts or 0)


def _bound(job: Job) -> View:
    """Accelerators times the longest time that the deadlines allow, over all restarts."""
    restarts = _restarts(job)
    seconds = 0
    common = _common_deadline(job)
    for role in job.roles:
        if not role.devices:
            continue
        deadline = whole(role.spec, "activeDeadlineSeconds")
        if common is not None and (deadline is None or (type(deadline) is int and common < deadline)):
            deadline = common
        count = role.count
        each = [n for n in role.devices.values() if type(n) is int]
        if type(deadline) is not int or type(count) is not int or len(each) != len(role.devices):
            return {"hours": None, "why": f"`{role.name}` has no deadline"}
        seconds += deadline * count * sum(each)
    if not isinstance(restarts, int):
        return {"hours": None, "why": "some restarts do not count"}
    if not seconds:
        return {"hours": 0, "why": "no accelerators"}
    if restarts >= NO_LIMIT:
        return {"hours": None, "why": "the number of restarts is unlimited"}
    hours = seconds * (restarts + 1) / 3600
    return {"hours": round(hours, 2), "why": f"deadline x {restarts + 1} run{'s' if restarts else ''}"}


def _common_deadline(job: Job) -> int | None:
    """The deadline that ends a run for all roles: that of a role which starts at once, and with whose Jobs the run ends."""
    policy = table(job.spec, "successPolicy")
    targets = set(texts(policy, "targetReplicatedJobs")) or {role.name for role in job.roles}
    actions = {text(rule, "action") for rule in rows(table(job.spec, "failurePolicy"), "rules")}
    is_any = text(policy, "operator") == "Any"
    if in_order(job) or actions - {"FailJobSet", "RestartJobSet"} or (not is_any and len(targets) > 1):
        return None
    ending = [role for role in job.roles if role.name in targets and not waits(role) and role.count not in (0, UNKNOWN)]
    deadlines = [whole(role.spec, "activeDeadlineSeconds") for role in ending]
    return min((deadline for deadline in deadlines if type(deadline) is int), default=None)


def held(job: Job) -> str | None:
    """Why nothing starts when the job is applied; None where it does."""
    if (manager := text(job.spec, "managedBy")) and manager != JOBSET_CONTROLLER:
        return f"{manager} manages it instead of the JobSet controller"
    if flag(job.spec, "suspend"):
        return "it is suspended until it is resumed, for example by a queue"
    return None


def endings(job: Job) -> list[str]:
    """The failures after which the JobSet is not started again, in words."""
    sentences = []
    for rule in rows(table(job.spec, "failurePolicy"), "rules"):
        if text(rule, "action") != "FailJobSet":
            continue
        reasons, targets = texts(rule, "onJobFailureReasons"), texts(rule, "targetReplicatedJobs")
        words = f"a failed Job of {', '.join(targets)}" if targets else "any failed Job"
        sentences.append(f"{words} ({', '.join(reasons)})" if reasons else words)
    return sentences


def surroundings(job: Job, processes: dict[str, int | str | None]) -> dict[str, Any]:
    """What stands around the roles of a job; `processes` are those of a pod, by role. None where nothing is known."""
    groups = [tree for tree in job.bundle.objects if text(tree, "kind") == "PodGroup"]
    metadata = [job.metadata, *[role.job_metadata for role in job.roles]]
    exclusive = [text(table(each, "annotations"), EXCLUSIVE) for each in metadata]  # one Job alone on each such node
    waiting = [text(table(group, "spec"), "queue") for group in groups]
    queue = text(table(job.metadata, "labels"), KUEUE_QUEUE) or next(filter(None, waiting), "")
    return {
        "cluster": job.bundle.cluster or None,
        "queue": queue or None,
        "gangs": [
            {"name": text(table(group, "metadata"), "name"), "pods": _known(whole(table(group, "spec"), "minMember"))}
            for group in groups
        ],
        "worldSize": _world_size(job, processes),
        "exclusiveTopology": next(filter(None, exclusive), None),
    }


def images(role: ExpandedRole) -> list[str]:
    """The images of the containers that run side by side, each once."""
    return list(dict.fromkeys(image for container in role.main if (image := text(container.tree, "image"))))


def volumes(role: ExpandedRole) -> dict[str, str]:
    """The volumes of a pod by name, with what each is: the kind of its source."""
    own = {name: next((key for key in tree if key != "name"), "emptyDir") for name, tree in role.volumes.items()}
    mounted = {text(mount, "name") for container in role.containers for mount in rows(container.tree, "volumeMounts")}
    return {**own, **dict.fromkeys(sorted(role.job.claimed & mounted - own.keys()), "persistentVolumeClaim")}


def _world_size(job: Job, processes: dict[str, int | str | None]) -> int | None:
    """How many processes train together: those of mpirun, of a hostfile, else of every pod; None where unknown."""
    if hostfile(job)[0]:
        return processes_in_all(job)
    total = 0
    for role in trainers(job):
        count, each = role.count, processes.get(role.name)
        is_together = role.indexed and role.width == role.size
        if not is_together or type(count) is not int or type(each) is not int:
            return None
        total += count * each
    return total
