"""What Volcano's validating webhook refuses (volcano 1.16, pkg/webhooks/admission/jobs/validate), in its words."""

from collections.abc import Iterator

from trainc.apiserver.pods.requests import quantity_of
from trainc.apiserver.served import Server
from trainc.kinds.shared.refusals import Complaint, admitted
from trainc.kinds.volcanojob.policies import refused_policies
from trainc.kinds.volcanojob.spec import API, PLUGINS, Task, plugins, read_tasks
from trainc.model.cluster import Cluster
from trainc.model.document import Document
from trainc.model.finding import ERROR, Rule
from trainc.model.report import Report
from trainc.model.tree import Path, Tree, get, plain, value
from trainc.text.quantity import NANO

REFUSED = Rule("refused-by-volcano", ERROR, verdict=True)
_TIERS = "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology simultaneously"
_BOTH_CLAIMS = (
    "conflict: If you want to use an existing PVC, just specify VolumeClaimName."
    "If you want to create a new PVC, you do not need to specify VolumeClaimName"
)


def admit(document: Document, server: Server, _: Cluster, report: Report) -> Document | None:
    """A job as its server would have stored it, None with findings where it or Volcano's webhook would have refused it."""
    return admitted(document, server, report, REFUSED, f"{API} Job webhook", _refusals, lambda text: text.strip(" ;."))


def _refusals(tree: Tree) -> Iterator[Complaint]:
    if not (tasks := read_tasks(tree)):
        yield ("spec", "tasks"), "No task specified in job spec", "write at least one task"
        return
    mpi = plugins(tree).get("mpi")
    if mpi is not None and not any(task.role == mpi.text("master") for task in tasks):
        at: Path = ("spec", "plugins", "mpi")
        yield at, "The specified mpi master task was not found", f"name a task `{mpi.text('master')}`"
        return
    yield from _topology(get(tree, "spec"), ("spec",))
    name = value(tree, "metadata", "name")
    seen: set[str] = set()
    for task in tasks:
        least, count = task.minimum.value, task.count.value
        if type(least) is int and type(count) is int and least > count and get(task.tree, "minAvailable") is not None:
            text = f" 'minAvailable' is greater than 'replicas' in task: {task.role}, job: {name};"
            yield (*task.path, "minAvailable"), text, f"write at most {count}"
        if task.role in seen:
            yield (*task.path, "name"), f" duplicated task name {task.role};", "rename it"
        seen.add(task.role)
        yield from refused_policies(task.tree, task.path, "spec.tasks.policies")
        yield from _cores(task)
        yield from _partitions(task, name)
    least, counts = value(tree, "spec", "minAvailable"), [task.count.value for task in tasks]
    if type(least) is int and all(type(count) is int for count in counts) and sum(counts) < least:
        text = " job 'minAvailable' should not be greater than total replicas in tasks;"
        yield ("spec", "minAvailable"), text, f"write at most {sum(counts)}"
    yield from refused_policies(get(tree, "spec"), ("spec",), "spec.policies")
    for plugin in get(tree, "spec", "plugins") or {}:
        if plugin not in PLUGINS:
            path: Path = ("spec", "plugins", plugin)
            yield path, f" unable to find job plugin: {plugin};", f"the plugins are {', '.join(PLUGINS)}"
    yield from _volumes(tree)
    if value(tree, "spec", "queue") == "root":
        yield ("spec", "queue"), " can not submit job to root queue;", "name a queue under it"
    if not _is_acyclic(tasks):
        text = " job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG);"
        first = next(task for task in tasks if task.waits)
        yield (*first.path, "dependsOn"), text, "let each task wait for tasks that do not wait for it"


def _topology(holder: Tree, above: Path) -> Iterator[Complaint]:
    topology = get(holder, "networkTopology")
    if value(topology, "highestTierAllowed") is not None and value(topology, "highestTierName"):
        yield (*above, "networkTopology", "highestTierName"), _TIERS, "keep one of them"


def _cores(task: Task) -> Iterator[Complaint]:
    """A NUMA policy wants whole cores in every container, init containers last."""
    if value(task.tree, "topologyPolicy") in {None, "", "none"}:
        return
    pod, fields = get(task.template, "spec") or {}, ("containers", "initContainers")
    containers = [(field, index, one) for field in fields for index, one in enumerate(pod.get(field) or ())]
    for number, (field, index, container) in enumerate(containers):
        amounts = get(container, "resources", "requests") or get(container, "resources", "limits")
        cores = get(amounts, "cpu")
        amount = quantity_of(cores) if cores is not None else None
        if amount is None or amount.nanos % NANO or not amount.nanos:
            where = f"spec.task[{task.path[-1]}] container[{number}]."
            path = (*task.path, "template", "spec", field, index, "resources")
            yield path, f"the cpu request isn't an integer in {where}", "request whole cores"
            return


def _partitions(task: Task, job: str) -> Iterator[Complaint]:
    if (policy := get(task.tree, "partitionPolicy")) is None:
        return
    yield from _topology(policy, (*task.path, "partitionPolicy"))
    total, size = value(policy, "totalPartitions"), value(policy, "partitionSize")
    least, minimum = value(policy, "minPartitions"), value(task.tree, "minAvailable")
    where, path = f"in task: {task.role}, job: {job}", (*task.path, "partitionPolicy")
    if type(total) is not int or type(size) is not int or type(task.count.value) is not int:
        return
    if total <= 0:
        yield (*path, "totalPartitions"), f"'TotalPartitions' must be greater than 0 {where}", "write at least 1"
    elif size <= 0:
        yield (*path, "partitionSize"), f"'PartitionSize' must be greater than 0 {where}", "write at least 1"
    elif task.count.value != total * size:
        text = f"'Replicas' are not equal to TotalPartitions*PartitionSize {where}"
        yield (*task.path, "replicas"), text, f"write {total * size} replicas"
    elif minimum is not None and type(least) is int and least > 0 and least * size != minimum:
        text = f"'MinAvailable' is not equal to MinPartitions*PartitionSize {where}"
        yield (*task.path, "minAvailable"), text, f"write {least * size}, or remove it"


def _volumes(tree: Tree) -> Iterator[Complaint]:
    """The first mistake in the volumes: the webhook looks no further."""
    seen: set[str] = set()
    for index, volume in enumerate(get(tree, "spec", "volumes") or ()):
        path, where = ("spec", "volumes", index), value(volume, "mountPath")
        name, claim = value(volume, "volumeClaimName"), plain(get(volume, "volumeClaim"))
        if not where:
            yield (*path, "mountPath"), " mountPath is required;", "set the mount path of the volume"
        elif where in seen:
            yield (*path, "mountPath"), f" duplicated mountPath: {where};", "mount it elsewhere"
        elif claim is None and not name:
            yield path, " either VolumeClaim or VolumeClaimName must be specified;", "name a PVC, or define one"
        elif claim is not None and name:
            yield (*path, "volumeClaimName"), _BOTH_CLAIMS, "keep one of them"
        else:
            seen.add(where)
            continue
        return


def _is_acyclic(tasks: tuple[Task, ...]) -> bool:
    """Whether each task can start once those it waits for are ready; a task that does not exist never is."""
    ready: set[str] = set()
    todo = list(tasks)
    while todo:
        if not (free := [task for task in todo if ready.issuperset(task.waits)]):
            return False
        ready.update(task.role for task in free)
        todo = [task for task in todo if task.role not in ready]
    return True
