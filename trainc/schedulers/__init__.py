"""The back ends that place pods together, one module each, and which of them a job gets.

A plan and a cluster come in; patches and objects go out: groups, queues, labels. None decides whether a job fits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, Rule, place
from trainc.model.patches import Contribution, Scheduler
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.model.sourced import Sourced
from trainc.schedulers.gang import UNKNOWN_SIZE, uncounted
from trainc.text.plugins import SCHEDULERS, installed
from trainc.text.spelling import meant

TABLE = {
    "none": "trainc.schedulers.none",
    "coscheduling": "trainc.schedulers.coscheduling",
    "volcano": "trainc.schedulers.volcano",
    "native": "trainc.schedulers.native",
    "kueue": "trainc.schedulers.kueue",
}
UNCOUNTED = ("none", "kueue")  # what these add says nothing about numbers of pods
# The fields of a runtime's podGroupPolicy. The Trainer controller obeys both when both are set.
POLICIES = ("coscheduling", "volcano")

UNKNOWN_SCHEDULER = Rule("unknown-scheduler", ERROR)


def find(name: str) -> Scheduler | None:
    """The back end of that name: one of ours, else one that an installed package offers; None where nobody has it."""
    if (module := TABLE.get(name)) is None:
        return installed(SCHEDULERS, name, Scheduler)
    if module not in sys.modules:
        __import__(module)
    chosen: Scheduler = sys.modules[module].SCHEDULER
    return chosen


def chosen(plan: Plan, cluster: Cluster) -> tuple[str, ...]:
    """The names of the back ends of one job: the cluster's choice, else what its runtime's policy selects.

    None for pods that need not run together, whatever the cluster chose.
    """
    if type(plan.gang) is dict and "none" in plan.gang:
        return ()
    if cluster.scheduler is not None:
        return (cluster.scheduler.value,)
    if type(plan.gang) is not dict:
        return ()
    return tuple([name for name in POLICIES if type(plan.gang.get(name)) is dict])


_NOTHING = Contribution()


def contribute(plan: Plan, cluster: Cluster, report: Report) -> Contribution:
    """What the back ends of a job add to it, each leaf knowing which of them set it.

    A cluster's choice counts as schedulers do, and so does the scheduler that a Volcano Job was written for; a
    runtime's `podGroupPolicy` alone is obeyed as the Trainer controller obeys it.
    """
    out = _NOTHING
    for name in chosen(plan, cluster):
        from trainc.schedulers.counting import policy  # noqa: PLC0415 (most jobs have no back end)

        if (back_end := find(name)) is None:
            assert cluster.scheduler is not None
            _unknown(plan, cluster.scheduler, report)
        elif name not in UNCOUNTED and _unknown_size(plan, name, report):
            continue
        elif cluster.scheduler is None and back_end.policy is not None and not policy(plan):
            out += back_end.policy(plan).attach_origin(name)
        else:
            if back_end.verify is not None:
                back_end.verify(plan, cluster, report)
            out += back_end.gang(plan, cluster).attach_origin(name)
    return out


def _unknown_size(plan: Plan, name: str, report: Report) -> bool:
    if (uncounted_roles := uncounted(plan.roles)) is not None:
        role, leaf = uncounted_roles
        at = place(leaf.origin) or plan.document.span(("metadata", "name"))
        help_ = f"write the number: `{name}` needs the number of pods of the group and their requests"
        report.add_or_skip(UNKNOWN_SIZE.at(at, f"the number of pods of `{role.name.value}` is unknown", help=help_))
    return uncounted_roles is not None


def refuse(plan: Plan, cluster: Cluster, report: Report) -> None:
    """The TrainJob webhook's refusals for the policies that the runtime selects."""
    for judge in judges(plan):
        judge(plan, cluster, report)


def judges(plan: Plan) -> list[Callable[[Plan, Cluster, Report], None]]:
    """What the policies that the runtime selects say of a job before it is let in; most say nothing."""
    if type(plan.gang) is not dict:
        return []
    back_ends = [find(name) for name in POLICIES if type(plan.gang.get(name)) is dict]
    return [back_end.refuse for back_end in back_ends if back_end is not None and back_end.refuse is not None]


def _unknown(plan: Plan, name: Sourced[str], report: Report) -> None:
    at = place(name.origin) or plan.document.span(("metadata", "name"))
    help_ = meant(name.value, TABLE, f"choose one of {', '.join(f'`{known}`' for known in TABLE)}")
    report.add(UNKNOWN_SCHEDULER.at(at, f"unknown scheduler back end `{name.value}`", help=help_))
