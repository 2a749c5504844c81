"""A Volcano Job as read: its tasks with every default of Volcano's webhook filled in."""

import re
from collections.abc import Mapping, Sequence

from trainc.kinds.shared.job import LegacyJob, LegacyOptions, Replica, items, mapping, or_default, pruned
from trainc.kinds.table import Kind
from trainc.model.document import Document
from trainc.model.report import Report
from trainc.model.sourced import Origin, Sourced, derive
from trainc.model.tree import Path, Tree, filled, get, given, plain, value
from trainc.text.numbers import brief

Flag = str | int | bool

API = "batch.volcano.sh/v1alpha1"
FRAMEWORK = "vcjob"
DEFAULT = Origin(by="Volcano webhook default")
_RUNS = 3  # of a job that says nothing, or 0
_NEEDS_SERVICE = ("tensorflow", "mpi", "pytorch", "ray")
_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_LARGEST = 2**63 - 1  # of Go's int; one number further down is a number too, and no port
_LONGEST = 19  # its digits
_NUMBER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|[1-9][0-9]*|0)")


class Task(Replica):
    """One task: its pods, how many of them the gang needs, and how they are cut into Jobs.

    `jobs` child Jobs have `pods` pods each; pod `i` of the task is pod `i % pods` of Job `i // pods`.
    """

    def __init__(self, name: str, path: Path, tree: Tree) -> None:
        count = or_default(get(tree, "replicas"), 0, DEFAULT)
        template = pruned(get(tree, "template")) or {}
        restart = given(get(template, "spec", "restartPolicy"), Sourced("Always", Origin(by="core/v1 default")))
        super().__init__(name, path, count, restart, template)
        self.tree = tree
        self.minimum = count
        least, size = get(tree, "partitionPolicy", "minPartitions"), get(tree, "partitionPolicy", "partitionSize")
        if type(written := get(tree, "minAvailable")) is Sourced and written.value is not None:
            self.minimum = written
        elif type(least) is Sourced and least.value and type(size) is Sourced:
            self.minimum = derive("partitions of the gang", lambda n, of: n * of, least, size)
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
        size = self.pods.value
        addresses = [f"{job}-{self.role}-{i // size}-{i % size}.{job}" for i in range(self.count.value)]
        return addresses[:1] if self.has_one_host else addresses

    @property
    def has_one_host(self) -> bool:
        """Whether its template names a host, which Volcano then takes for the only one of the task."""
        return bool(value(self.tree, "template", "spec", "hostname"))


class JobOfTasks(LegacyJob):
    """One Volcano Job, ready to be laid out."""

    def __init__(self, document: Document, options: LegacyOptions, report: Report) -> None:
        tasks = read_tasks(document.tree)
        kind = Kind(API, "Job", "tasks", tuple(task.role for task in tasks), FRAMEWORK)
        super().__init__(document, kind, tasks, options, report)
        self.tasks = tasks
        self.plugins = plugins(document.tree)

    @property
    def minimum(self) -> Sourced[int]:
        """How many pods the gang needs: as written, else the sum over the tasks."""
        total = derive("sum over the tasks", lambda *counts: sum(counts), *(task.minimum for task in self.tasks))
        minimum: Sourced[int] = given(filled(self.spec, "minAvailable"), total)
        return minimum

    @property
    def runs(self) -> Sourced[int]:
        runs: Sourced[int] = given(filled(self.spec, "maxRetry"), Sourced(_RUNS, DEFAULT))
        return runs

    def task(self, name: str) -> Task | None:
        return next((task for task in self.tasks if task.role == name), None)


def read_tasks(tree: Tree) -> tuple[Task, ...]:
    return tuple(
        Task(value(entry, "name") or f"default{index}", ("spec", "tasks", index), entry)
        for index, entry in enumerate(items(get(tree, "spec", "tasks")))
    )


