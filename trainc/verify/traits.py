"""What occurs anywhere in a job: checks that look for something else need not look at all."""

from __future__ import annotations

from trainc.verify.values import integer, table
from trainc.verify.world import ADDRESSED, RANKED, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.verify.job import Job
    from trainc.verify.pods import Role

# A trait of the same name: the text of some command holds this.
_WORDS = (
    "parallel",
    "batch",
    "sleep",
    "tail",
    "while",
    "install",
    "http",
    "git clone",
    "mpirun",
    "mpiexec",
    "horovodrun",
)
_MEETING_WORDS = ("rdzv", "master", "main_process")


def traits(job: Job) -> set[str]:
    """All fields, variables, resources and kinds that occur in a job, words of its commands, and these besides.

    `devices`, `script`, `$`, `ranks`, `odd amount`, `odd env`, `odd count`, `odd restart`, `meetings`, `odd meeting`,
    `several meetings`, `several roles`, `several Jobs`, `several containers`, `not Indexed`, `parallelism alone`,
    `labels`, `annotations`, `JobSet annotations` and `beside` (there are other objects).
    """
    found = set(job.spec)
    found.update(job.names, job.families, job.kinds, table(job.spec, "failurePolicy"))
    for role in job.roles:
        _role(found, role)
    for container in job.containers:
        found.update(container.tree, container.limits, container.requests, container.traits)
    _commands(found, job.text)
    if not RANKED.isdisjoint(job.names):
        found.add("ranks")
    if not ADDRESSED.isdisjoint(job.names) or any(word in job.text for word in _MEETING_WORDS):
        _meetings(found, job)
    if len(job.roles) > 1:
        found.add("several roles")
    if job.kinds:
        found.add("beside")
    if "annotations" in table(job.tree, "metadata"):
        found.add("JobSet annotations")
    return found


def _role(found: set[str], role: Role) -> None:
    found.update(role.spec, role.pod, role.tree)
    for volume in role.volumes.values():
        found.update(volume)
    if role.labels:
        found.add("labels")
    if role.annotations:
        found.add("annotations")
    if not role.indexed:
        found.add("not Indexed")
    if role.replicas != 1:
        found.add("several Jobs")
    if role.replicas == 0 or role.width == 0 or role.size == 0:
        found.add("odd count")
    if "parallelism" in role.spec and "completions" not in role.spec:
        found.add("parallelism alone")
    if role.restart_policy not in ("Never", "OnFailure"):
        found.add("odd restart")
    if len(role.containers) > 1:
        found.add("several containers")


def _commands(found: set[str], text: str) -> None:
    for word in _WORDS:
        if word in text:
            found.add(word)


def _meetings(found: set[str], job: Job) -> None:
    if job.meetings:
        found.add("meetings")
    if len(job.meetings) > 1:
        found.add("several meetings")
    for meeting in job.meetings:
        number = integer(meeting.port) if meeting.port else 1
        if type(meeting.place) is not Place or number is None or not 0 < number < 65536:
            found.add("odd meeting")
