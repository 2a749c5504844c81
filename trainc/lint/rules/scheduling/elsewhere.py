"""Rules about schedulers for which trainc writes no group: whether anything reads the labels that are meant for them."""

from trainc.lint.facts.job import Findings, Job
from trainc.lint.facts.values import table
from trainc.model.finding import WARNING, Rule
from trainc.model.tree import value
from trainc.text.placeholders import is_placeholder

UNREAD = Rule("scheduler-label-unread", WARNING)
_KAI, _KAI_SCHEDULER = "kai.scheduler/queue", "kai-scheduler"
# YuniKorn's label or annotation of an application, by its older and its present name; both stand on pods.
_YUNIKORN = ("applicationId", "yunikorn.apache.org/app-id", "yunikorn.apache.org/task-groups")


def labels_of_other_schedulers(job: Job) -> Findings:
    """Labels for KAI that its pods do not ask for, and those for YuniKorn that stand on no pod."""
    yield from _kai(job)
    yield from _yunikorn(job)


def _kai(job: Job) -> Findings:
    wanted = [value(role.pod, "schedulerName") for role in job.roles]
    if any(name == _KAI_SCHEDULER or is_placeholder(name) for name in wanted):
        return
    written = table(job.bundle.document.tree, "metadata")
    tied = next((role for role in job.roles if _KAI in table(role.metadata, "labels")), None)
    if _KAI in table(written, "labels"):
        place = job.bundle.document.span(("metadata", "labels", _KAI))
    elif _KAI in table(job.metadata, "labels"):
        place = job.at(("metadata", "labels", _KAI))
    elif tied is not None:
        place = tied.at("template", "spec", "template", "metadata", "labels", _KAI)
    else:
        place = None
    if place is not None:
        yield UNREAD.at(
            place,
            f"no pod of the job asks for the scheduler `{_KAI_SCHEDULER}`, which reads `{_KAI}`",
            effect="kube-scheduler places the pods one by one, outside the queue",
            help=f"set `schedulerName: {_KAI_SCHEDULER}` in the pod templates",
        )


def _yunikorn(job: Job) -> Findings:
    written = table(job.bundle.document.tree, "metadata")
    for section in ("labels", "annotations"):
        for key in _YUNIKORN:
            if any(key in table(role.metadata, section) for role in job.roles):
                continue
            if key in table(written, section):
                place = job.bundle.document.span(("metadata", section, key))
            elif key in table(job.metadata, section):
                place = job.at(("metadata", section, key))
            else:
                continue
            yield UNREAD.at(
                place,
                f"YuniKorn reads `{key}` from pods, and no pod of the job has it",
                effect="the application that is named has no pods: its queue and task groups do not count",
                help="move it to the metadata of the pod templates",
            )