def plugins(tree: Tree) -> "Mapping[str, Flags]":
    """The plugins of a job that Volcano knows, with those that its webhook adds."""
    written = mapping(get(tree, "spec", "plugins"))
    names = [*written]
    if any(name in written for name in _NEEDS_SERVICE):
        names.append("svc")
    if "mpi" in written:
        names.append("ssh")
    return {name: Flags(name, plain(written.get(name)) or ()) for name in dict.fromkeys(names) if name in PLUGINS}


# By plugin, each flag with what it is when absent; the type of that says what it holds.
PLUGINS: Mapping[str, Mapping[str, Flag]] = {
    "env": {},
    "svc": {"publish-not-ready-addresses": False, "disable-network-policy": False, "inject-hosts-env": True},
    "ssh": {"ssh-key-file-path": "/root/.ssh", "ssh-private-key": "", "ssh-public-key": "", "ssh-port": 22},
    "pytorch": {
        "master": "master", "worker": "worker", "port": 23456, "wait-master-enabled": False,
        "wait-master-timeout": 300, "wait-master-image": "busybox:1.36.1",
    },
    "tensorflow": {"ps": "ps", "worker": "worker", "chief": "chief", "evaluator": "evaluator", "port": 2222},
    "mpi": {"master": "master", "worker": "worker", "port": 22},
    "ray": {
        "head": "head", "headContainer": "head", "worker": "worker", "workerContainer": "worker", "port": 6379,
        "dashboardPort": 8265, "clientPort": 10001,
    },
    "hcclrank": {"master": "master", "worker": "worker"},
}  # fmt: skip


class Flags:
    """The flags of one plugin: what each says, and which argument stopped the reading (-1 for none)."""

    def __init__(self, plugin: str, arguments: Sequence[str]) -> None:
        self.values: dict[str, Flag] = dict(PLUGINS[plugin])
        self.problem = ""
        self.stopped = -1
        index = 0
        while index < len(arguments):
            taken = self._flag(arguments[index], arguments[index + 1 : index + 2])
            if self.problem or not taken:
                self.stopped = index
                return
            index += taken

    def _flag(self, argument: str, following: Sequence[str]) -> int:
        """How many arguments one flag takes, 0 where the flags end."""
        if len(argument) < 2 or argument[0] != "-" or argument == "--":
            return 0
        name, equals, text = argument[2 if argument[1] == "-" else 1 :].partition("=")
        if not name or name[0] == "-":
            self.problem = f"bad flag syntax: {argument}"
        elif name not in self.values:
            self.problem = f"flag provided but not defined: -{name}"
        elif type(self.values[name]) is bool:
            self._set(name, text if equals else "true")
        elif equals:
            self._set(name, text)
        elif following:
            self._set(name, following[0])
            return 2
        else:
            self.problem = f"flag needs an argument: -{name}"
        return 1

    def _set(self, name: str, text: str) -> None:
        """Set a flag; one that cannot be read becomes zero, one that is too large the largest, as `flag.IntVar` leaves it."""
        kind = type(self.values[name])
        if kind is str:
            self.values[name] = text
            return
        if kind is bool:
            known, self.values[name] = text in _TRUE or text in _FALSE, text in _TRUE
        else:
            number = _number(text) if _NUMBER.fullmatch(text) else None
            known = number is not None and -_LARGEST <= number <= _LARGEST
            self.values[name] = max(-_LARGEST, min(number or 0, _LARGEST))
        if not known:
            self.problem = f'invalid value "{brief(text)}" for flag -{name}'

    def text(self, name: str) -> str:
        return str(self.values[name])

    def number(self, name: str) -> int:
        return int(self.values[name])

    def is_on(self, name: str) -> bool:
        return self.values[name] is True


def _number(text: str) -> int:
    digits = text.lstrip("+-")
    if digits[0] != "0":
        number = int(digits) if len(digits) <= _LONGEST else _LARGEST + 1
    else:
        number = int(digits, 8 if digits[1:2].isdigit() else 0)
    return -number if text[0] == "-" else number
