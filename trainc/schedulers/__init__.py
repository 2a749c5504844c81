"""The back ends that place pods together, one module each, and which of them a job gets.

A plan and a cluster come in; patches and objects go out: groups, queues, labels. None decides whether a job fits.
"""

import sys

from trainc.model.cluster import Cluster
from trainc.model.finding import ERROR, Rule, place
from trainc.model.patches import Contribution, Scheduler
from trainc.model.plan import Plan
from trainc.model.report import Report
from trainc.schedulers.gang import UNKNOWN_SIZE, uncounted
from trainc.text.plugins import SCHEDULERS, installed
from trainc.text.spelling import meant

TABLE = ("none", "coscheduling", "volcano", "native", "kueue")  # a module each
UNCOUNTED = ("none", "kueue")  # what these add says nothing about numbers of pods
# The fields of a runtime's podGroupPolicy. The Trainer controller obeys both when both are set.
POLICIES = ("coscheduling", "volcano")

UNKNOWN_SCHEDULER = Rule("unknown-scheduler", ERROR)


def find(name: str) -> Scheduler | None:
    """The back end of that name: one of ours, else one that an installed package offers; None where nobody has it."""
    if name not in TABLE:
        return installed(SCHEDULERS, name, Scheduler)
    module = f"{__name__}.{name}"
    if module not in sys.modules:
        __import__(module)
    back_end: Scheduler = sys.modules[module].SCHEDULER
    return back_end


def chosen(plan: Plan, cluster: Cluster) -> tuple[str, ...]:
    """The names of the back ends of one job: the cluster's choice, else what its runtime's policy selects.

    None for pods that need not run together, whatever the cluster chose.
    """
    if type(plan.gang) is dict and "none" in plan.gang:
        return ()
    return _policies(plan) if cluster.scheduler is None else (cluster.scheduler.value,)


def contribute(plan: Plan, cluster: Cluster, report: Report) -> Contribution:
    """What the back ends of a job add to it, each leaf knowing which of them set it.

    A cluster's choice counts as schedulers do, and so does the scheduler that a Volcano Job was written for; a
    runtime's `podGroupPolicy` alone is obeyed as the Trainer controller obeys it.
    """
    out = Contribution()
    for name in chosen(plan, cluster):
        from trainc.schedulers.counting import policy  # noqa: PLC0415 (most jobs have no back end)

        if (back_end := find(name)) is None:
            assert cluster.scheduler is not None
            at = place(cluster.scheduler.origin) or plan.document.span(("metadata", "name"))
            help_ = meant(name, TABLE, f"choose one of {', '.join(f'`{known}`' for known in TABLE)}")
            report.add(UNKNOWN_SCHEDULER.at(at, f"unknown scheduler back end `{name}`", help=help_))
        elif name not in UNCOUNTED and (unknown := uncounted(plan.roles)) is not None:
            role, leaf = unknown
            at = place(leaf.origin) or plan.document.span(("metadata", "name"))
            help_ = f"write the number: `{name}` needs the number of pods of the group and their requests"
            report.add_or_skip(UNKNOWN_SIZE.at(at, f"the number of pods of `{role.name.value}` is unknown", help=help_))
        elif cluster.scheduler is None and back_end.policy is not None and not policy(plan):
            out += back_end.policy(plan).attach_origin(name)
        else:
            if back_end.verify is not None:
                back_end.verify(plan, cluster, report)
            out += back_end.gang(plan, cluster).attach_origin(name)
    return out


def refuse(plan: Plan, cluster: Cluster, report: Report) -> None:
    """The TrainJob webhook's refusals for the policies that the runtime selects."""
    for name in _policies(plan):
        if (back_end := find(name)) is not None and back_end.refuse is not None:
            back_end.refuse(plan, cluster, report)


def _policies(plan: Plan) -> tuple[str, ...]:
    return tuple([name for name in POLICIES if type(plan.gang) is dict and type(plan.gang.get(name)) is dict])
