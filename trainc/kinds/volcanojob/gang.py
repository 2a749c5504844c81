"""What a Volcano Job asks of whoever places its pods together."""

from __future__ import annotations

from trainc.kinds.shared.job_metadata import FOR_THE_JOB
from trainc.kinds.shared.restart import DEADLOCK
from trainc.model.sourced import is_written
from trainc.model.tree import get

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.volcanojob.spec import JobOfTasks, Task
    from trainc.model.tree import Tree


def gang(job: JobOfTasks) -> Tree:
    """The job's wishes as a scheduling policy; `volcano` places it where the cluster names no other back end."""
    spec = job.spec
    queue = get(spec, "queue")
    policy: dict[str, Tree] = {
        "minAvailable": job.minimum,
        "minTaskMember": {task.role: task.minimum for task in job.tasks},
        "queue" if is_written(queue) else "defaultQueue": queue,
        "annotations": _handed_on(job, "annotations"),
        "labels": _handed_on(job, "labels"),
    }
    for field, name in (("priorityClassName", "priorityClass"), ("networkTopology", "networkTopology")):
        if get(spec, field) is not None:
            policy[name] = spec[field]
    groups = [_sub_group(task) for task in job.tasks if task.jobs.value > 1 and "partitionPolicy" in task.tree]
    if groups:
        policy["subGroups"] = groups
    return {"volcano": {}, "older": policy}


def _handed_on(job: JobOfTasks, section: str) -> Tree:
    given = get(job.document.tree, "metadata", section) or {}
    return {key: text for key, text in given.items() if not key.startswith(FOR_THE_JOB)}


def _sub_group(task: Task) -> Tree:
    policy = task.tree["partitionPolicy"]
    least = get(policy, "minPartitions")
    part = {"task": task.role, "subGroupSize": policy["partitionSize"]}
    if least is not None:
        part["minSubGroups"] = least
    topology = get(policy, "networkTopology")
    return {**part, **({"networkTopology": topology} if topology is not None else {})}


def starts(job: JobOfTasks) -> bool:
    """Whether the gang can be complete before the tasks that wait for others are there; else it is reported."""
    if not job.options.gang and not job.options.is_free:
        return True
    waiting = [task for task in job.tasks if task.count.value and _waits(job, task)]
    there = sum(task.count.value for task in job.tasks if task not in waiting)
    least = job.minimum
    if not waiting or least.value <= there:
        return True
    task = waiting[0]
    message = f"the gang needs {least.value} pods, and {there} are there before `{task.role}` starts"
    effect = "nothing starts: the gang waits for pods that wait for the gang"
    help_ = f"set `minAvailable: {there}`, or remove `dependsOn`"
    job.say(DEADLOCK.at(job.span((*task.path, "dependsOn"), key=True), message, effect=effect, help=help_))
    return False


def _waits(job: JobOfTasks, task: Task) -> bool:
    """Whether a task waits for one that has pods."""
    others = (job.task(name) for name in task.waits)
    return any(other is not None and other.count.value for other in others)
