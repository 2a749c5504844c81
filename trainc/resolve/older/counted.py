"""How many pods an older job asks for: a number that a job can have, and one that is known now."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.model.gang import NO_PODS, UNKNOWN_SIZE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.resolve.older.job import Job, Replica

TOO_MANY_PODS = Rule(
    "too-many-pods",
    ERROR,
    "a role with more pods than a Job can have",
    "The API server takes at most 100,000 pods at once in an Indexed Job (batch/v1).",
)
_MOST = 100_000


def countable(job: Job) -> bool:
    """Whether every role has a number of pods that can be laid out; what has not is reported."""
    verdicts = [_countable(job, replica) for replica in job.replicas]
    if all(verdicts) and not job.pods:
        field = ("spec", job.kind.field)
        help_ = f"give one of {', '.join(job.kind.roles)} at least one replica"
        job.say(NO_PODS.at(job.span(field, key=True), "no role of this job has a pod", help=help_))
        return False
    return all(verdicts)


def _countable(job: Job, replica: Replica) -> bool:
    count: object = replica.count.value
    at = job.span((*replica.path, "replicas"))
    if type(count) is not int:
        help_ = "write the number: the addresses and ranks of an older job are written out, one for each pod"
        job.say(UNKNOWN_SIZE.at(at, f"how many pods `{replica.role}` has is not known here", help=help_))
    elif count < 0:
        job.say(NO_PODS.at(at, f"`{replica.role}` has {count} replicas", help="write how many pods there shall be"))
    elif count > _MOST:
        message = f"`{replica.role}` has {count} pods, a Job has at most {_MOST}"
        job.say(TOO_MANY_PODS.at(at, message, help="ask for fewer pods"))
    else:
        return True
    return False
