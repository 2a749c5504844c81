"""How many pods an older job asks for: a number that a job can have, and one that is known now."""

from __future__ import annotations

from trainc.model.finding import ERROR, Rule
from trainc.schedulers.gang import UNKNOWN_SIZE
from trainc.text.placeholders import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.kinds.shared.job import LegacyJob, Replica

NO_REPLICAS = Rule(
    "no-replicas",
    ERROR,
    "a job requests no pods, or a negative number",
    "Nothing runs and the job never succeeds: the operator waits for pods that are never created.",
)
TOO_MANY_PODS = Rule(
    "too-many-pods",
    ERROR,
    "a role has more pods than a Job can have",
    "The API server accepts at most 100,000 parallel pods in an Indexed Job (batch/v1).",
)
MOST = 100_000


def countable(job: LegacyJob) -> bool:
    """Whether every role has a number of pods that can be laid out; what has not is reported."""
    verdicts = [_countable(job, replica) for replica in job.replicas]
    if all(verdicts) and not job.pods:
        field = ("spec", job.kind.field)
        help_ = f"give one of {', '.join(job.kind.roles)} at least one replica"
        job.say(NO_REPLICAS.at(job.span(field, key=True), "no role of this job has a pod", help=help_))
        return False
    return all(verdicts)


def is_countable(replica: Replica) -> bool:
    """Whether a role has a number of pods that a Job can have."""
    count: object = replica.count.value
    return type(count) is int and 0 < count <= MOST


def is_open(job: LegacyJob) -> bool:
    """Whether a run that only judges meets a number of pods that is filled in later."""
    return not job.report.compiles and any(is_placeholder(replica.count.value) for replica in job.replicas)


def _countable(job: LegacyJob, replica: Replica) -> bool:
    count: object = replica.count.value
    at = job.span((*replica.path, "replicas"))
    if is_placeholder(count) and not job.report.compiles:
        return False  # whoever computes with the number counts what it cannot
    if type(count) is not int:
        help_ = "write the number: the addresses and ranks of an older job are written out, one for each pod"
        job.say(UNKNOWN_SIZE.at(at, f"how many pods `{replica.role}` has is not known here", help=help_))
    elif count < 0:
        job.say(NO_REPLICAS.at(at, f"`{replica.role}` has {count} replicas", help="write how many pods there shall be"))
    elif count > MOST:
        message = f"`{replica.role}` has {count} pods, a Job has at most {MOST}"
        job.say(TOO_MANY_PODS.at(at, message, help="ask for fewer pods"))
    else:
        return True
    return False
