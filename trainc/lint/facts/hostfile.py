"""The hostfile of MPI: the hosts of a job, and how many processes each of them takes."""

from __future__ import annotations

from trainc.lint.facts.values import table, text
from trainc.text.numbers import parsed_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Job
    from trainc.model.tree import Tree


class Host:
    """One line of a hostfile."""

    __slots__ = ("name", "slots")

    def __init__(self, name: str, slots: int | None) -> None:
        self.name = name
        self.slots = slots


def hostfile(job: Job) -> tuple[list[Host], Tree]:
    """The hosts that a hostfile beside the job lists, and the ConfigMap that holds it; no hosts where there is none."""
    own = {id(tree) for tree in job.bundle.objects}
    for config in job.kinds.get("ConfigMap", ()):
        held = text(table(config, "data"), "hostfile")
        # One that goes out with another job of the file lists that job's hosts, unless it names pods of this one.
        if held and (id(config) in own or f"{job.name}-" in held):
            lines = [line.split() for line in held.splitlines() if line.strip() and not line.startswith("#")]
            return [Host(words[0].partition(":")[0], _slots(words)) for words in lines], config
    return [], None


def _slots(words: list[str]) -> int | None:
    for word in words[1:]:
        if word.startswith("slots="):
            return parsed_int(word[6:])
    return parsed_int(words[0].partition(":")[2])
