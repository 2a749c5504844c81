"""How a refusal of child Jobs and pods becomes a finding: whose rule it is, and what a person can do."""

from __future__ import annotations

from collections.abc import Callable

from trainc.apiserver.fault import Fault
from trainc.lint.facts.job import Container, ExpandedRole, Job
from trainc.model.finding import Label, Rule
from trainc.model.tree import Path, get, value
from trainc.text.record import Any, NamedTuple

_LISTS = ("containers", "initContainers", "ephemeralContainers")


class ServerComplaint:
    """One complaint of the API server about a job: the fault, and what stands around it."""

    __slots__ = ("fault", "job", "role")

    def __init__(self, job: Job, fault: Fault) -> None:
        self.job = job
        self.fault = fault
        index = fault.path[2] if fault.path[1:2] == ("replicatedJobs",) else None
        self.role: ExpandedRole | None = job.roles[index] if type(index) is int and index < len(job.roles) else None

    @property
    def path(self) -> Path:
        """Where the mistake stands in the JobSet."""
        return self.fault.path

    @property
    def reason(self) -> str:
        """The server's words without the path."""
        return self.fault.message.partition(": ")[2]

    @property
    def container(self) -> Container | None:
        """The container that the mistake stands in."""
        if self.role is None:
            return None
        below = self.path[len(self.role.pod_path) :]
        if len(below) < 2 or below[0] not in _LISTS:
            return None
        return next((each for each in self.role.containers if each.path == (*self.role.pod_path, *below[:2])), None)

    @property
    def container_name(self) -> str:
        """Its name, empty where the mistake is elsewhere."""
        container = self.container
        return container.name if container is not None else ""

    @property
    def role_name(self) -> str:
        """The name of the replicatedJob that the mistake is in."""
        return self.role.name if self.role is not None else ""

    @property
    def field(self) -> str:
        """The last field of the path."""
        return str(self.path[-1])

    @property
    def value(self) -> str:
        """The value that the server quotes."""
        return "" if self.fault.value is None else str(self.fault.value)

    @property
    def written(self) -> Any:
        """The value that stands at the place, as it is written."""
        return value(self.job.tree, *self.path)

    def above(self, steps: int, *more: str | int) -> Path:
        """A place that stands so many steps above, and below that."""
        return (*self.path[: len(self.path) - steps], *more)

    def has(self, path: Path) -> bool:
        """Whether anything is written at a place."""
        return get(self.job.tree, *path) is not None


class Words(NamedTuple):
    """What a finding says of a refusal.

    `key` points at the key of the place, `place` is another one than the server's, `group` is what one finding is about: several complaints of a group are
    lines of one refusal.
    """

    message: str
    help: str = ""
    also: tuple[Label, ...] = ()
    key: bool = False
    group: object = None
    place: Path = ()


class Explanation:
    """The rule for complaints at certain places: `places` end in these fields, with `*` for what varies.

    `says` is a part of the server's words. `message` and `help` are those of the finding, with `{value}`, `{field}`,
    `{written}`, `{container}` and `{role}` filled in; or `message` is a function that gives both.
    """

    __slots__ = ("help", "key", "message", "places", "rule", "says")

    def __init__(
        self,
        rule: Rule,
        places: str | tuple[str, ...],
        says: str,
        message: str | Callable[[ServerComplaint], Words],
        help: str = "",  # noqa: A002 (the word users see)
        *,
        key: bool = False,
    ) -> None:
        self.rule = rule
        self.places = [place.split(".") for place in ((places,) if type(places) is str else places)]
        self.says = says
        self.message = message
        self.help = help
        self.key = key

    def explains(self, steps: list[str], reason: str) -> bool:
        """Whether this is about a complaint at a place, spelled as steps."""
        if self.says not in reason:
            return False
        return any(
            len(steps) >= len(place)
            and all(want in ("*", step) for want, step in zip(reversed(place), reversed(steps), strict=False))
            for place in self.places
        )

    def words_for(self, refused: ServerComplaint) -> Words:
        """The words for one complaint."""
        if not isinstance(self.message, str):
            return self.message(refused)
        facts = {
            "value": refused.value,
            "field": refused.field,
            "written": refused.written,
            "container": refused.container_name,
            "role": refused.role_name,
        }
        return Words(self.message.format_map(facts), self.help.format_map(facts), key=self.key)


def steps_of(path: Path) -> list[str]:
    """A path as explanations spell it: numbers as `#`, all lists of containers as `containers`."""
    return ["#" if type(step) is int else "containers" if step in _LISTS else str(step) for step in path]
