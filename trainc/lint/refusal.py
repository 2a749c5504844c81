"""How a refusal of child Jobs and pods becomes a finding: whose rule it is, and what a person can do."""

from __future__ import annotations

from collections.abc import Callable

from trainc.apiserver.fault import Fault
from trainc.lint.facts.job import ExpandedRole, Job
from trainc.model.finding import Label, Rule
from trainc.model.tree import Path, value
from trainc.text.record import Any, NamedTuple

_LISTS = ("containers", "initContainers", "ephemeralContainers")


class ServerComplaint:
    """One complaint of the API server about a job: the fault, and what stands around it.

    `path` is where the mistake stands in the JobSet, `field` its last step, `written` what is written there; `reason`
    are the server's words without the path, `value` the value that it quotes. `role_name` and `container_name` are
    empty where the mistake is elsewhere.
    """

    def __init__(self, job: Job, fault: Fault) -> None:
        self.job = job
        self.fault = fault
        self.path = path = fault.path
        self.field = str(path[-1]) if path else ""
        self.reason = fault.message.partition(": ")[2]
        self.value = "" if fault.value is None else str(fault.value)
        self.written: Any = value(job.tree, *path)
        index = path[2] if path[1:2] == ("replicatedJobs",) else None
        self.role: ExpandedRole | None = job.roles[index] if type(index) is int and index < len(job.roles) else None
        self.role_name = "" if self.role is None else self.role.name
        containers = [] if self.role is None else self.role.containers
        self.container_name = next((one.name for one in containers if path[: len(one.path)] == one.path), "")

    def above(self, steps: int, *more: str | int) -> Path:
        """A place that stands so many steps above, and below that."""
        return (*self.path[: len(self.path) - steps], *more)


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


class Explanation(NamedTuple):
    """The rule for complaints at certain places: `places` end in these fields, with `*` for what varies.

    `says` is a part of the server's words. `message` and `help` are those of the finding, with `{value}`, `{field}`,
    `{written}`, `{container}` and `{role}` filled in; or `message` is a function that gives both.
    """

    rule: Rule
    places: str | tuple[str, ...]
    says: str
    message: str | Callable[[ServerComplaint], Words]
    help: str = ""
    key: bool = False

    def explains(self, steps: list[str], reason: str) -> bool:
        """Whether this is about a complaint at a place, spelled as steps."""
        if self.says not in reason:
            return False
        places = [place.split(".") for place in ((self.places,) if isinstance(self.places, str) else self.places)]
        return any(
            len(steps) >= len(place)
            and all(want in ("*", step) for want, step in zip(reversed(place), reversed(steps), strict=False))
            for place in places
        )

    def words_for(self, refused: ServerComplaint) -> Words:
        """The words for one complaint."""
        if not isinstance(self.message, str):
            return self.message(refused)
        facts = {**vars(refused), "container": refused.container_name, "role": refused.role_name}
        return Words(self.message.format_map(facts), self.help.format_map(facts), key=self.key)


def steps_of(path: Path) -> list[str]:
    """A path as explanations spell it: numbers as `#`, all lists of containers as `containers`."""
    return ["#" if type(step) is int else "containers" if step in _LISTS else str(step) for step in path]
