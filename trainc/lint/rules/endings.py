"""How jobs end: what waits for what, and what deletes itself."""

from __future__ import annotations

from trainc.lint.facts.endless import never_ends
from trainc.lint.facts.start_order import counts, waits
from trainc.lint.facts.values import table, text
from trainc.model.finding import ERROR, NOTE, WARNING, Label, Rule
from trainc.model.sourced import Sourced
from trainc.model.tree import value
from trainc.text.object_keys import KUEUE_QUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job

SELF = Rule("depends-on-itself", ERROR)
WAITS = Rule("waits-for-endless-role", ERROR)
SUCCESS = Rule("success-waits-for-endless-role", ERROR)
TTL_CHILD = Rule("ttl-on-child-job", WARNING)
TTL_GITOPS = Rule("self-deleting-job", NOTE)
DEADLINE = Rule("deadline-on-queue", NOTE)
AT_ONCE = Rule("deadline-passes-at-once", ERROR)


def depends_on_itself(job: Job) -> Findings:
    for role in job.roles:
        for wait in waits(role) if "dependsOn" in role.tree else ():
            if wait.on is role:
                yield SELF.at(
                    job.at(wait.path),
                    f"`{role.name}` waits for itself",
                    effect="its Jobs are never created, and nothing says so",
                    help="name the role that must come first",
                )


def waits_for_endless_role(job: Job) -> Findings:
    for role in job.roles:
        for wait in waits(role) if "dependsOn" in role.tree else ():
            if wait.status == "Complete" and wait.on is not role and never_ends(wait.on):
                yield WAITS.at(
                    job.at(wait.path),
                    f"`{role.name}` starts once `{wait.on.name}` has ended, but that never ends",
                    also=[Label(job.at(wait.on.path), "never ends by itself")],
                    effect=f"`{role.name}` never starts",
                    help="wait for it with `status: Ready`",
                )


def success_waits_for_endless_role(job: Job) -> Findings:
    policy = table(job.spec, "successPolicy")
    if text(policy, "operator") == "Any" or len(job.roles) < 2:
        return
    if "targetReplicatedJobs" not in policy and job.bundle.document.kind not in ("JobSet", "TrainJob"):
        return  # which role decides is written once the numbers of pods are known
    endless = [role for role in job.roles if counts(role) and never_ends(role)]
    others = [role for role in job.roles if role not in endless]
    if endless and others:
        driver = others[-1].name
        yield SUCCESS.at(
            job.at(("spec", "successPolicy") if policy else ("spec",), key=True),
            f"the job waits for `{endless[0].name}` to end, which it never does",
            also=[Label(job.at(endless[0].path), "never ends by itself")],
            effect="the job stays running after the training, and holds what it holds",
            help=f"add `targetReplicatedJobs: [{driver}]` to `successPolicy`",
        )


def ttl_on_child_job(job: Job) -> Findings:
    for role in job.roles:
        # A finished Job that is deleted is made again only while the JobSet waits for another one.
        if "ttlSecondsAfterFinished" in role.spec and (len(job.roles) > 1 or role.replicas != 1):
            yield TTL_CHILD.at(
                job.at((*role.spec_path, "ttlSecondsAfterFinished"), key=True),
                f"the Jobs of `{role.name}` delete themselves when they have finished",
                effect="while other Jobs still run, JobSet makes a deleted one again, and its work is done twice",
                help="set `ttlSecondsAfterFinished` on the JobSet instead",
            )


def self_deleting_job(job: Job) -> Findings:
    if "ttlSecondsAfterFinished" in job.spec:
        yield from self_deleting(job)


def self_deleting(job: Job, *, level: str = "") -> Findings:
    """Say that a job deletes itself; certain to train again where a GitOps tool is known to apply it."""
    yield TTL_GITOPS.at(
        job.at(("spec", "ttlSecondsAfterFinished"), key=True),
        "the job deletes itself when it has finished, but Git still has it",
        effect="a GitOps controller applies it again, and the training runs a second time",
        help="remove it, and delete finished jobs from Git",
        level=level,
    )


def deadline_on_queue(job: Job) -> Findings:
    if KUEUE_QUEUE not in table(job.metadata, "labels"):
        return
    for role in job.roles:
        if type(role.spec.get("activeDeadlineSeconds")) is Sourced:
            yield DEADLINE.at(
                job.at((*role.spec_path, "activeDeadlineSeconds"), key=True),
                "the deadline counts from the start of each Job, and anew after each restart and admission",
                help="the label `kueue.x-k8s.io/max-exec-time-seconds` bounds the time that the queue grants",
            )


def deadline_passes_at_once(job: Job) -> Findings:
    if job.bundle.document.kind not in ("JobSet", "TrainJob"):
        return  # the other kinds have deadlines of their own, which are judged where they are read
    for role in job.roles:
        written = value(role.spec, "activeDeadlineSeconds")
        if type(written) is not int or written < 0:
            continue
        counted = (written * _SECOND + _HALF) % (2 * _HALF) - _HALF
        if counted == written * _SECOND and written:
            continue
        over = "overflows" if written else "is over at once"
        yield AT_ONCE.at(
            job.at((*role.spec_path, "activeDeadlineSeconds")),
            f"the deadline of {written} seconds {over}",
            level=ERROR if counted <= 0 else WARNING,
            effect="each Job fails with DeadlineExceeded before it makes a pod"
            if counted <= 0
            else f"each Job fails after {counted // _SECOND} seconds",
            help="remove it, or write the seconds that the Job may take",
        )


_SECOND, _HALF = 10**9, 2**63  # nanoseconds are counted in 64 bits with a sign


CHECKS = (
    depends_on_itself,
    waits_for_endless_role,
    success_waits_for_endless_role,
    ttl_on_child_job,
    self_deleting_job,
    deadline_passes_at_once,
    deadline_on_queue,
)
