"""A Volcano Job as read: its tasks with every default of Volcano's webhook filled in."""

from __future__ import annotations

from trainc.kinds.shared.job import LegacyJob, Replica, pruned
from trainc.kinds.table import NO_PORT, Kind
from trainc.kinds.volcanojob.flags import PLUGINS, Flags
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import get, plain, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from trainc.kinds.shared.job import LegacyOptions
    from trainc.model.document import Document
    from trainc.model.report import Report
    from trainc.model.tree import Path, Tree

API = "batch.volcano.sh/v1alpha1"
FRAMEWORK = "vcjob"
DEFAULT = Origin(by="Volcano webhook default")
_RUNS = 3  # of a job that says nothing, or 0
_NEEDS_SERVICE = ("tensorflow", "mpi", "pytorch", "ray")


class Task(Replica):
    """One task: its pods, how many of them the gang needs, and how they are cut into Jobs.

    `jobs` child Jobs have `pods` pods each; pod `i` of the task is pod `i % pods` of Job `i // pods`.
    """

    __slots__ = ("jobs", "minimum", "pods", "tree")

    def __init__(self, name: str, path: Path, tree: Tree) -> None:
        count = get(tree, "replicas")
        count = count if type(count) is Sourced and count.value is not None else Sourced(0, DEFAULT)
        template = pruned(get(tree, "template")) or {}
        restart = get(template, "spec", "restartPolicy")
        policy = restart if type(restart) is Sourced else Sourced("Always", Origin(by="core/v1 default"))
        super().__init__(name, path, count, policy, template)
        self.tree = tree
        self.minimum = _minimum(tree, count)
        self.jobs: Sourced[int] = Sourced(1, Origin(by="one Job for a task"))
        self.pods = count

    @property
    def variable(self) -> str:
        """The task's name as it stands in names of variables."""
        return self.role.replace("-", "_").upper()

    @property
    def waits(self) -> list[str]:
        """The tasks that have to be ready before this one starts."""
        return plain(get(self.tree, "dependsOn", "name")) or []

    def hosts(self, job: str) -> list[str]:
        """The addresses of its pods, in order."""
        size = self.pods.value
        addresses = [f"{job}-{self.role}-{i // size}-{i % size}.{job}" for i in range(self.count.value)]
        return addresses[:1] if self.has_one_host else addresses

    @property
    def has_one_host(self) -> bool:
        """Whether its template names a host, which Volcano then takes for the only one of the task."""
        return bool(value(self.tree, "template", "spec", "hostname"))


class JobOfTasks(LegacyJob):
    """One Volcano Job, ready to be laid out."""

    __slots__ = ("plugins", "tasks")

    def __init__(self, document: Document, options: LegacyOptions, report: Report) -> None:
        tasks = read_tasks(document.tree)
        kind = Kind(API, "Job", "tasks", tuple(task.role for task in tasks), "", NO_PORT, "", FRAMEWORK)
        super().__init__(document, kind, tasks, options, report)
        self.tasks = tasks
        self.plugins = plugins(document.tree)

    @property
    def minimum(self) -> Sourced[int]:
        """How many pods the gang needs: as written, else the sum over the tasks."""
        written = get(self.spec, "minAvailable")
        if type(written) is Sourced and written.value:
            return written
        return derive("sum over the tasks", lambda *counts: sum(counts), *(task.minimum for task in self.tasks))

    @property
    def runs(self) -> Sourced[int]:
        """How often the job may run in all."""
        written = get(self.spec, "maxRetry")
        return written if type(written) is Sourced and written.value else Sourced(_RUNS, DEFAULT)

    def task(self, name: str) -> Task | None:
        """The task of that name, None where the job has none."""
        return next((task for task in self.tasks if task.role == name), None)


def read_tasks(tree: Tree) -> tuple[Task, ...]:
    """The tasks of a job in the order written."""
    entries = get(tree, "spec", "tasks")
    entries = entries if type(entries) is list else []
    return tuple(
        Task(value(entry, "name") or f"default{index}", ("spec", "tasks", index), entry)
        for index, entry in enumerate(entries)
    )


def plugins(tree: Tree) -> Mapping[str, Flags]:
    """The plugins of a job that Volcano knows, with those that its webhook adds."""
    written = get(tree, "spec", "plugins")
    written = written if type(written) is dict else {}
    names = [*written]
    if any(name in written for name in _NEEDS_SERVICE):
        names.append("svc")
    if "mpi" in written:
        names.append("ssh")
    return {name: Flags(name, plain(written.get(name)) or ()) for name in dict.fromkeys(names) if name in PLUGINS}


def _minimum(tree: Tree, count: Sourced[int]) -> Sourced[int]:
    written = get(tree, "minAvailable")
    if type(written) is Sourced and written.value is not None:
        return written
    least, size = get(tree, "partitionPolicy", "minPartitions"), get(tree, "partitionPolicy", "partitionSize")
    if type(least) is Sourced and least.value and type(size) is Sourced:
        return derive("partitions of the gang", lambda n, of: n * of, least, size)
    return count
