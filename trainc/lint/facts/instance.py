"""One concrete pod out of a role: what it is called, what is in its environment, what it runs."""

from trainc.lint.facts.job import Container, ExpandedRole, Job, filled
from trainc.lint.facts.values import (
    COMPLETION_INDEX,
    GLOBAL_JOB_INDEX,
    JOB_INDEX,
    MOST_TEXT,
    TOO_LONG,
    Unknown,
    Value,
    Varies,
    table,
    text,
)
from trainc.model.plan import ANCESTOR_LABEL


class Pod:
    """The pod `index` of child Job `replica` of a role; `rank` counts over all pods of the roles that train."""

    __slots__ = ("index", "rank", "replica", "role")

    def __init__(self, role: ExpandedRole, replica: int, index: int, rank: int) -> None:
        self.role = role
        self.replica = replica
        self.index = index
        self.rank = rank

    @property
    def host(self) -> str:
        """The host name inside the pod."""
        return self.role.host(self.replica, self.index)

    @property
    def address(self) -> str:
        """The name under which peers find it; the host name alone where the JobSet gives no DNS names."""
        return self.role.address(self.replica, self.index) if self.role.job.dns else self.host

    def env(self, container: Container, *, mark: bool = False) -> list[tuple[str, str | Unknown]]:
        """The variables of a container as the process sees them, in order, with what only the cluster knows as unknown.

        With `mark`, a reference to such a variable becomes its words, such as `<status.podIP>`; else it stays unknown.
        """
        names = dict.fromkeys(container.env)
        if self.role.indexed:
            names.setdefault("JOB_COMPLETION_INDEX")
        earlier: dict[str, str] = {}
        values: list[tuple[str, str | Unknown]] = []
        left = MOST_TEXT
        for name in names:
            value: str | Unknown = TOO_LONG
            if left > 0:
                written = container.literals.get(name) or ""
                held = filled(written, earlier.get) if "$(" in written else container.value(name)
                value = self.settle("" if held is None else held)
            values.append((name, value))
            if type(value) is str:
                earlier[name] = value
                left -= len(value)
            elif mark and value is not TOO_LONG:
                earlier[name] = str(value)
        return values

    def command(self, container: Container) -> list[str]:
        """Command and args with `$(VAR)` filled in as far as it is known, and no further than a program can be started."""
        values = {name: value for name, value in self.env(container) if type(value) is str}
        left = MOST_TEXT
        words = []
        for word in container.words:
            known = filled(word, values.get) if left > 0 and "$(" in word else word
            words.append(known if type(known) is str else word)
            left -= len(words[-1])
        return words

    def settle(self, value: Value) -> str | Unknown:
        """A value of the role as this very pod has it."""
        if not isinstance(value, Varies):
            return value
        if value.by == COMPLETION_INDEX:
            return str(self.index)
        if value.by == JOB_INDEX:
            return str(self.replica)
        group = None if value.by == GLOBAL_JOB_INDEX else self.role.tree.get("groupName")
        before = 0
        for role in self.role.job.roles[: self.role.index]:
            if type(role.replicas) is not int:
                return Unknown(value.by)
            if value.by == GLOBAL_JOB_INDEX or role.tree.get("groupName") == group:
                before += role.replicas
        return str(before + self.replica)


def trainers(job: Job) -> list[ExpandedRole]:
    """The roles whose pods work together: those with accelerators, else those named by Trainer, else all but helpers."""
    if with_devices := [role for role in job.roles if role.devices]:
        return with_devices
    steps = [(role, text(table(role.job_metadata, "labels"), ANCESTOR_LABEL)) for role in job.roles]
    labelled = [role for role, step in steps if step == "trainer"]
    return labelled or [role for role, step in steps if not step.endswith("initializer")]


def pod_at(role: ExpandedRole, replica: int, index: int) -> Pod:
    """One pod by its place; its rank is -1 where the role does not train or a count before it is unknown."""
    rank = 0
    for other in trainers(role.job):
        if other is role:
            size = role.size
            return Pod(role, replica, index, rank + replica * size + index if type(size) is int else -1)
        if type(other.replicas) is not int or type(other.size) is not int:
            break
        rank += other.replicas * other.size
    return Pod(role, replica, index, -1)


def pod_of_rank(job: Job, rank: int) -> Pod | None:
    """The pod of a rank, counted over the roles that train in the order they are listed; None where there is none.

    Pods that are not indexed have random names: none of them, nor of the roles after them, has a rank of its own.
    """
    left = rank
    for role in trainers(job):
        if type(role.replicas) is not int or type(role.size) is not int or not role.indexed:
            return None
        if 0 <= left < role.replicas * role.size:
            return Pod(role, left // role.size, left % role.size, rank)
        left -= role.replicas * role.size
    return None
