"""Whether a role has a name and pods, and all that must meet at once."""

from __future__ import annotations

from trainc.lint.facts.values import text
from trainc.lint.facts.world import collective
from trainc.model.finding import ERROR, Label, Rule
from trainc.schedulers.gang import NO_PODS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from trainc.lint.facts.job import Findings, Job

UNEQUAL = Rule("pods-not-all-at-once", ERROR)
ROLE = Rule("role-name-empty", ERROR)


def role_name_empty(job: Job) -> Findings:
    for role in job.roles:
        if not role.name and not text(role.tree, "name"):
            yield ROLE.at(
                job.at(role.path), "a role has no name", effect="nothing can refer to it", help="name it, e.g. `worker`"
            )


def no_pods(job: Job) -> Findings:
    for role in job.roles:
        for number, path in (
            (role.replicas, (*role.path, "replicas")),
            (role.width, (*role.spec_path, "parallelism")),
            (role.size, (*role.spec_path, "completions")),
        ):
            if type(number) is int and number == 0:
                yield NO_PODS.at(
                    job.at(path),
                    f"`{role.name}` has no pods",
                    effect="nothing runs, and a role that waits for it, or counts on it, never goes on",
                    help="ask for at least 1, or remove the role",
                )
                break


def pods_not_all_at_once(job: Job) -> Findings:
    for role in job.roles:
        width, size = role.width, role.size
        if type(width) is not int or type(size) is not int or not 0 < width < size or not role.indexed:
            continue
        if collective(role):
            yield UNEQUAL.at(
                job.at((*role.spec_path, "completions")),
                f"a Job of `{role.name}` has {size} pods but runs only {width} at once",
                also=[Label(job.at((*role.spec_path, "parallelism")), f"{width} at once")],
                effect=f"the first {width} wait for the other {size - width}, which start only when the first have ended",
                help=f"use `parallelism: {size}`",
            )


CHECKS = (role_name_empty, no_pods, pods_not_all_at_once)
