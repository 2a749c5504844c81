"""How the tasks of a Volcano Job become replicatedJobs: their order, their cut into Jobs, and whose success decides."""

from heapq import heappop, heappush

from trainc.kinds.volcanojob.policies import matching, of_task
from trainc.kinds.volcanojob.spec import JobOfTasks, Task
from trainc.model.finding import ERROR, NOTE, WARNING, Rule
from trainc.model.sourced import Origin, Sourced
from trainc.model.tree import Tree, get, stamp, value

RANKS_LOST = Rule("ranks-impossible", ERROR)
PARTITIONS = Rule("partitions-dropped", WARNING)
SUCCESS = Rule("success-differs", WARNING)
COUNTED = Rule("success-uncountable", ERROR)
RANK_LAYOUT = Rule("rank-is-job-number", NOTE)
_INDEXED = ("env", "pytorch", "tensorflow")  # what tells a pod its number in the whole task


def arrange(job: JobOfTasks) -> tuple[list[Task], bool]:
    """The tasks that have pods, in the order of their Jobs, each cut into Jobs, and whether the ranks can be had."""
    torch = job.plugins.get("pytorch")
    has_master = torch is not None and job.task(torch.text("master")) is not None
    ranked = [torch.text("master"), torch.text("worker")] if torch is not None and has_master else []
    for task in job.tasks:
        _cut(job, task, is_ranked=task.role in ranked[1:])
    ordered = _ordered([task for task in job.tasks if task.count.value], ranked)
    return ordered, _ranks(job, ordered)


def success(job: JobOfTasks, tasks: list[Task]) -> tuple[Tree, bool]:
    """The successPolicy of the JobSet, None where all Jobs have to succeed, and whether it can be had."""
    policies = [(task, matching(of_task(job, task), "TaskCompleted")) for task in tasks]
    deciding = [task for task, policy in policies if policy is not None and policy.action == "CompleteJob"]
    counted, complete = value(job.spec, "minSuccess"), "`event: TaskCompleted`, `action: CompleteJob`"
    if counted is not None:
        if not is_countable(tasks):
            message = f"`minSuccess: {counted}` counts the pods of several Jobs"
            help_ = f"complete the job with a policy of one task: {complete}"
            job.say(COUNTED, ("spec", "minSuccess"), message, help=help_)
        return None, is_countable(tasks)
    if not deciding:
        least, total = job.minimum.value, sum(task.count.value for task in tasks)
        if least < total:
            message = f"all pods must succeed; Volcano completes the job when {least} of {total} do"
            job.say(SUCCESS, ("spec", "minAvailable"), message, key=True, help=f"complete it with a policy: {complete}")
        return None, True
    names = [task.role for task in deciding]
    if len(deciding) == 1:
        return stamp({"operator": "All", "targetReplicatedJobs": names}, "TaskCompleted"), True
    if cut := [task.role for task in deciding if task.jobs.value > 1]:
        tasks_of_several = ", ".join(f"`{name}`" for name in cut)
        message = f"the end of {tasks_of_several} does not complete the job: each of its pods is a Job of its own"
        job.say(SUCCESS, ("spec", "tasks"), message, key=True, help="let only the master complete the job")
    kept = [name for name in names if name not in cut]
    both = "All" if len(kept) == 1 else "Any"
    return stamp({"operator": both, "targetReplicatedJobs": kept}, "TaskCompleted"), bool(kept)


def is_countable(tasks: list[Task]) -> bool:
    """Whether the pods that succeed are those of one Job."""
    return len(tasks) == 1 and tasks[0].jobs.value == 1


def _cut(job: JobOfTasks, task: Task, *, is_ranked: bool) -> None:
    """Cut a task into Jobs: one for each partition, one for each worker whose rank is its Job's number, else one."""
    if (policy := get(task.tree, "partitionPolicy")) is not None:
        if not (used := [name for name in _INDEXED if name in job.plugins]):
            task.jobs, task.pods = policy["totalPartitions"], policy["partitionSize"]
            return
        message = f"the partitions of `{task.role}` are not kept: the plugin `{used[0]}` counts over all of them"
        help_ = "remove the plugin, or write a JobSet with one Job for each partition"
        job.say(PARTITIONS, (*task.path, "partitionPolicy"), message, key=True, help=help_)
    if is_ranked and task.count.value > 1:
        task.jobs, task.pods = task.count, Sourced(1, Origin(by="one Job per worker"))


def _ordered(tasks: list[Task], first: list[str]) -> list[Task]:
    """Master and workers of torch `first`, and no task before one that it waits for."""
    todo = sorted(tasks, key=lambda task: first.index(task.role) if task.role in first else len(first))
    present = {task.role for task in tasks}
    waits = [present.intersection(task.waits) for task in todo]
    followers: dict[str, list[int]] = {}
    for index, names in enumerate(waits):
        for name in names:
            followers.setdefault(name, []).append(index)
    out: list[Task] = []
    free = [index for index, names in enumerate(waits) if not names]
    while free:
        task = todo[heappop(free)]
        out.append(task)
        for index in followers.get(task.role, ()):
            waits[index].remove(task.role)
            if not waits[index]:
                heappush(free, index)
    return out


def _ranks(job: JobOfTasks, tasks: list[Task]) -> bool:
    """Whether master and workers get the ranks 0, 1, 2 ...; what is in the way is reported."""
    if (torch := job.plugins.get("pytorch")) is None:
        return True
    master, worker = job.task(torch.text("master")), job.task(torch.text("worker"))
    at = job.document.span(("spec", "plugins", "pytorch"), key=True)
    if master is None:
        message = f"there is no task `{torch.text('master')}`: the plugin `pytorch` sets no variable at all"
        job.say(RANKS_LOST, at, message, help=f"name a task `{torch.text('master')}`", level=WARNING)
        return True
    if master.count.value != 1:
        message = f"`{master.role}` has {master.count.value} pods, and each of them has rank 0"
        effect = "the processes never connect: there are more processes than ranks"
        job.say(RANKS_LOST, (*master.path, "replicas"), message, effect=effect, help="set one replica")
        return False
    if worker is None or worker.count.value <= 1:
        return True
    if "tensorflow" in job.plugins:
        job.say(RANKS_LOST, at, "the plugins `pytorch` and `tensorflow` count pods in ways that exclude each other")
        return False
    if [task.role for task in tasks[:2]] != [master.role, worker.role]:
        message = f"`{master.role}` waits for other tasks: the ranks of `{worker.role}` would not begin with 1"
        path = (*master.path, "dependsOn")
        job.say(RANKS_LOST, path, message, key=True, help="let the workers wait for the master instead")
        return False
    message = f"each pod of `{worker.role}` is a Job of its own: its rank is the Job's number"
    job.say(RANK_LAYOUT, (*worker.path, "replicas"), message)
    return True
