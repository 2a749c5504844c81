"""Whether the names that a JobSet derives from the name of a job are short enough."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob
    from trainc.kinds.shared.layout import JobLayout, ReplicatedJobPlan


LONG_NAME = Rule(
    "older-name-too-long",
    ERROR,
    "the job's name fits its operator but is too long for a JobSet",
    "A JobSet's pod names carry two indices and a random suffix, and must fit into 63 characters.",
)


_LIMIT = 63


def fits(job: LegacyJob, shape: JobLayout) -> bool:
    """Whether the names of all pods are short enough for a JobSet; a name that is too long is reported."""
    name = job.name.value
    longest = max(_suffix(part) for part in shape.parts)
    if len(name) + longest <= _LIMIT:
        return True
    room = _LIMIT - longest
    message = f"`{name}` has {len(name)} characters; its JobSet leaves room for {room}"
    help_ = f"call it `{_shortened(name, room)}`: every host name in it changes with the job's"
    job.say(LONG_NAME.at(job.span(("metadata", "name")), message, help=help_))
    return False


def _suffix(part: ReplicatedJobPlan) -> int:
    return (
        1 + len(part.name) + 1 + len(str(max(part.jobs.value - 1, 0))) + 1 + len(str(max(part.pods.value - 1, 0))) + 6
    )


def _shortened(name: str, room: int) -> str:
    mark = 0
    for character in name:
        mark = (mark * 31 + ord(character)) % 16**5
    return f"{name[: room - 6].rstrip('-')}-{mark:05x}"
